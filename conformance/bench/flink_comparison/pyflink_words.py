"""The aggregation of words on PyFlink's DataStream API, with keyed state in Python.

Like `WordsDriver`, it reads an order from each line of its input, and answers each. It runs in an environment
with PyFlink and without this project. Source and sink are those of the Java job.
"""

import io
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from pyflink.datastream.connectors.base import Sink, Source
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.java_gateway import get_gateway


class Totals(KeyedProcessFunction):
    """Counts the rows of each word and sums their values. It yields an update for each row."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the state."""
        totals = Types.TUPLE([Types.LONG(), Types.LONG()])
        self._totals = runtime_context.get_state(ValueStateDescriptor("totals", totals))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:  # noqa: ANN401 - classes of PyFlink
        """Yield the update after a row."""
        del ctx
        count, total = self._totals.value() or (0, 0)
        count, total = count + 1, total + value[1]
        self._totals.update((count, total))
        yield value[0], count, total


def run(order: dict[str, Any]) -> None:
    """Run the job of an order to its end."""
    settings = Configuration()
    for key, value in order["settings"].items():
        settings.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    parts = order["parts"]
    env.set_parallelism(parts)
    java = get_gateway().jvm.barrierspec.words
    rows = getattr(java, "Rows$OfStream")()
    rate = float(order["rows_per_second"])
    source = java.WordSource(order["source"], parts, rate, order["begun"], rows)
    row = Types.TUPLE([Types.STRING(), Types.LONG()])
    update = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    words = env.from_source(Source(source), WatermarkStrategy.no_watermarks(), "words", row)
    totals = words.key_by(lambda row: row[0], Types.STRING()).process(Totals(), update)
    totals.sink_to(Sink(java.NewestUpdates(order["output"], getattr(java, "Totals$OfTuple")())))
    env.execute("words")


def main() -> None:
    """Answer orders until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of Flink must not mix with the answers
    for line in io.TextIOWrapper(io.FileIO(0)):
        order = json.loads(line)
        began = time.perf_counter()
        try:
            if "api" in order:
                run(order)
            answer: dict[str, Any] = {"seconds": time.perf_counter() - began}
        except Exception as failed:  # noqa: BLE001 - the parent raises it as MeasurementError
            traceback.print_exc(file=sys.stderr)
            answer = {"failed": f"{type(failed).__name__}: {failed}"[:500]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
