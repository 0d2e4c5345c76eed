"""Jobs over the other sources on real Spark: the same count from each, also after a worker was lost."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle

from impl.config import CheckpointConfig
from impl.connectors import read_committed
from impl.faults import SNAPSHOT_WRITTEN, FaultPlan
from impl.job import Job, JsonLinesInput, ParquetInput, ParquetOutput, RateInput

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS = 6_000
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
    return RateInput(ROWS, rows, rows_per_second=6_000)


def parquet(folder):
    pq.write_table(pa.table({"value": range(ROWS)}), folder / "in.parquet")
    return ParquetInput(folder / "in.parquet", rows, rows_per_second=6_000)


def json_lines(folder):
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps({"value": number}) + "\n" for number in range(ROWS)))
    return JsonLinesInput(path, pa.schema({"value": pa.int64()}), rows, rows_per_second=6_000)


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("source", [rate, parquet, json_lines])
def test_every_row_is_counted_once_although_a_source_fails(source, spark, tmp_path):
    job = (
        Job("counts")
        .source("in", source(tmp_path), parallelism=2)
        .key_by(lambda row: row[0])
        .aggregate("count", Count(), parallelism=2)
        .sink("out", ParquetOutput(tmp_path / "committed", SCHEMA))
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
    )
    result = job.execute(
        "local[8]", tmp_path / "run", faults=[FaultPlan(SNAPSHOT_WRITTEN, "in-1", occurrence=3)], spark=spark
    )

    committed = read_committed(tmp_path / "committed")
    counts = sorted(zip(*(committed.column(name).to_pylist() for name in ("key", "count")), strict=True))
    assert len(result.attempts) == 2
    assert counts == [(key, count) for key in range(10) for count in range(1, ROWS // 10 + 1)]
