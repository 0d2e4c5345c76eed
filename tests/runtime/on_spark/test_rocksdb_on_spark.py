"""Keyed state in RocksDB on Spark: exact after a worker is killed, and no file is left."""

import pytest

from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.config import ROCKSDB, CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.jobs.numbers import KEYS, numbers_job
from impl.state import CheckpointStorage

ROWS = 6_000


@pytest.mark.rule("ONCE-03")
@pytest.mark.rule("SUB-12")
def test_counts_in_rocksdb_are_exact_although_a_worker_is_killed(spark, tmp_path):
    job = (
        numbers_job(ROWS, tmp_path / "committed", 4_000.0)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
        .with_execution(ExecutionConfig(state_backend=ROCKSDB, heartbeat_timeout_ms=60_000))
    )
    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "count-1", occurrence=3)
    result = job.execute("local[8]", tmp_path, faults=[fault], event_log=True, spark=spark)
    trace = validate(tmp_path / "events")

    committed = read_committed(tmp_path / "committed")
    columns = (committed.column(name).to_pylist() for name in ("key", "number", "count"))
    exact = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))
    assert sorted(zip(*columns, strict=True)) == exact
    assert len(result.attempts) == 2
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
    storage = CheckpointStorage(tmp_path / "checkpoints")
    retained = [storage.load(one) for one in storage.completed_ids()]
    kept = {one.file for there in retained for handle in there.handles.values() for one in handle.shared}
    assert kept == {f"shared/{path.name}" for path in (tmp_path / "checkpoints" / "shared").iterdir()}
    assert list((tmp_path / "checkpoints" / "working").iterdir()) == []
