"""Savepoints of a running job on Spark: taken, used to stop, and used to start, always with exact output."""

import shutil
import sqlite3
import sys
import threading
from contextlib import closing

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance import cli
from conformance.observe.validate import validate
from impl.config import MEMORY, ROCKSDB, CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.graph.rescaling import IN_FLIGHT, RestoreRefusedError
from impl.job import Job, ParquetOutput, RateInput, SqliteOutput
from impl.savepoints import SavepointRequest, request_savepoint
from impl.spark.errors import JobFailedError, SavepointFailedError
from impl.state import SavepointFolder
from tests.waiting import until

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS, KEYS = 8_000, 40
SCHEMA = pa.schema({"key": pa.int64(), "number": pa.int64(), "count": pa.int64()})
EXACT = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))
LAST = [(key, -1, ROWS // KEYS) for key in range(KEYS)]


def to_rows(batch, split, offset):
    return [(number % KEYS, number) for number in batch.column(0).to_pylist()]


class Counts:
    """Emits each number with the count of its key, and at the end of the data each key with its count."""

    def open(self, state):
        self.counts = state.value_state("counts", immutable=True)

    def process_element(self, key, row):
        count = self.counts.get(key, 0) + 1
        self.counts.put(key, count)
        return [(*row, count)]

    def finish(self):
        return [(key, -1, count) for key, count in self.counts.items()]


def counts(folder, counters=2, sinks=1, rate=2_000.0, backend=MEMORY, table=False, **checkpoints):
    settings = CheckpointConfig(**{"checkpointing_interval_ms": 100, **checkpoints})
    database = SqliteOutput(folder / "committed.db", "counts", SCHEMA)
    output = database if table else ParquetOutput(folder / "committed", SCHEMA)
    return (
        Job("counts")
        .source("in", RateInput(ROWS, to_rows, rows_per_second=rate), 2, splits=4)
        .key_by(lambda row: row[0])
        .process("count", Counts(), counters)
        .sink("out", output, sinks)
        .with_checkpoints(settings)
        .with_execution(ExecutionConfig(state_backend=backend, heartbeat_timeout_ms=60_000))
    )


def committed(folder):
    rows = read_committed(folder / "committed")
    return sorted(zip(*(rows.column(name).to_pylist() for name in SCHEMA.names), strict=True))


def committed_in_table(folder):
    with closing(sqlite3.connect(folder / "committed.db")) as session:
        return sorted(session.execute("SELECT key, number, count FROM counts").fetchall())


def seen(folder):
    trace = validate(folder / "events")
    assert trace.rejection is None, trace.describe()
    return trace.situations


@pytest.mark.rule("SUB-05")
@pytest.mark.rule("ONCE-03")
def test_a_job_stops_with_a_savepoint_and_goes_on_elsewhere_rescaled_and_from_an_older_one(
    spark, tmp_path, capsys
):
    """A start from an older savepoint takes back the output committed since, of any run."""
    running = counts(tmp_path).start("local[8]", tmp_path / "run", event_log=True, spark=spark)
    older = running.savepoint(seconds=120)
    assert running.checkpoint(seconds=120) > older.checkpoint
    stopped = running.stop(tmp_path / "kept", seconds=120)
    first = committed(tmp_path)
    assert running.result().stopped_with == stopped
    assert len(first) == running.result().records == len(set(first)) < ROWS
    assert set(first) < set(EXACT)
    assert seen(tmp_path / "run")["savepoint completed"] == 2
    assert cli.run(["checkpoints", str(tmp_path / "run"), "--tasks"]) == 0
    listed = capsys.readouterr().out
    assert cli.run(["checkpoints", str(stopped.folder)]) == 0
    output = capsys.readouterr().out
    shutil.rmtree(tmp_path / "run" / "checkpoints")

    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "count-2", occurrence=3)
    result = counts(tmp_path, 3, 2, rate=6_000.0).execute(
        "local[8]",
        tmp_path / "second",
        from_savepoint=stopped.folder,
        faults=[fault],
        event_log=True,
        spark=spark,
    )
    assert committed(tmp_path) == sorted(EXACT + LAST)
    assert result.attempts[0].restored == stopped.checkpoint
    assert min(one.checkpoint for one in result.checkpoints) > stopped.checkpoint
    assert seen(tmp_path / "second")["restored from a checkpoint"] == len(result.attempts) == 2

    third = counts(tmp_path, 1, 1, rate=None).execute(
        "local[8]", tmp_path / "third", from_savepoint=older.folder, event_log=True, spark=spark
    )
    assert committed(tmp_path) == sorted(EXACT + LAST)
    assert third.attempts[0].first_offset < len(first)
    assert seen(tmp_path / "third")["restored from a checkpoint"] == 1
    assert "continued" in listed
    assert "count-1.1.state" in listed
    assert f"{len(first):,}" in output
    assert "stopped" in output


@pytest.mark.rule("UNAL-21")
@pytest.mark.rule("SINK-07")
def test_where_checkpoints_overtake_a_savepoint_aligns_is_whole_by_itself_and_drains_the_job(spark, tmp_path):
    """The state is in RocksDB, whose checkpoints share files. The output table distinguishes the runs."""
    job = counts(tmp_path, backend=ROCKSDB, table=True, unaligned_checkpoints_enabled=True)
    running = job.start("local[8]", tmp_path / "run", event_log=True, spark=spark)
    until(
        lambda: list(tmp_path.glob("run/checkpoints/chk-*/_metadata")), possible=lambda: not running.has_ended
    )
    taken = request_savepoint(tmp_path / "run", SavepointRequest(), 120)
    drained = request_savepoint(tmp_path / "run", SavepointRequest(stop=True, drain=True), 120)
    running.result(120)
    first = committed_in_table(tmp_path)
    assert drained.stopped
    records = sum(one.offset or 0 for one in SavepointFolder(drained.folder).load().handles.values())
    ended = [row for row in first if row[1] == -1]
    assert sum(count for _, _, count in ended) == len(first) - len(ended) == records < ROWS
    situations = seen(tmp_path / "run")
    assert situations["savepoint completed"] == 2
    assert situations["overtook"] > 0
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    moved = tmp_path / "moved"
    shutil.move(taken.folder, moved)
    savepoint = SavepointFolder(moved)
    handles = savepoint.load().handles
    assert [one for one in handles.values() if IN_FLIGHT in savepoint.open(one)] == []
    assert {one.file.split("/")[0] for handle in handles.values() for one in handle.shared} == {"shared"}
    again = counts(tmp_path, 3, 1, None, ROCKSDB, True, unaligned_checkpoints_enabled=True)
    again.execute("local[8]", tmp_path / "again", from_savepoint=moved, event_log=True, spark=spark)
    assert committed_in_table(tmp_path) == sorted(EXACT + LAST)
    assert seen(tmp_path / "again")["restored from a checkpoint"] == 1
    assert sorted(path.name for path in (moved / "shared").iterdir()) == sorted(
        one.file.split("/")[1] for handle in handles.values() for one in handle.shared
    )


def failed_after_its_savepoint(folder, spark, attempts):
    """A run that fails once, when it has only a savepoint. Returns the run and the savepoint."""
    settings = RestartConfig(attempts=attempts)
    job = counts(folder, table=True, checkpointing_interval_ms=3_600_000).with_restarts(settings)
    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "count-0", occurrence=2)
    some = threading.Event()
    running = job.start(
        "local[8]",
        folder / "run",
        faults=[fault],
        spark=spark,
        on_progress=lambda now: some.set() if now.records > ROWS // 8 else None,
    )
    assert some.wait(120)
    savepoint = running.savepoint(seconds=120)
    with pytest.raises(SavepointFailedError):
        running.savepoint(seconds=120)
    return running, savepoint


@pytest.mark.rule("SINK-06")
def test_a_run_that_failed_behind_its_savepoint_is_gone_on_from_there_and_leaves_nothing(spark, tmp_path):
    running, savepoint = failed_after_its_savepoint(tmp_path, spark, attempts=0)
    with pytest.raises(JobFailedError, match="count-0 is gone"):
        running.result(120)
    assert committed_in_table(tmp_path) == []
    (tmp_path / "committed.db.staging" / "data" / "7-elsewhere-out-0-1").touch()
    result = counts(tmp_path, rate=None, table=True).execute(
        "local[8]", tmp_path / "again", from_savepoint=savepoint.folder, spark=spark
    )
    assert result.attempts[0].restored == savepoint.checkpoint
    assert committed_in_table(tmp_path) == sorted(EXACT + LAST)
    left = sorted(path.name for path in (tmp_path / "committed.db.staging" / "data").iterdir())
    assert left == ["7-elsewhere-out-0-1"]  # the transaction of another job


def test_a_savepoint_whose_transaction_was_swept_is_refused_and_its_job_loses_nothing(spark, tmp_path):
    """The job restored an older checkpoint and wrote the savepoint's pre-committed rows again."""
    running, savepoint = failed_after_its_savepoint(tmp_path, spark, attempts=1)
    assert len(running.result(120).attempts) == 2
    assert committed_in_table(tmp_path) == sorted(EXACT + LAST)
    with pytest.raises(RestoreRefusedError, match="begin from a checkpoint of that job"):
        counts(tmp_path, rate=None, table=True).execute(
            "local[8]", tmp_path / "again", from_savepoint=savepoint.folder, spark=spark
        )
    assert committed_in_table(tmp_path) == sorted(EXACT + LAST)
