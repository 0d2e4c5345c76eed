"""A driver pauses before any of its file and database operations, while another one resumes the job.

Each driver is a thread with the coordination, the storage and a sink of a job, without Spark. The older
driver pauses before its n-th operation. It continues when the newer one has completed three checkpoints, or
when the newer one itself pauses before an operation. A seed determines n. The output must be exact. The
older driver ends with `SupersededError`, unless it had finished the job or drew its first attempt later. No
driver pauses while it holds SQLite's write lock, because all others would wait for it.
"""

import os
import random
import sqlite3
import threading
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql

from impl.config import CheckpointConfig
from impl.connectors import (
    ConnectorError,
    ParquetOutput,
    PostgresOutput,
    SinkContext,
    SqliteOutput,
    TwoPhaseSink,
    read_committed,
)
from impl.graph.plan import Edge, Plan, Role, Stage
from impl.savepoints import SavepointRequests
from impl.spark.channels.messages import CheckpointCompleted
from impl.spark.coordination.checkpoint_publisher import CheckpointPublisher
from impl.spark.coordination.context import JobContext
from impl.spark.coordination.coordination import Coordination
from impl.spark.coordination.output_cleanup import OutputCleanup
from impl.spark.errors import AttemptFailedError
from impl.spark.savepoints.job_savepoints import Savepoints
from impl.spark.worker.sinks import state_in
from impl.state import CheckpointStorage, StateError, SupersededError, encode, origin_of, pack

SCHEMA = pa.schema({"n": pa.int64()})
ROWS, A_CHECKPOINT = 30, 3
CASES = int(os.environ.get("PAUSED_DRIVERS", "8"))
"""For each sink; the variable asks for more."""
FRESH = count()
OPERATIONS = [
    ("os", "link"),
    ("os", "replace"),
    ("pathlib.Path", "iterdir"),
    ("pathlib.Path", "read_bytes"),
    ("pathlib.Path", "mkdir"),
    ("pathlib.Path", "unlink"),
    ("pathlib.Path", "replace"),
    ("sqlite3", "connect"),
    ("psycopg.Connection", "execute"),
]


class Driver(threading.Thread):
    """A driver that executes a job. It stops once, before its operation number `pause`."""

    def __init__(self, folder, output, pause=None):
        super().__init__(daemon=True)
        self.output, self.pause, self.locked = output, pause, False
        self.operations = self.checkpoints = 0
        self.paused, self.go_on, self.ended = threading.Event(), threading.Event(), None
        self.attempt, self.was_superseded = 0, False
        self._folder, self._now, self._sent = folder, 0.0, []

    def run(self):
        try:
            self._job()
            self.ended = "ok"
            self.was_superseded = self.attempt < self._storage.newest_attempt()
        except Exception as failed:  # noqa: BLE001 - the test looks at it
            self.ended = failed
        finally:
            self.paused.set()

    def until_paused(self):
        self.start()
        assert self.paused.wait(60)

    def to_the_end(self):
        self.go_on.set()
        self.join(60)
        assert self.ended is not None
        return self.ended

    def stop(self):
        self.paused.set()
        assert self.go_on.wait(60)

    def _job(self):
        stages = (Stage("in", Role.SOURCE, None), Stage("out", Role.SINK, self.output))
        plan = Plan("job", stages, (Edge("in", "out"),))
        self._storage = CheckpointStorage(self._folder, inline_bytes=1 << 20)
        config = CheckpointConfig(1_000, num_retained_checkpoints=2)
        context = JobContext(plan, config, self._storage, None, lambda: self._now, lambda: 5)
        savepoints = Savepoints(SavepointRequests(), Path(), "", plan, self._storage)
        files = CheckpointPublisher(self._storage, savepoints, plan.max_parallelism)
        self._coordination = Coordination(context, files)
        self._cleanup = OutputCleanup(plan, self._storage, origin_of(self._storage))
        after = None
        for _ in range(4):
            after = self.attempt = self._storage.new_attempt(after)
            try:
                return self._attempt(after)
            except (StateError, ConnectorError, AttemptFailedError) as failed:
                if isinstance(failed, SupersededError) and not str(failed).startswith("committing"):
                    raise
                self._coordination.fail_attempt(str(failed))  # as a sink's failure does
            except Exception:
                self._storage.require_newest("going on", after)  # in the same way as the runtime
                raise
        raise AssertionError("every attempt of the sink has failed")

    def _attempt(self, attempt):
        restored, states = self._coordination.begin_attempt(attempt, lambda *sent: self._sent.append(sent))
        self._cleanup.begin(attempt, restored, states)
        offset = states["in-0"].offset if states else 0
        state = state_in(self._storage.open(states["out-0"])) if states else None
        if state is not None:
            state = replace(state, next_transaction=attempt * 1_000 + 1)
        context = SinkContext("job", self._storage.lineage, "out-0", attempt)
        sink, _ = TwoPhaseSink.restored(self.output.open(context), state)
        try:
            for task in ("in-0", "out-0"):
                self._coordination.running(task)
            while offset < ROWS:
                numbers = list(range(offset, offset + A_CHECKPOINT))
                sink.write(pa.record_batch({"n": pa.array(numbers, pa.int64())}))
                offset += A_CHECKPOINT
                self._checkpoint(sink, attempt, offset)
            self._coordination.finish()
        finally:
            sink.close()

    def _checkpoint(self, sink, attempt, offset):
        self._now += 1.0
        self._coordination.tick()
        checkpoint = self._coordination.pending
        sink.snapshot(checkpoint)
        source = self._storage.write(checkpoint, "in-0", attempt, pack({"at": encode(offset)}), offset=offset)
        packed = pack({"sink": encode(sink.state_of(checkpoint))})
        written = self._storage.write(checkpoint, "out-0", attempt, packed)
        self._coordination.acknowledge("in-0", source)
        self._coordination.acknowledge("out-0", written)
        assert self._sent[-1][1] == CheckpointCompleted(checkpoint)
        sink.notify_complete(checkpoint)
        self.checkpoints += 1
        if self.pause is None and self.checkpoints == 3 and not self.paused.is_set():
            self.stop()


@pytest.fixture
def pausing(monkeypatch):
    """Lets a driver's thread pause before every operation."""
    transaction = SqliteOutput._transaction

    @contextmanager
    def locked(output):
        driver = threading.current_thread()
        with transaction(output) as session:
            driver.locked = True
            try:
                yield session
            finally:
                driver.locked = False

    monkeypatch.setattr(SqliteOutput, "_transaction", locked)
    for owner, name in OPERATIONS:
        module, _, kind = owner.partition(".")
        there = {"os": __import__("os"), "pathlib": Path, "sqlite3": sqlite3, "psycopg": psycopg.Connection}
        monkeypatch.setattr(there[module], name, _counted(getattr(there[module], name)))
        assert kind in ("", "Path", "Connection")


def _counted(operation):
    def counted(*arguments, **options):
        driver = threading.current_thread()
        if isinstance(driver, Driver) and not driver.locked:
            driver.operations += 1
            if driver.operations == driver.pause:
                driver.stop()
        return operation(*arguments, **options)

    return counted


@pytest.fixture(params=["parquet", "sqlite", "postgres"])
def system(request, tmp_path):
    """Makes an empty folder for checkpoints and output. Returns how to read what is committed."""
    server = request.getfixturevalue("postgres") if request.param == "postgres" else None

    def make():
        number = next(FRESH)
        folder = tmp_path / f"{number}"
        output = {
            "parquet": lambda: ParquetOutput(folder / "committed", SCHEMA),
            "sqlite": lambda: SqliteOutput(folder / "out.db", "rows", SCHEMA),
            "postgres": lambda: PostgresOutput(server.conninfo, f"paused{number}", SCHEMA),
        }[request.param]()
        output.prepare()
        return folder / "checkpoints", output

    return make


def committed(output):
    if isinstance(output, ParquetOutput):
        table = read_committed(output.directory)
        return sorted(table.column("n").to_pylist()) if table.num_columns else []
    if isinstance(output, SqliteOutput):
        with closing(sqlite3.connect(output.database)) as session:
            return sorted(n for (n,) in session.execute("SELECT n FROM rows"))
    with psycopg.connect(output.conninfo) as session:
        found = session.execute(sql.SQL("SELECT n FROM {}").format(sql.Identifier(output.table)))
        return sorted(n for (n,) in found.fetchall())


AFTER_THE_LAST_CHECK = 2
"""Operations of a driver that has finished: it changes nothing, and ends ok if it is superseded then."""


def alone(system):
    """The number of operations of a driver that no other driver disturbs."""
    folder, output = system()
    driver = Driver(folder, output, pause=-1)
    driver.start()
    assert driver.to_the_end() == "ok"
    assert committed(output) == list(range(ROWS))
    return driver.operations


@pytest.mark.rule("ONCE-03")
@pytest.mark.rule("ONCE-06")
@pytest.mark.parametrize("both", [False, True], ids=["after three checkpoints", "both paused"])
def test_the_output_is_exact_after_a_pause_before_any_operation(system, pausing, both):
    operations = alone(system)
    for seed in range(CASES):
        draw = random.Random(f"{seed} {both}")
        folder, output = system()
        older = Driver(folder, output, pause=draw.randint(1, operations))
        older.until_paused()
        newer = Driver(folder, output, pause=draw.randint(1, operations // 2) if both else None)
        newer.until_paused()
        ended = older.to_the_end()
        came = seed, older.pause, newer.pause, ended
        has_finished = older.pause > operations - AFTER_THE_LAST_CHECK
        unnoticed = older.was_superseded and not has_finished
        assert isinstance(ended, SupersededError) or (ended == "ok" and not unnoticed), came
        after = newer.to_the_end()
        assert "ok" in (ended, after), (seed, older.pause, newer.pause, ended, after)
        assert after == "ok" or isinstance(after, SupersededError), (seed, newer.pause, after)
        assert committed(output) == list(range(ROWS)), (seed, older.pause, newer.pause)
        last = Driver(folder, output, pause=-1)
        last.start()
        assert last.to_the_end() == "ok"
        assert committed(output) == list(range(ROWS)), (seed, older.pause, newer.pause)


@pytest.mark.rule("ONCE-06")
def test_a_driver_that_is_superseded_at_its_end_notices_it_up_to_its_last_check(system, pausing):
    operations = alone(system)
    ok = []
    for pause in range(operations - 11, operations + 1):
        folder, output = system()
        older = Driver(folder, output, pause=pause)
        older.until_paused()
        newer = Driver(folder, output, pause=None)
        newer.until_paused()
        ended = older.to_the_end()
        assert ended == "ok" or isinstance(ended, SupersededError), (pause, ended)
        if ended == "ok" and older.was_superseded:
            ok.append(operations - pause)
        assert newer.to_the_end() == "ok"
        assert committed(output) == list(range(ROWS)), pause
    assert all(left < AFTER_THE_LAST_CHECK for left in ok), ok
