"""A job with checkpoints in the driver's memory: killed workers restore, and savepoints are files."""

import sys

import pytest
from pyspark import cloudpickle

from conformance import cli
from conformance.verdict import Exit
from impl.config import JOBMANAGER, CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.job import Job, ParquetOutput, RateInput
from impl.jobs.numbers import KEYS, UPDATES, numbers_job
from impl.spark.errors import JobFailedError, SavepointFailedError
from tests.waiting import until

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS = 4_000
EXECUTION = ExecutionConfig(startup_timeout_ms=300_000, heartbeat_timeout_ms=60_000)
CONFIG = {"checkpointing_interval_ms": 100, "checkpoint_storage": JOBMANAGER}


def job_into(folder, rate=2_000.0, **config):
    checkpoints = CheckpointConfig(**(CONFIG | config))
    return numbers_job(ROWS, folder, rate).with_checkpoints(checkpoints).with_execution(EXECUTION)


def require_exact(folder):
    committed = read_committed(folder)
    columns = (committed.column(name).to_pylist() for name in ("key", "number", "count"))
    exact = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))
    assert sorted(zip(*columns, strict=True)) == exact


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("unaligned", [False, True])
def test_killed_workers_restore_from_the_memory_of_the_driver(spark, tmp_path, unaligned, capsys):
    faults = (
        FaultPlan(Point.NOTIFICATION_RECEIVED, "count-1", occurrence=3),
        FaultPlan(Point.SNAPSHOT_WRITTEN, "sink-0", occurrence=5),
        FaultPlan(Point.RESTART, None, 1, "bit-flip"),
    )
    job = job_into(tmp_path / "committed", unaligned_checkpoints_enabled=unaligned)
    result = job.execute("local[8]", tmp_path / "run", spark=spark, faults=faults)
    assert set(result.faults) == set(faults)
    restored = [one.restored for one in result.attempts]
    assert len(restored) == 3
    assert None not in restored[1:]
    assert len(result.refused) == 1  # that of the flipped bit; an older checkpoint was restored
    require_exact(tmp_path / "committed")

    assert not (tmp_path / "run" / "checkpoints").exists()
    assert cli.run(["checkpoints", str(tmp_path / "run")]) == Exit.USAGE
    assert "are in the memory of its driver" in capsys.readouterr().err


class Growing:
    """Each row adds a kilobyte to the state."""

    def open(self, state):
        self.rows = state.list_state("rows", immutable=True)

    def process_element(self, key, row):
        self.rows.add(key, bytes(1_000) + str(row).encode())
        return [(*row, 0, 0)]


def to_rows(batch, split, offset):
    return [(number % KEYS, number) for number in batch.column(0).to_pylist()]


def test_a_state_that_is_too_large_fails_the_job_with_what_to_do(spark, tmp_path):
    job = (
        Job("growing")
        .source("in", RateInput(ROWS, to_rows, 2_000.0))
        .key_by(lambda row: row[0])
        .process("growing", Growing())
        .sink("out", ParquetOutput(tmp_path / "committed", UPDATES))
        .with_checkpoints(CheckpointConfig(**CONFIG))
        .with_execution(EXECUTION)
        .with_restarts(RestartConfig(attempts=1))
    )
    with pytest.raises(
        JobFailedError, match=r"StateTooLargeError.*growing-0.*checkpoint_storage to 'filesystem'"
    ):
        job.execute("local[8]", tmp_path / "run", spark=spark)


@pytest.mark.rule("ONCE-03")
def test_a_savepoint_names_its_folder_and_a_job_in_memory_begins_from_it(spark, tmp_path):
    job = job_into(tmp_path / "committed", rate=500.0)
    running = job.start("local[8]", tmp_path / "run", spark=spark)
    with pytest.raises(SavepointFailedError, match="savepoints have no folder beside them; name a directory"):
        running.savepoint(seconds=300)
    until(lambda: running.has_ended or running.checkpoint(seconds=300) > 3)
    taken = running.stop(tmp_path / "savepoints", seconds=300)
    assert running.result(300).stopped_with == taken

    fault = FaultPlan(Point.COMMITTED, "sink-1", occurrence=2)
    result = job_into(tmp_path / "committed").execute(
        "local[8]", tmp_path / "next", spark=spark, from_savepoint=taken.folder, faults=[fault]
    )
    assert result.attempts[0].restored == taken.checkpoint
    assert len(result.attempts) == 2
    require_exact(tmp_path / "committed")
