"""A job on Spark begins from a retained checkpoint of a failed job, which shares RocksDB files."""

import pytest

from impl.config import CLAIM, NO_CLAIM, ROCKSDB, CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.jobs.numbers import KEYS, numbers_job
from impl.spark.errors import JobFailedError
from impl.state import CheckpointStorage
from impl.state.locations.local_files import WORKING

ROWS = 3_000
EXECUTION = ExecutionConfig(state_backend=ROCKSDB, startup_timeout_ms=300_000, heartbeat_timeout_ms=60_000)


def files(folder):
    """The contents by path, without the workers' folders, which an ending worker may still empty."""
    kept = (path for path in folder.iterdir() if path.name != WORKING)
    below = (path for one in kept for path in (one.rglob("*") if one.is_dir() else [one]))
    return {path: path.read_bytes() for path in below if path.is_file()}


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("mode", [NO_CLAIM, CLAIM])
def test_a_job_begins_from_a_retained_checkpoint_and_is_exact(spark, tmp_path, mode):
    job = (
        numbers_job(ROWS, tmp_path / "committed", 1_000.0)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=200, num_retained_checkpoints=2))
        .with_execution(EXECUTION)
        .with_restarts(RestartConfig(attempts=0))
    )
    fault = FaultPlan(Point.NOTIFICATION_RECEIVED, "count-1", occurrence=3)
    with pytest.raises(JobFailedError, match="count-1 is gone"):
        job.execute("local[8]", tmp_path / "old", faults=[fault], spark=spark)
    old = CheckpointStorage(tmp_path / "old" / "checkpoints")
    before, ids = files(tmp_path / "old" / "checkpoints"), old.completed_ids()
    original = old.load(ids[-1])
    assert all(handle.shared for task, handle in original.handles.items() if task.startswith("count"))

    result = job.execute(
        "local[8]",
        tmp_path / "new",
        spark=spark,
        from_savepoint=tmp_path / "old" / "checkpoints" / f"chk-{ids[-1]}",
        claim_mode=mode,
    )
    assert [one.restored for one in result.attempts] == [ids[-1]]
    committed = read_committed(tmp_path / "committed")
    columns = (committed.column(name).to_pylist() for name in ("key", "number", "count"))
    exact = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))
    assert sorted(zip(*columns, strict=True)) == exact

    new = CheckpointStorage(tmp_path / "new" / "checkpoints")
    assert ids[-1] not in new.completed_ids()  # subsumed
    assert all(new.load(one) for one in new.completed_ids())
    if mode == NO_CLAIM:
        assert files(tmp_path / "old" / "checkpoints") == before
    else:
        assert old.completed_ids() == ids[:-1]
        assert [old.load(one).checkpoint for one in ids[:-1]] == [*ids[:-1]]
        listed = {
            one.file
            for there in ids[:-1]
            for handle in old.load(there).handles.values()
            for one in handle.shared
        }
        gone = {one.file for handle in original.handles.values() for one in handle.shared} - listed
        assert not gone & {f"shared/{name}" for name in old.location.sizes("shared")}
