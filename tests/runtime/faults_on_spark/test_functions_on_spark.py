"""Functions, listeners and timers of users on real Spark."""

import sys

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from impl.config import CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.connectors.sources.rate_source import RateSource
from impl.job import Job, ParquetOutput, RateInput
from impl.spark.errors import JobFailedError

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
PATIENT = ExecutionConfig(heartbeat_timeout_ms=60_000, startup_timeout_ms=300_000)
SCHEMA = pa.schema({"number": pa.int64()})


def numbers(batch, split, offset):
    return [(number,) for number in batch.column(0).to_pylist()]


def numbers_job(source, function, folder):
    return (
        Job("functions")
        .source("numbers", source)
        .process("function", function)
        .sink("out", ParquetOutput(folder / "committed", SCHEMA))
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
        .with_execution(PATIENT)
        .with_restarts(RestartConfig(1))
    )


class Passing:
    """Passes rows on. Fails once, at the first checkpoint that is complete."""

    def __init__(self, failed):
        self.failed = failed

    def process_element(self, key, row):
        return [row]

    def notify_checkpoint_complete(self, checkpoint_id):
        if not self.failed.exists():
            self.failed.touch()
            raise ValueError(f"cannot announce {checkpoint_id}")


def test_an_exception_of_a_listener_fails_the_task_and_the_job_restarts(spark, tmp_path):
    source = RateInput(2_000, numbers, rows_per_second=4_000)
    job = numbers_job(source, Passing(tmp_path / "failed"), tmp_path)
    result = job.execute("local[8]", tmp_path / "run", spark=spark)
    first, second = result.attempts
    assert first.reason.startswith("function-0 failed: ValueError: cannot announce ")
    assert second.restored is not None
    assert sorted(read_committed(tmp_path / "committed").column(0).to_pylist()) == [*range(2_000)]


class DeafSource(RateSource):
    def notify_checkpoint_complete(self):
        """Takes no id."""


class DeafInput(RateInput):
    def open(self, partition, partitions):
        return DeafSource(self.rows, partition=partition, partitions=partitions)


def test_a_source_that_takes_no_id_fails_the_job_without_a_restart(spark, tmp_path):
    job = numbers_job(DeafInput(10, numbers), Passing(tmp_path), tmp_path)
    with pytest.raises(JobFailedError, match=r"ConfigError: DeafSource.notify.*no restart helps"):
        job.execute("local[8]", tmp_path / "run", spark=spark)
