"""The job on PyFlink: lanes of the Java source, state by key in Python, and Flink's FileSink.

The job manager's process starts this file: `pyflink_job.py LANES NUMBER OUTPUT PROGRESS`. `NUMBER` is the
number of lanes. The job runs in an environment with PyFlink and without this project. The cluster's
configuration has all other settings, such as those of checkpoints.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from pyflink.datastream.connectors.base import Source
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.java_gateway import get_gateway


class Counting(KeyedProcessFunction):
    """Counts and sums the records of each key, and yields one row for each record."""

    def __init__(self, progress: str) -> None:
        self._folder = progress

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the state, and the file to which each processed record adds a byte."""
        totals = Types.TUPLE([Types.LONG(), Types.LONG()])
        self._totals = runtime_context.get_state(ValueStateDescriptor("totals", totals))
        own = Path(self._folder) / str(os.getpid())
        self._progress = os.open(own, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def process_element(self, value: str, ctx: Any) -> Iterator[str]:  # noqa: ANN401 - a class of PyFlink
        """The row of a record."""
        del ctx
        lane, position, key, weight = map(int, value.split(","))
        place, total = self._totals.value() or (0, 0)
        place, total = place + 1, total + weight
        self._totals.update((place, total))
        os.write(self._progress, b".")
        yield f"{key},{lane},{position},{place},{total}"


def main(lanes: str, number: str, output: str, progress: str) -> None:
    """Build the job and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    source = Source(get_gateway().jvm.barrierspec.engines.LaneSource(lanes, int(number), "lanes"))
    sink = (
        FileSink.for_row_format(f"file://{output}", Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .build()
    )
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "lanes", Types.STRING())
    rows = records.uid("lanes").key_by(lambda line: int(line.split(",")[2]), Types.INT())
    rows.process(Counting(progress), Types.STRING()).uid("counting").sink_to(sink).uid("sink")
    env.execute("barrierspec")


if __name__ == "__main__":
    main(*sys.argv[1:])
