"""Functions, listeners and timers of users on real Spark."""

import sys
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance.observe.validate import validate
from impl.config import MEMORY, ROCKSDB, CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.connectors.sources.rate_source import RateSource
from impl.faults import FaultPlan, Point
from impl.job import Job, ParquetOutput, RateInput
from impl.spark.errors import JobFailedError

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the module of a test
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
    """Forwards its rows. Fails once, at the first complete checkpoint."""

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


class SourceWithoutId(RateSource):
    def notify_checkpoint_complete(self):
        """Takes no id, although the runtime passes one."""


class InputWithoutId(RateInput):
    def open(self, partition, partitions):
        return SourceWithoutId(self.rows, partition=partition, partitions=partitions)


def test_a_source_that_takes_no_id_fails_the_job_without_a_restart(spark, tmp_path):
    job = numbers_job(InputWithoutId(10, numbers), Passing(tmp_path), tmp_path)
    with pytest.raises(JobFailedError, match=r"ConfigError: SourceWithoutId.notify.*no restart helps"):
        job.execute("local[8]", tmp_path / "run", spark=spark)


KEYS = 20
COUNTED = pa.schema({"key": pa.int64(), "rows": pa.int64(), "by": pa.string()})


class CountedByTimer:
    """Emits, 30 ms after the first row of a key, the number of rows since its last output for the key."""

    def open(self, state):
        self.rows = state.value_state("rows", immutable=True)

    def open_timers(self, timers):
        self.timers = timers

    def process_element(self, key, row):
        rows = self.rows.get(key, 0)
        if rows == 0:
            due = self.timers.current_processing_time() + 30
            self.timers.register_processing_time_timer(key, due)
        self.rows.put(key, rows + 1)
        return ()

    def on_timer(self, key, timestamp):
        rows = self.rows.get(key)
        self.rows.remove(key)
        return [(key, rows, "timer")]

    def finish(self):
        return [(key, rows, "end") for key, rows in self.rows.items()]


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize(("backend", "unaligned"), [(MEMORY, True), (ROCKSDB, False)])
def test_timers_have_their_effects_once_although_a_worker_is_killed(backend, unaligned, spark, tmp_path):
    checkpoints = CheckpointConfig(checkpointing_interval_ms=100, unaligned_checkpoints_enabled=unaligned)
    job = (
        Job("timers")
        .source("numbers", RateInput(6_000, numbers, rows_per_second=4_000), parallelism=2)
        .key_by(lambda row: row[0] % KEYS)
        .process("timers", CountedByTimer(), parallelism=2)
        .sink("out", ParquetOutput(tmp_path / "committed", COUNTED))
        .with_checkpoints(checkpoints)
        .with_execution(replace(PATIENT, state_backend=backend))
    )
    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "timers-1", occurrence=4)
    result = job.execute("local[8]", tmp_path / "run", faults=[fault], event_log=True, spark=spark)

    counted, timers = Counter(), Counter()
    for row in read_committed(tmp_path / "committed").to_pylist():
        counted[row["key"]] += row["rows"]
        timers[row["key"]] += row["by"] == "timer"
    assert counted == dict.fromkeys(range(KEYS), 6_000 // KEYS)
    assert min(timers.values()) > 1
    assert len(result.attempts) == 2
    assert result.attempts[1].restored is not None
    trace = validate(tmp_path / "run" / "events")
    assert trace.rejection is None, trace.describe()


class Sums:
    """Adds up the counts of each key."""

    def open(self, state):
        self.sums = state.value_state("sums", immutable=True)

    def process_element(self, key, row):
        total = self.sums.get(key, 0) + row[1]
        self.sums.put(key, total)
        return [(key, total, row[2])]


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize(("backend", "unaligned"), [(MEMORY, True), (ROCKSDB, False)])
def test_chained_functions_count_every_row_once_although_a_worker_is_killed(
    backend, unaligned, spark, tmp_path
):
    checkpoints = CheckpointConfig(checkpointing_interval_ms=100, unaligned_checkpoints_enabled=unaligned)
    counted = (
        Job("chained")
        .source("numbers", RateInput(6_000, numbers, rows_per_second=4_000), parallelism=2)
        .key_by(lambda row: row[0] % KEYS)
        .process("timers", CountedByTimer(), parallelism=2)
    )
    named = counted.chained().map("name", lambda row: (row[0], row[1], f"by {row[2]}"))
    job = (
        named.chained_by(lambda row: row[0])
        .process("sums", Sums())
        .sink("out", ParquetOutput(tmp_path / "committed", COUNTED))
        .with_checkpoints(checkpoints)
        .with_execution(replace(PATIENT, state_backend=backend))
    )
    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "timers-1", occurrence=4)
    result = job.execute("local[8]", tmp_path / "run", faults=[fault], event_log=True, spark=spark)

    sums = {key: [] for key in range(KEYS)}
    for row in read_committed(tmp_path / "committed").to_pylist():
        sums[row["key"]].append(row["rows"])
    assert {key: max(there) for key, there in sums.items()} == dict.fromkeys(range(KEYS), 6_000 // KEYS)
    assert all(len(set(there)) == len(there) > 2 for there in sums.values())
    assert len(result.attempts) == 2
    assert result.attempts[1].restored is not None
    trace = validate(tmp_path / "run" / "events")
    assert trace.rejection is None, trace.describe()
