"""Jobs with the other sources on Spark: each source gives the same count, also after a worker is lost."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle

from impl.config import CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.job import Job, JsonLinesInput, ParquetInput, ParquetOutput, RateInput

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS = 4_000
SCHEMA = pa.schema({"key": pa.int64(), "count": pa.int64()})


class Count:
    def create_accumulator(self):
        return 0

    def add(self, row, accumulator):
        return accumulator + 1

    def get_result(self, row, accumulator):
        return row[0], accumulator


def rows(batch, partition, offset):
    return [(number % 10,) for number in batch.column(0).to_pylist()]


def rate(folder):
    return RateInput(ROWS, rows, rows_per_second=2_500)


def parquet(folder):
    pq.write_table(pa.table({"value": range(ROWS)}), folder / "in.parquet")
    return ParquetInput(folder / "in.parquet", rows, rows_per_second=2_500)


def json_lines(folder):
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps({"value": number}) + "\n" for number in range(ROWS)))
    return JsonLinesInput(path, pa.schema({"value": pa.int64()}), rows, rows_per_second=2_500)


@pytest.mark.rule("ONCE-03")
def test_every_row_of_every_source_is_counted_once_although_each_of_them_fails(spark, tmp_path):
    """One stream unites three sources. Each source loses its worker, one after the other."""
    job = Job("counts")
    first, second, third = (
        job.source("rate", rate(tmp_path)),
        job.source("parquet", parquet(tmp_path), parallelism=2),
        job.source("json", json_lines(tmp_path), parallelism=2),
    )
    job = (
        first.union(second, third)
        .key_by(lambda row: row[0])
        .aggregate("count", Count(), parallelism=2)
        .sink("out", ParquetOutput(tmp_path / "committed", SCHEMA))
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
        .with_execution(ExecutionConfig(heartbeat_timeout_ms=60_000))  # a loaded machine is late
    )
    faults = tuple(
        FaultPlan(Point.SNAPSHOT_WRITTEN, task, occurrence=occurrence)
        for occurrence, task in enumerate(("parquet-1", "json-1", "rate-0"), 2)
    )
    result = job.execute("local[8]", tmp_path / "run", faults=faults, spark=spark)

    committed = read_committed(tmp_path / "committed")
    counts = sorted(zip(*(committed.column(name).to_pylist() for name in ("key", "count")), strict=True))
    assert (len(result.attempts), result.faults) == (4, faults)
    assert counts == [(key, count) for key in range(10) for count in range(1, 3 * ROWS // 10 + 1)]
