"""Claims of outputs: every sink refuses commits of a superseded attempt, however late they come."""

import pickle
import sqlite3
from contextlib import closing
from itertools import count

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql

from impl.connectors import (
    ConnectorError,
    Manifest,
    ParquetFiles,
    ParquetOutput,
    PostgresOutput,
    SinkContext,
    SqliteOutput,
    TwoPhaseSink,
    list_committed,
    read_committed,
)
from impl.connectors.output_claims import Ancestor, Claim, OutputClaimedError
from impl.connectors.parquet_progress import newest_whole_checkpoint
from impl.state import SupersededError
from impl.state.locations import location_of
from tests.object_clients import LOST, FaultyClient

SCHEMA = pa.schema({"n": pa.int64()})
FRESH = count()
RUN, OTHER, THIRD = "a" * 16, "b" * 16, "c" * 16


class Sqlite(SqliteOutput):
    def seen(self):
        with closing(sqlite3.connect(self.database)) as session:
            return sorted(n for (n,) in session.execute(f"SELECT n FROM {self.table}"))


class Parquet(ParquetOutput):
    def seen(self):
        table = read_committed(self.directory)
        return sorted(table.column("n").to_pylist()) if table.num_columns else []


class Postgres(PostgresOutput):
    def seen(self):
        with psycopg.connect(self.conninfo) as session:
            found = session.execute(sql.SQL("SELECT n FROM {}").format(sql.Identifier(self.table)))
            return sorted(n for (n,) in found.fetchall())


@pytest.fixture(params=["parquet", "objects", "sqlite", "postgres"])
def output(request, tmp_path):
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        with psycopg.connect(server.conninfo, autocommit=True) as session:
            for (gid,) in session.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
                session.execute(sql.SQL("ROLLBACK PREPARED {}").format(sql.Literal(gid)))
            session.execute("DROP TABLE IF EXISTS barrierspec_commits, barrierspec_claims")
        made = Postgres(server.conninfo, f"claimed{next(FRESH)}", SCHEMA)
    elif request.param == "sqlite":
        made = Sqlite(tmp_path / "out.db", "counts", SCHEMA)
    elif request.param == "objects":  # an object store that loses every third answer
        made = Parquet(FaultyClient(*[LOST, None, None] * 10_000).files(), SCHEMA)
    else:
        made = Parquet(tmp_path / "out", SCHEMA)
    made.prepare()
    return made


@pytest.fixture(params=["folder", "objects"])
def folder(request, tmp_path):
    objects = FaultyClient(*[LOST, None, None] * 10_000).files()
    made = Parquet(location_of(tmp_path / "out") if request.param == "folder" else objects, SCHEMA)
    made.prepare()
    return made


def begin(output, claim, restored, keep=()):
    """Claims an output for a new attempt, in the same way as its driver."""
    replaced = output.claim(claim)
    output.sweep(claim.lineage, claim.attempt, keep)
    for lineage in replaced:
        output.sweep(lineage, 1 << 62, keep)
        output.retract(lineage, None, claim)
    for one in claim.ancestors:
        output.sweep(one.lineage, 1 << 62, keep)
        output.retract(one.lineage, restored, claim)
    output.retract(claim.lineage, restored, claim)


def opened(output, attempt, state=None, lineage=RUN):
    context = SinkContext("job", lineage, "sink-0", attempt)
    return TwoPhaseSink.restored(output.open(context), state)[0]


def claim(attempt, starts=None, lineage=RUN, ancestors=()):
    return Claim("job", lineage, attempt, starts or {}, ancestors)


def write(sink, checkpoint, *numbers):
    sink.write(pa.record_batch({"n": pa.array(numbers, pa.int64())}))
    sink.snapshot(checkpoint)
    return pickle.loads(pickle.dumps(sink.state_of(checkpoint)))


@pytest.mark.rule("ONCE-06")
def test_a_sink_that_was_frozen_before_its_commit_does_not_commit_what_was_taken_back(output):
    begin(output, claim(1, {1: None}), None)
    old = opened(output, 1)
    state = write(old, 1, 1)
    old.notify_complete(1)
    write(old, 2, 2)  # checkpoint 2 completes; its notification is on the way
    begin(output, claim(2, {1: None, 2: 1}), 1, state.names)  # checkpoint 2 was damaged
    with pytest.raises((SupersededError, ConnectorError)):
        old.notify_complete(2)
    new = opened(output, 2, state)
    write(new, 3, 2)
    new.notify_complete(3)
    assert output.seen() == [1, 2]


@pytest.mark.rule("ONCE-06")
def test_a_restored_sink_commits_its_pre_committed_data_once(output):
    begin(output, claim(1, {1: None}), None)
    old = opened(output, 1)
    state = write(old, 1, 1)
    begin(output, claim(2, {1: None, 2: 1}), 1, state.names)
    opened(output, 2, state)
    with pytest.raises(SupersededError, match="attempt 2 exists"):
        old.notify_complete(1)
    assert output.seen() == [1]


@pytest.mark.rule("ONCE-06")
def test_a_driver_that_was_frozen_before_it_cleaned_an_output_takes_nothing_back(output):
    begin(output, claim(1, {1: None}), None)
    write(opened(output, 1), 1, 1)
    paused = claim(2, {1: None, 2: None})
    output.claim(paused)
    begin(output, claim(3, {1: None, 2: None, 3: None}), None)
    new = opened(output, 3)
    write(new, 4, 1)
    new.notify_complete(4)
    output.sweep(RUN, 2)
    if isinstance(output, Parquet):
        assert output.retract(RUN, None, paused) == ()  # the newest claim states what is taken back
    else:
        with pytest.raises(SupersededError, match="attempt 3 exists"):
            output.retract(RUN, None, paused)
    with pytest.raises(SupersededError, match=r"claiming .*: expected attempt 2 to be the newest"):
        output.claim(paused)
    assert output.seen() == [1]


@pytest.mark.rule("ONCE-06")
def test_a_manifest_of_a_sink_paused_between_check_and_link_is_in_no_list(folder, monkeypatch):
    begin(folder, claim(1, {1: None}), None)
    old = opened(folder, 1)
    write(old, 1, 1)
    kind = type(folder.directory)
    publish = kind.publish

    def paused(location, name, data, owner=""):
        if name.startswith("manifests/"):
            monkeypatch.setattr(kind, "publish", publish)
            new = claim(2, {1: None, 2: None})
            folder.claim(new)
            folder.retract(RUN, None, new)
        return publish(location, name, data, owner)

    monkeypatch.setattr(kind, "publish", paused)
    with pytest.raises(SupersededError, match="attempt 2 exists"):
        old.notify_complete(1)
    assert [name[-13:] for name in folder.directory.sizes("manifests")] == ["sink-0-1.json"]
    assert list_committed(folder.directory) == ()


def test_a_second_job_gets_no_output_into_which_another_one_has_committed(output):
    begin(output, claim(1, {1: None}), None)
    first = opened(output, 1)
    write(first, 1, 1)
    first.notify_complete(1)
    with pytest.raises(
        OutputClaimedError, match=r"belongs to another run.*give this run an output of its own"
    ):
        output.claim(claim(1, {1: None}, OTHER))
    write(first, 2, 2)
    first.notify_complete(2)
    assert output.seen() == [1, 2]


def test_of_two_jobs_that_begin_in_one_output_the_later_one_writes(output):
    begin(output, claim(1, {1: None}), None)
    first = opened(output, 1)
    write(first, 1, 1)
    begin(output, claim(1, {1: None}, OTHER), None)
    second = opened(output, 1, lineage=OTHER)
    write(second, 1, 10)
    with pytest.raises(SupersededError, match="give each job an output of its own"):
        first.notify_complete(1)
    second.notify_complete(1)
    assert output.seen() == [10]


def test_two_jobs_name_their_files_differently(folder):
    one, other = opened(folder, 1), opened(folder, 1, lineage=OTHER)
    write(one, 1, 1)
    write(other, 1, 10)
    one.notify_complete(1)
    other.notify_complete(1)
    assert folder.seen() == [1, 10]  # without claims both files exist, and neither overwrites the other
    assert sorted(one.lineage for one in list_committed(folder.directory)) == [RUN, OTHER]


def test_a_run_from_a_savepoint_gets_the_output_of_its_run_and_a_second_one_too(output):
    begin(output, claim(1, {1: None}), None)
    first = opened(output, 1)
    for checkpoint in (1, 2, 3):
        write(first, checkpoint, checkpoint)
        first.notify_complete(checkpoint)
    begun = (Ancestor(RUN, 2),)
    begin(output, claim(3, {3: 2}, OTHER, begun), 2)
    second = opened(output, 3, lineage=OTHER)
    write(second, 3, 30)
    second.notify_complete(3)
    assert output.seen() == [1, 2, 30]
    begin(output, claim(3, {3: 2}, THIRD, begun), 2)
    third = opened(output, 3, lineage=THIRD)
    write(third, 3, 300)
    third.notify_complete(3)
    assert output.seen() == [1, 2, 300]
    with pytest.raises(OutputClaimedError, match="belongs to another run"):
        output.claim(claim(2, {1: None, 2: 3}))


def test_a_job_cannot_start_from_a_savepoint_whose_output_was_taken_back(output):
    begin(output, claim(1, {1: None}), None)
    begin(output, claim(3, {3: 2}, OTHER, (Ancestor(RUN, 2),)), 2)
    with pytest.raises(OutputClaimedError, match="begin from savepoint 2, or use another output"):
        output.claim(claim(4, {4: 5}, THIRD, (Ancestor(RUN, 5),)))


def test_output_without_claims_is_read_continued_and_taken_back(folder):
    old = TwoPhaseSink(ParquetFiles(folder.directory, subtask="sink-0", attempt=1))
    write(old, 1, 1)
    old.notify_complete(1)
    state = write(old, 2, 2)
    assert [one.file for one in list_committed(folder.directory)] == ["sink-0-1.json"]
    write(old, 3, 3)
    old.notify_complete(3)
    begin(folder, claim(2, {1: None, 2: 2}), 2, state.names)
    assert folder.seen() == [1, 2]
    new = opened(folder, 2, state)
    write(new, 4, 3)
    new.notify_complete(4)
    assert folder.seen() == [1, 2, 3]
    assert [*folder.directory.sizes("retracted")] == ["sink-0-3.json"]


def test_a_receipt_older_than_the_lineage_in_manifests_is_read_from_a_snapshot():
    manifest = Manifest.__new__(Manifest)
    manifest.__setstate__(["sink-0", 4, 7, ()])
    assert manifest == Manifest("sink-0", 4, 7, ())
    assert b"lineage" not in manifest.encode()
    assert pickle.loads(pickle.dumps(manifest)) == manifest


def test_progress_of_a_run_that_was_replaced_is_left_out(folder):
    begin(folder, claim(1, {1: None}), None)
    opened(folder, 1).notify_complete(9)
    assert newest_whole_checkpoint(folder.directory) == 9
    begin(folder, claim(1, {1: None}, OTHER), None)
    assert newest_whole_checkpoint(folder.directory) is None
    opened(folder, 1, lineage=OTHER).notify_complete(2)
    assert newest_whole_checkpoint(folder.directory) == 2


def test_a_claim_survives_json_and_an_altered_one_is_refused():
    made = Claim("job", RUN, 3, {1: None, 3: 7}, (Ancestor(OTHER, 4, {1: None}),), (THIRD,))
    assert Claim.decode(made.encode(), "here") == made
    with pytest.raises(ConnectorError, match="here: expected a claim as JSON"):
        Claim.decode("[]", "here")
