"""A job on Spark resumes with more and then with fewer subtasks, and is killed in each run."""

import json
import sys

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance.observe.validate import validate
from impl.config import CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.graph.rescaling import RestoreRefusedError
from impl.job import Job, ParquetOutput, RateInput
from impl.spark.errors import JobFailedError

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS, KEYS = 20_000, 40
SCHEMA = pa.schema({"key": pa.int64(), "count": pa.int64(), "sum": pa.int64()})


def numbers(batch, split, offset):
    return [(number,) for number in batch.column(0).to_pylist()]


class Totals:
    def create_accumulator(self):
        return 0, 0

    def add(self, row, accumulator):
        return accumulator[0] + 1, accumulator[1] + row[0]

    def get_result(self, row, accumulator):
        return (row[0] % KEYS, *accumulator)


def totals(folder, sources, counters, sinks, rate, name="count"):
    return (
        Job("totals")
        .source("in", RateInput(ROWS, numbers, rows_per_second=rate), sources, splits=4)
        .key_by(lambda row: row[0] % KEYS)
        .aggregate(name, Totals(), counters)
        .sink("out", ParquetOutput(folder / "committed", SCHEMA), sinks)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
        .with_execution(ExecutionConfig(heartbeat_timeout_ms=60_000, startup_timeout_ms=300_000))
    )


@pytest.mark.rule("ONCE-03")
def test_a_job_is_rescaled_up_and_down_and_its_output_is_exact(spark, tmp_path):
    """Each run ends between a completion and its notification, so transactions are left."""

    def run(job, *faults, restarts):
        configured = job.with_restarts(RestartConfig(restarts))
        return configured.execute(
            "local[8]", tmp_path / "run", faults=faults, event_log=True, resume=restarts > 0, spark=spark
        )

    fault = FaultPlan(Point.COMPLETION_STORED, occurrence=2, action="error")
    with pytest.raises(JobFailedError, match="completion-stored"):
        run(totals(tmp_path, 2, 2, 3, 1_000), fault, restarts=0)
    killed = FaultPlan(Point.SNAPSHOT_WRITTEN, "count-2", occurrence=2)
    again = FaultPlan(Point.COMPLETION_STORED, occurrence=3, action="error")
    with pytest.raises(JobFailedError, match="completion-stored"):
        run(totals(tmp_path, 3, 3, 1, 1_000), killed, again, restarts=1)
    with pytest.raises(RestoreRefusedError, match="has the state of count"):
        run(totals(tmp_path, 1, 1, 2, None, name="sums"), restarts=1)
    result = run(
        totals(tmp_path, 1, 1, 2, None),
        FaultPlan(Point.SNAPSHOT_WRITTEN, "count-0", occurrence=1),
        restarts=2,
    )
    down = validate(tmp_path / "run" / "events")
    rescaled_up = tmp_path / "run" / "events" / "earlier-2"
    up = validate(rescaled_up)
    for log in rescaled_up.glob("*-out-0.jsonl"):
        command = [
            line for line in map(json.loads, log.read_text().splitlines()) if line.get("kind") != "adopted"
        ]
        log.write_text("".join(json.dumps({**line, "seq": seq}) + "\n" for seq, line in enumerate(command)))
    unadopted = validate(rescaled_up).rejection

    expected = []
    for key in range(KEYS):
        total = 0
        for count, number in enumerate(range(key, ROWS, KEYS), 1):
            total += number
            expected.append((key, count, total))
    committed = [tuple(row.values()) for row in read_committed(tmp_path / "committed").to_pylist()]
    last = {key: total for key, count, total in committed if count == ROWS // KEYS}
    assert last == {key: total for key, count, total in expected if count == ROWS // KEYS}
    assert sorted(row[:2] for row in committed) == sorted(row[:2] for row in expected)
    assert len(result.attempts) == 2
    assert result.records == ROWS
    assert up.rejection is None, up.describe()
    assert unadopted is not None
    assert unadopted.rules[0] == "SINK-06"
    assert down.rejection is None, down.describe()
