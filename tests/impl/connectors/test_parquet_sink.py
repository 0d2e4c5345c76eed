"""The Parquet sink: readers see committed rows only, and each of them once."""

import json
import os
import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.connectors import (
    ConnectorError,
    OutputCorruptError,
    ParquetFiles,
    ParquetOutput,
    SinkConflictError,
    TwoPhaseSink,
    list_committed,
    read_committed,
    sweep,
)
from impl.connectors.manifests import retract
from impl.state import StorageError, durable


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def batch(*numbers):
    return pa.record_batch({"n": pa.array(numbers, pa.int64())})


def opened(out, subtask="sink-0", attempt=1):
    return TwoPhaseSink(ParquetFiles(out, subtask=subtask, attempt=attempt))


def restored(out, subtask, attempt, state):
    return TwoPhaseSink.restored(ParquetFiles(out, subtask=subtask, attempt=attempt), state)


def seen(out):
    table = read_committed(out)
    return table.column("n").to_pylist() if table.num_columns else []


def data_files(out):
    return sorted(path.name for path in (out / "data").iterdir())


@pytest.mark.rule("ONCE-05")
@pytest.mark.rule("SINK-03")
def test_rows_are_visible_when_their_checkpoint_is_complete_and_not_before(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1, 2))
    assert seen(out) == []
    sink.snapshot(4)
    assert data_files(out) == ["1-sink-0-1.parquet"]
    assert seen(out) == []
    sink.write(batch(3))
    sink.notify_complete(4)
    assert seen(out) == [1, 2]
    [manifest] = list_committed(out)
    assert (manifest.subtask, manifest.checkpoint, manifest.rows) == ("sink-0", 4, 2)


@pytest.mark.rule("SINK-04")
def test_committing_twice_is_harmless(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    state = sink.state_of(1)
    sink.notify_complete(1)
    sink.notify_complete(1)
    for attempt in (2, 3):
        restored(out, "sink-0", attempt, state)
    assert seen(out) == [1]


@pytest.mark.rule("SINK-05")
def test_rows_of_an_aborted_checkpoint_come_with_a_later_one(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    sink.notify_abort(1)
    sink.write(batch(2))
    sink.snapshot(2)
    sink.notify_complete(2)
    assert seen(out) == [1, 2]


@pytest.mark.rule("SINK-06")
def test_a_crash_between_pre_commit_and_publication_shows_nothing_until_the_restore(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    state = pickle.loads(pickle.dumps(sink.state_of(1)))
    sink.write(batch(2))
    del sink
    assert seen(out) == []
    again, _ = restored(out, "sink-0", 2, state)
    assert seen(out) == [1]
    again.write(batch(2))
    again.snapshot(2)
    again.notify_complete(2)
    assert seen(out) == [1, 2]


@pytest.mark.rule("SINK-06")
def test_a_restore_removes_the_file_of_the_transaction_that_was_open(out):
    sink = opened(out, "sink-0", 1)
    sink.snapshot(1)
    state = sink.state_of(1)
    for _ in range(3):
        sink.write(batch(*range(40_000)))
    assert data_files(out) == [".1-sink-0-2.parquet.staging"]
    restored(out, "sink-0", 2, state)
    assert data_files(out) == []


@pytest.mark.rule("SINK-07")
def test_a_finished_sink_commits_its_last_rows(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.finish()
    sink.snapshot(1)
    sink.notify_complete(1)
    assert seen(out) == [1]
    assert sink.transactions.open is None


def test_a_transaction_without_rows_has_a_manifest_and_no_file(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch())
    sink.snapshot(1)
    sink.notify_complete(1)
    assert data_files(out) == []
    assert [one.files for one in list_committed(out)] == [()]


def test_readers_can_select_the_rows_after_a_checkpoint(out):
    sink = opened(out, "sink-0", 1)
    for checkpoint in (1, 2, 10):
        sink.write(batch(checkpoint))
        sink.snapshot(checkpoint)
        sink.notify_complete(checkpoint)
    assert read_committed(out, after=1).column("n").to_pylist() == [2, 10]
    assert [(one.checkpoint, one.rows) for one in list_committed(out)] == [(1, 1), (2, 1), (10, 1)]


@pytest.mark.rule("ONCE-06")
def test_a_sweep_removes_unneeded_files_only(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    sink.notify_complete(1)
    sink.write(batch(2))
    sink.snapshot(2)
    pending = sink.state_of(2)
    sink.write(batch(3))
    sink.snapshot(3)
    for _ in range(2):
        sink.write(batch(*range(40_000)))
    now = opened(out, "sink-1", 2)
    now.write(batch(9))
    now.snapshot(4)
    assert sweep(out, attempt=2, keep=pending.names) == (
        "data/.1-sink-0-4.parquet.staging",
        "data/1-sink-0-3.parquet",
    )
    assert data_files(out) == ["1-sink-0-1.parquet", "1-sink-0-2.parquet", "2-sink-1-1.parquet"]


@pytest.mark.parametrize("attempt", [1, 2])
def test_files_of_a_process_killed_during_its_publication_are_swept(out, monkeypatch, attempt):
    """A later attempt may commit a file of an earlier one.

    The name of a temporary file states who has written it.
    """
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    files = ParquetFiles(out, subtask="sink-0", attempt=attempt)
    with monkeypatch.context() as killed:
        killed.setattr(durable, "remove_file", lambda path: False)
        killed.setattr(os, "replace", lambda source, target: None)
        files.commit(sink.state_of(1).receipts[1])
        files.committed(1)
    left = sorted(str(path.relative_to(out)) for path in out.rglob(".*.tmp"))
    assert [name.partition("/")[0] for name in left] == ["manifests", "progress"]
    assert sweep(out, attempt=attempt) == ()
    assert sweep(out, attempt=attempt + 1) == tuple(left)
    assert seen(out) == [1]


@pytest.mark.rule("ONCE-03")
def test_output_beyond_the_restored_checkpoint_is_taken_back(out):
    sink = opened(out, "sink-0", 1)
    other = opened(out, "sink-1", 1)
    states = {}
    for checkpoint in (1, 2):
        sink.write(batch(checkpoint))
        sink.snapshot(checkpoint)
        states[checkpoint] = sink.state_of(checkpoint)
        sink.notify_complete(checkpoint)
    other.write(batch(7))
    other.snapshot(2)
    other.notify_complete(2)
    assert retract(out, 1) == ("sink-0-2.json", "sink-1-2.json")
    again, _ = restored(out, "sink-0", 2, states[1])
    assert seen(out) == [1]
    again.write(batch(2))
    again.snapshot(3)
    again.notify_complete(3)
    assert seen(out) == [1, 2]


def test_other_output_for_a_committed_checkpoint_is_refused(out):
    for attempt, number in ((1, 1), (2, 2)):
        sink = opened(out, "sink-0", attempt)
        sink.write(batch(number))
        sink.snapshot(1)
        if attempt == 1:
            sink.notify_complete(1)
        else:
            with pytest.raises(SinkConflictError, match="has other output for checkpoint 1"):
                sink.notify_complete(1)
    assert seen(out) == [1]


@pytest.mark.parametrize("what", ["data", "manifests"])
def test_altered_output_is_refused(out, what):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1, 2, 3))
    sink.snapshot(1)
    sink.notify_complete(1)
    [path] = list((out / what).iterdir())
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(OutputCorruptError, match="restore it from a backup"):
        read_committed(out)


def test_a_manifest_that_was_rewritten_is_refused(out):
    sink = opened(out, "sink-0", 1)
    sink.snapshot(1)
    sink.notify_complete(1)
    path = out / "manifests" / "sink-0-1.json"
    path.write_text(path.read_text().replace('"transaction":1', '"transaction":2'))
    with pytest.raises(OutputCorruptError, match="expected checksum"):
        list_committed(out)


def test_an_invalid_manifest_is_refused(out):
    opened(out, "sink-0", 1)
    (out / "manifests" / "sink-0-1.json").write_text(json.dumps([]))
    with pytest.raises(OutputCorruptError, match="expected a JSON manifest"):
        list_committed(out)


def test_nothing_is_published_without_its_file(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    (out / "data" / "1-sink-0-1.parquet").unlink()
    with pytest.raises(OutputCorruptError, match="expected the pre-committed file of transaction 1"):
        sink.notify_complete(1)
    assert list_committed(out) == ()


def test_a_full_disk_is_reported(out):
    sink = opened(out, "sink-0", 1)
    (out / "data" / ".1-sink-0-1.parquet.staging").symlink_to("/dev/full")
    sink.write(batch(1))
    with pytest.raises(StorageError, match="No space left on device; free space on that disk"):
        sink.snapshot(1)
    assert seen(out) == []


def test_a_missing_directory_is_reported(out):
    with pytest.raises(OutputCorruptError, match="expected the output of a Parquet sink"):
        read_committed(out)


def test_rows_of_another_schema_are_reported(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.write(pa.record_batch({"m": ["x"]}))
    with pytest.raises(ConnectorError, match="one schema for all rows of a transaction"):
        sink.snapshot(1)


def test_a_closed_sink_leaves_only_pending_transactions(out):
    sink = opened(out, "sink-0", 1)
    sink.write(batch(1))
    sink.snapshot(1)
    for _ in range(2):
        sink.write(batch(*range(40_000)))
    sink.close()
    assert data_files(out) == ["1-sink-0-1.parquet"]


def test_a_manifest_that_is_taken_back_meanwhile_disturbs_no_reader(out):
    sink = opened(out)
    sink.write(batch(1))
    sink.snapshot(1)
    sink.notify_complete(1)
    (out / "manifests" / "sink-1-2.json").symlink_to(out / "retracted")  # deleted after the listing
    assert seen(out) == [1]


@pytest.mark.rule("ONCE-03")
@given(st.lists(st.sampled_from(["write", "snapshot", "complete", "lost", "crash"]), max_size=25))
def test_every_row_is_committed_once_after_any_crash(tmp_path_factory, story):
    out = tmp_path_factory.mktemp("out")
    sink, attempt, position, checkpoint = opened(out, "s", 1), 1, 0, 0
    snapshots = {0: (0, None)}
    completed = 0
    for step in [*story, "snapshot", "complete"]:
        if step == "write":
            sink.write(batch(position))
            position += 1
        elif step == "snapshot":
            checkpoint += 1
            sink.snapshot(checkpoint)
            snapshots[checkpoint] = (position, sink.state_of(checkpoint))
        elif step == "crash":
            attempt += 1
            position, state = snapshots[completed]
            sink, _ = restored(out, "s", attempt, state)
            sweep(out, attempt)
        elif snapshots:
            completed = checkpoint if checkpoint in snapshots else completed
            if step == "complete":
                sink.notify_complete(completed)
        if step == "crash":
            snapshots = {one: held for one, held in snapshots.items() if one <= completed}
        assert seen(out) == list(range(len(seen(out))))
        assert len(seen(out)) <= snapshots[completed][0]
    assert seen(out) == list(range(position))


@pytest.mark.parametrize(
    "kind", [pa.month_day_nano_interval(), pa.struct([]), pa.run_end_encoded(pa.int32(), pa.int8())]
)
def test_a_type_that_parquet_lacks_is_refused_before_the_start(out, kind):
    with pytest.raises(ConnectorError, match=r"column 'x' is .*, for which Parquet has no type"):
        ParquetOutput(out, pa.schema({"n": pa.int64(), "x": kind})).prepare()
    assert not out.exists()
