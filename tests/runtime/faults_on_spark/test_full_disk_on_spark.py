"""A full disk at the start of an attempt or at a line of metrics costs one restart."""

import pytest

from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.jobs.numbers import numbers_job
from impl.metrics import JobMetrics
from impl.spark.errors import JobFailedError
from impl.spark.faults.injector import full_disk
from impl.state import CheckpointStorage

ROWS = 2_000


def on_a_full_disk(monkeypatch, owner, name, times):
    """Makes the disk really full during the first calls of a function."""
    real, calls = getattr(owner, name), iter(range(times))

    def limited(*arguments, **named):
        if next(calls, None) is None:
            return real(*arguments, **named)
        with full_disk():
            return real(*arguments, **named)

    monkeypatch.setattr(owner, name, limited)


def job(folder, restarts=3):
    return (
        numbers_job(ROWS, folder / "committed", 2_000.0)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
        .with_execution(ExecutionConfig(heartbeat_timeout_ms=60_000))  # for a slow machine
        .with_restarts(RestartConfig(restarts))
    )


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (CheckpointStorage, "record_restored"),
        (CheckpointStorage, "publish"),
        (JobMetrics, "completed"),
    ],
)
def test_a_full_disk_costs_a_restart(spark, tmp_path, monkeypatch, owner, name):
    on_a_full_disk(monkeypatch, owner, name, times=1)
    result = job(tmp_path).execute("local[8]", tmp_path, spark=spark, event_log=True)
    assert len(result.attempts) == 2
    assert "fail" in result.attempts[0].reason.lower()
    trace = validate(tmp_path / "events")
    assert trace.verdict is not Verdict.DIVERGES, trace.describe()
    assert sorted(read_committed(tmp_path / "committed").column("number").to_pylist()) == [*range(ROWS)]


def test_a_disk_that_stays_full_fails_the_job_when_no_restart_is_left(spark, tmp_path, monkeypatch):
    on_a_full_disk(monkeypatch, CheckpointStorage, "record_restored", times=10)
    with pytest.raises(JobFailedError, match=r"after 2 restarts: .*the storage failed"):
        job(tmp_path, restarts=2).execute("local[8]", tmp_path, spark=spark)
