"""Rules that hold for every sink and every system behind it: the same histories as in the protocol core.

A test sends each step of a history to a sink and, as events of the wire, to the core alone. Both have to
give the same answers, except for the numbers of transactions. After each step, the rows that a reader sees
in the system behind the sink have to be the rows of the transactions that the core has committed.
"""

import pickle
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from impl.connectors import (
    ParquetOutput,
    PostgresOutput,
    SinkContext,
    SqliteOutput,
    TwoPhaseSink,
    list_committed,
    read_committed,
)
from impl.core import COMPONENTS
from impl.state.locations import location_of
from tests.object_clients import LOST, FaultyClient

SCHEMA = pa.schema({"n": pa.int64(), "word": pa.string()})
FRESH = count()
STRANGER = "f" * 16


def rows(numbers):
    return pa.record_batch({"n": pa.array(numbers, pa.int64()), "word": [f"w{n}" for n in numbers]})


class Parquet:
    def __init__(self, where):
        self.output = ParquetOutput(location_of(where), SCHEMA)

    def seen(self):
        table = read_committed(self.output.directory)
        return table.column("n").to_pylist() if table.num_columns else []

    def left(self):
        there = {f"data/{name}" for name in self.output.directory.sizes("data")}
        scratch = self.output.directory.working()
        there |= {str(path.relative_to(scratch)) for path in scratch.glob("data/*")}
        return there - {name for one in list_committed(self.output.directory) for name in one.names}


def _objects():
    """An object store of this test, which loses every third answer."""
    files = FaultyClient(*[LOST, None, None] * 10_000).files()
    return files.below(f"{next(FRESH)}")


class Sqlite:
    def __init__(self, folder):
        self.output = SqliteOutput(folder / "out.db", "counts", SCHEMA)

    def seen(self):
        with closing(sqlite3.connect(self.output.database)) as database:
            return [n for n, word in database.execute("SELECT n, word FROM counts") if word == f"w{n}"]

    def left(self):
        return {f"data/{path.name}" for path in self.output.staging.glob("data/*")}


class Postgres:
    def __init__(self, server, table):
        self.conninfo = server.conninfo
        self.output = PostgresOutput(server.conninfo, table, SCHEMA)

    def seen(self):
        with psycopg.connect(self.conninfo) as session:
            found = session.execute(
                sql.SQL("SELECT n, word FROM {}").format(sql.Identifier(self.output.table))
            ).fetchall()
        return [n for n, word in found if word == f"w{n}"]

    def left(self):
        with psycopg.connect(self.conninfo) as session:
            found = session.execute("SELECT gid FROM pg_prepared_xacts").fetchall()
        return {name for (name,) in found if self.lineage in name or STRANGER in name}


@pytest.fixture(scope="module", params=["parquet", "objects", "sqlite", "postgres"])
def behind(request, tmp_path_factory):
    """Creates a system behind a sink, and rolls back at the end the transactions still prepared in it."""
    server = request.getfixturevalue("postgres") if request.param == "postgres" else None

    def make():
        folder: Path = tmp_path_factory.mktemp("sink")
        kinds = {
            "parquet": lambda: Parquet(folder / "committed"),
            "objects": lambda: Parquet(_objects()),
            "sqlite": lambda: Sqlite(folder),
        }
        made = Postgres(server, f"t{next(FRESH)}") if server else kinds[request.param]()
        made.lineage = f"{next(FRESH):016x}"
        made.output.prepare()
        return made

    return make


def opened(behind, attempt=1, state=None, lineage=None):
    context = SinkContext("job", lineage or behind.lineage, "sink-0", attempt)
    return TwoPhaseSink.restored(behind.output.open(context), state)


class History:
    """One sink and the core. Transactions of both correspond by the order in which they began."""

    def __init__(self, system):
        self.system, self.core = system, COMPONENTS["sink"]({})
        self.ours = {1: 1}  # transactions of the core, by the sink's number
        self.rows = {}  # by the core's number
        self.numbers, self.attempt, self.checkpoint = count(), 1, 0
        self.completed, self.finished, self.states = None, False, {}
        self.sink, _ = opened(system)

    def apply(self, effects, **event):
        expected = self.core.apply(event)
        came = [effect.wire() for effect in effects]
        for mine, theirs in zip(expected, came, strict=True):
            if mine["kind"] == "begin":
                self.ours[theirs["transaction"]] = mine["transaction"]
            theirs["transaction"] = self.ours[theirs["transaction"]]
        assert [(one["kind"], one["transaction"]) for one in came] == [
            (one["kind"], one["transaction"]) for one in expected
        ]

    def write(self):
        if self.finished:
            return
        numbers = [next(self.numbers) for _ in range(3)]
        self.rows.setdefault(self.core.observe()["open"], []).extend(numbers)
        self.apply(self.sink.write(rows(numbers)), kind="write", value="rows")

    def snapshot(self):
        self.checkpoint += 1
        self.apply(self.sink.snapshot(self.checkpoint), kind="snapshot", checkpoint=self.checkpoint)
        self.states[self.checkpoint] = pickle.dumps(self.sink.state_of(self.checkpoint))

    def complete(self):
        if self.states:
            self.completed = max(self.states)
            effects = self.sink.notify_complete(self.completed)
            self.apply(effects, kind="notify_complete", checkpoint=self.completed)

    def abort(self):
        if self.checkpoint:
            self.apply(
                self.sink.notify_abort(self.checkpoint), kind="notify_abort", checkpoint=self.checkpoint
            )

    def finish(self):
        if not self.finished:
            self.finished = True
            self.apply(self.sink.finish(), kind="finish")

    def crash(self, *, zombie=False):
        dead, was_finished, self.finished = self.sink, self.finished, False
        self.attempt += 1
        self.states = {one: held for one, held in self.states.items() if one <= (self.completed or 0)}
        state = None if self.completed is None else pickle.loads(self.states[self.completed])
        keep = state.names if state else frozenset()
        if not zombie:
            dead.close()
        self.system.output.sweep(self.system.lineage, self.attempt, keep)
        self.system.output.retract(self.system.lineage, self.completed)
        if zombie:  # it continues, and pre-commits data that no job will request
            if not was_finished:
                dead.write(rows([next(self.numbers)]))
            dead.snapshot(self.checkpoint + 1)
            dead.close()
        self.core.apply({"kind": "crash"})
        if state is None:
            assert self.core.observe()["committed"] == []
            self.core, self.ours, self.rows = COMPONENTS["sink"]({}), {1: 1}, {}
            self.checkpoint += 1
            self.sink, _ = opened(self.system, self.attempt)
        else:
            state = replace(state, next_transaction=self.attempt * 1_000)
            self.sink, effects = opened(self.system, self.attempt, state)
            self.apply(effects, kind="restore", checkpoint=self.completed)
        self.system.output.sweep(self.system.lineage, self.attempt, keep)

    def zombie(self):
        self.crash(zombie=True)

    def kept(self):
        return Counter(n for one in self.core.observe()["committed"] for n in self.rows.get(one, ()))


STEPS = st.sampled_from(["write", "snapshot", "complete", "abort", "finish", "crash", "zombie"])


@pytest.mark.rule("SINK-01")
@pytest.mark.rule("SINK-02")
@pytest.mark.rule("SINK-03")
@pytest.mark.rule("SINK-04")
@pytest.mark.rule("SINK-05")
@pytest.mark.rule("SINK-06")
@pytest.mark.rule("SINK-07")
@pytest.mark.rule("SINK-08")
@settings(max_examples=25)
@given(story=st.lists(STEPS, max_size=20))
@example(story=["write", "snapshot", "complete", "write", "snapshot", "crash", "zombie", "write"])
@example(story=["write", "snapshot", "write", "snapshot", "complete", "crash", "finish", "crash"])
def test_visible_rows_are_those_that_the_core_has_committed(behind, story):
    history = History(behind())
    for step in [*story, "snapshot", "complete", "write", "snapshot"]:
        getattr(history, step)()
        assert Counter(history.system.seen()) == history.kept()
    sink, system = history.sink, history.system
    pending = {name for one in sink.transactions.pending for name in sink.receipt_of(one).names}
    sink.close()
    assert system.left() == pending
    system.output.sweep(system.lineage, history.attempt + 1)
    assert system.left() == set()


@pytest.mark.rule("SINK-10")
def test_after_a_failed_commit_the_other_commits_are_still_tried(behind):
    system = behind()
    sink, _ = opened(system)
    for checkpoint in (1, 2, 3):
        sink.write(rows([checkpoint]))
        sink.snapshot(checkpoint)
    second = sink.transactions.pending[1]
    lost = sink.receipt_of(second)
    system.output.sweep(system.lineage, 2, {name for name in system.left() if name not in lost.names})
    with pytest.raises(Exception, match="expected"):
        sink.notify_complete(3)
    assert sorted(system.seen()) == [1, 3]


@pytest.mark.rule("SINK-09")
def test_a_closing_sink_aborts_only_its_open_transaction(behind):
    system = behind()
    sink, _ = opened(system)
    sink.write(rows([1]))
    sink.snapshot(1)
    [filed] = sink.transactions.pending
    names = set(sink.receipt_of(filed).names)
    sink.write(rows(range(70_000)))
    sink.close()
    assert system.left() == names


@pytest.mark.rule("ONCE-06")
def test_a_sweep_removes_only_transactions_of_dead_attempts(behind):
    system = behind()
    states = {}
    for attempt in (1, 2):
        sink, _ = opened(system, attempt)
        sink.write(rows([attempt]))
        sink.snapshot(1)
        states[attempt] = sink.state_of(1)
        sink.close()
    [old], [new] = states[1].names, states[2].names
    if not isinstance(system, Parquet):  # one job owns its directory
        stranger, _ = opened(system, 1, lineage=STRANGER)
        stranger.write(rows([7]))
        stranger.snapshot(1)
        [foreign] = stranger.state_of(1).names
        assert foreign in system.left()
    assert system.output.sweep(system.lineage, 2, {old}) == ()
    assert system.output.sweep(system.lineage, 2) == (old,)
    assert new in system.left()
    if not isinstance(system, Parquet):
        assert foreign in system.left()
        system.output.sweep(STRANGER, 2)
    opened(system, 3, states[2])
    assert system.seen() == [2]


@pytest.mark.rule("SINK-06")
def test_a_missing_transaction_that_a_restore_must_commit_is_reported(behind):
    system = behind()
    sink, _ = opened(system)
    sink.write(rows([1]))
    sink.snapshot(1)
    sink.write(rows([2]))
    sink.snapshot(2)
    names = sink.state_of(2).names
    assert system.output.lost(names) == ()
    sink.notify_complete(1)
    assert system.output.lost(names) == ()
    sink.close()
    swept = system.output.sweep(system.lineage, 2)
    assert system.output.lost(names) == swept
    assert len(swept) == 1


@pytest.mark.rule("ONCE-03")
def test_output_beyond_the_restored_checkpoint_is_taken_back(behind):
    system = behind()
    sink, _ = opened(system)
    states = {}
    for checkpoint in (1, 2, 3):
        sink.write(rows([checkpoint, checkpoint * 10]))
        sink.snapshot(checkpoint)
        states[checkpoint] = sink.state_of(checkpoint)
        sink.notify_complete(checkpoint)
    sink.close()
    assert len(system.output.retract(system.lineage, 1)) == 2
    assert system.output.retract(system.lineage, 1) == ()
    opened(system, 2, states[1])
    assert sorted(system.seen()) == [1, 10]


def test_existing_output_of_a_job_with_this_name_is_detected(behind):
    system = behind()
    assert not system.output.holds_output("job")
    sink, _ = opened(system)
    sink.write(rows([1]))
    sink.snapshot(1)
    assert not system.output.holds_output("job")
    sink.notify_complete(1)
    assert system.output.holds_output("job")


def test_a_transaction_without_rows_leaves_nothing(behind):
    system = behind()
    before = system.left()
    sink, _ = opened(system)
    sink.write(rows([]))
    sink.snapshot(1)
    assert system.left() == before
    sink.notify_complete(1)
    assert system.seen() == []
