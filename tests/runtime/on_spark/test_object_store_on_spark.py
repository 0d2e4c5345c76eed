"""Checkpoints in an object store, of a job on real Spark: resumed after a kill, with state in RocksDB."""

import pytest
from click.testing import CliRunner

from conformance.commands.jobs.checkpoints import command
from conformance.verdict import Exit
from impl.config import ROCKSDB, CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.jobs.numbers import KEYS, numbers_job
from impl.spark.errors import JobFailedError
from impl.state import CheckpointStorage
from impl.state.locations import location_of

ROWS = 3_000
EXECUTION = ExecutionConfig(state_backend=ROCKSDB, startup_timeout_ms=300_000, heartbeat_timeout_ms=60_000)


@pytest.fixture
def place(object_server, spark, monkeypatch):
    """A location in the store, which this process and the workers of Spark find through their environment."""
    for name, value in object_server.environment.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    return object_server.uri("job")


@pytest.mark.rule("ONCE-03")
def test_a_job_that_is_killed_resumes_from_an_object_store_and_is_exact(spark, tmp_path, place):
    job = (
        numbers_job(ROWS, tmp_path / "committed", 1_000.0)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=200))
        .with_execution(EXECUTION)
        .with_restarts(RestartConfig(attempts=0))
    )
    fault = FaultPlan(Point.NOTIFICATION_RECEIVED, "count-1")
    with pytest.raises(JobFailedError, match="count-1 is gone"):
        job.execute("local[8]", tmp_path, faults=[fault], spark=spark, checkpoints=place)
    storage = CheckpointStorage(place)
    killed_after = storage.latest_completed().completed.checkpoint
    result = job.execute("local[8]", tmp_path, resume=True, spark=spark)

    committed = read_committed(tmp_path / "committed")
    columns = (committed.column(name).to_pylist() for name in ("key", "number", "count"))
    exact = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))
    assert sorted(zip(*columns, strict=True)) == exact
    assert [one.restored for one in result.attempts] == [killed_after]
    retained = [storage.load(one) for one in storage.completed_ids()]
    kept = {one.file for there in retained for handle in there.handles.values() for one in handle.shared}
    assert kept == {f"shared/{name}" for name in storage.location.sizes("shared")}
    assert not (tmp_path / "checkpoints").exists()
    assert list(storage.location.working().iterdir()) == []
    listed = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    assert listed.return_value == Exit.CONFORMS, listed.output
    assert f"a resumed run starts from checkpoint {result.checkpoints[-1].checkpoint}" in listed.output


def test_the_store_refuses_what_exists_and_what_nobody_made(place):
    files = location_of(place).below("names")
    assert [files.publish("1", b""), files.publish("1", b""), files.reserve("a")] == [True, False, True]
    assert files.read_range("1", 0, 5) == b""
    other = CliRunner().invoke(command, ["s3://no-such-bucket/job"])
    assert other.exit_code == 1
    assert "404 Not Found" in other.output
