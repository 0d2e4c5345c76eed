"""Rows that together exceed the limit of a frame arrive exactly. A single row above it fails the job."""

import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark import cloudpickle

from impl.config import CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.job import Job, ParquetOutput, RateInput
from impl.spark.errors import JobFailedError

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not see the tests

MIB = 1024 * 1024
LENGTHS = pa.schema({"number": pa.int64(), "length": pa.int64()})


def enlarged(batch, size):
    """The numbers of a batch, each with a value of that many bytes."""
    contents = pa.array([b"x" * size] * batch.num_rows, pa.large_binary())
    return pa.RecordBatch.from_arrays([batch.column(0), contents], names=["number", "content"])


def measured(batch):
    """The numbers, each with the length of its value."""
    return pa.RecordBatch.from_arrays(
        [batch.column(0), pc.binary_length(batch.column(1))], names=["number", "length"]
    )


def job(folder, rows, size, overtaking):
    return (
        Job("large")
        .source("numbers", RateInput(rows))
        .map_batches("enlarged", lambda batch: enlarged(batch, size), parallelism=1)
        .rebalance()
        .map_batches("measured", measured, parallelism=2)
        .sink("out", ParquetOutput(folder / "committed", LENGTHS))
        .with_execution(ExecutionConfig(heartbeat_timeout_ms=30_000))  # large copies on a slow machine
        .with_checkpoints(
            CheckpointConfig(checkpointing_interval_ms=100, unaligned_checkpoints_enabled=overtaking)
        )
    )


@pytest.mark.parametrize("overtaking", [False, True])
def test_a_batch_above_the_limit_arrives_exactly(spark, tmp_path, overtaking):
    result = job(tmp_path, 6, 20 * MIB, overtaking).execute("local[8]", tmp_path, spark=spark)
    committed = read_committed(tmp_path / "committed")
    assert len(result.attempts) == 1
    assert sorted(committed.column("number").to_pylist()) == [*range(6)]
    assert set(committed.column("length").to_pylist()) == {20 * MIB}


def test_a_record_above_the_limit_fails_the_job_without_a_restart(spark, tmp_path):
    with pytest.raises(JobFailedError, match=r"enlarged-0 failed: .* at most 67,108,864 bytes, got one"):
        job(tmp_path, 1, 65 * MIB, overtaking=False).execute("local[8]", tmp_path, spark=spark)
    assert not (tmp_path / "checkpoints" / "attempts" / "2").exists()
