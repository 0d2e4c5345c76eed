"""Superseded attempts in the checkpoint folder: each test pauses a driver at one point."""

import pytest

from impl.state import CheckpointStorage, SupersededError, durable, encode
from tests.memory_storage import MemoryStorage

pytestmark = pytest.mark.rule("ONCE-06")


@pytest.fixture(params=["filesystem", "memory"])
def storage(request, tmp_path):
    return CheckpointStorage(tmp_path / "job") if request.param == "filesystem" else MemoryStorage()


@pytest.fixture
def files(tmp_path):
    return CheckpointStorage(tmp_path / "job")


def begin(storage, after=None):
    """Begins an attempt of a driver. Returns its number, and the checkpoint that it starts from."""
    attempt = storage.new_attempt(after)
    latest = storage.latest_completed().completed
    restored = None if latest is None else latest.checkpoint
    storage.record_restored(attempt, restored)
    return attempt, restored


def complete(storage, checkpoint, attempt):
    handle = storage.write(checkpoint, "a", attempt, encode(f"{attempt} at {checkpoint}"))
    return storage.publish(checkpoint, attempt, [handle])


@pytest.fixture
def paused_before_the_link(monkeypatch):
    """Runs another driver while a publisher is paused between its check and the link of a file."""

    def at(name, meanwhile):
        publish_file = durable.publish_file

        def paused(path, data, owner=""):
            if path.name == name:
                monkeypatch.setattr(durable, "publish_file", publish_file)
                meanwhile()
            return publish_file(path, data, owner)

        monkeypatch.setattr(durable, "publish_file", paused)

    return at


def test_a_failed_attempt_is_followed_by_one_of_its_driver_only_while_it_is_the_newest(storage):
    first, _ = begin(storage)
    second, _ = begin(storage, after=first)
    assert second == first + 1
    other, _ = begin(storage)
    with pytest.raises(SupersededError, match=f"but attempt {other} exists; end this attempt"):
        storage.new_attempt(after=second)
    assert storage.new_attempt(after=other) == other + 1


def test_an_attempt_behind_a_gap_that_a_savepoint_has_left_is_not_drawn(files):
    first, _ = begin(files)
    for skipped in ("5", "6"):
        (files.location.directory / "attempts" / skipped).write_bytes(b"")
    with pytest.raises(SupersededError, match="attempt 6 exists"):
        files.new_attempt(after=first)


def test_a_driver_paused_between_check_and_link_does_not_complete_the_checkpoint(
    files, paused_before_the_link
):
    old, _ = begin(files)
    complete(files, 1, old)
    newer = CheckpointStorage(files.location.directory)
    began = []
    paused_before_the_link("_metadata", lambda: began.append(begin(newer)))
    with pytest.raises(SupersededError, match="publishing checkpoint 2: expected attempt 1 to be the newest"):
        complete(files, 2, old)
    assert began == [(2, 1)]
    found = newer.latest_completed()
    assert (found.completed.checkpoint, [one.checkpoint for one in found.refused]) == (1, [2])


def test_a_checkpoint_linked_before_a_newer_attempt_looks_is_restored_by_it(files, monkeypatch):
    old, _ = begin(files)
    newer = CheckpointStorage(files.location.directory)
    attempt = newer.new_attempt()
    publish = CheckpointStorage.require_newest
    monkeypatch.setattr(CheckpointStorage, "require_newest", lambda *arguments: None)  # its check has passed
    complete(files, 1, old)
    monkeypatch.setattr(CheckpointStorage, "require_newest", publish)
    newer.record_restored(attempt, newer.latest_completed().completed.checkpoint)
    assert newer.latest_completed().completed.checkpoint == 1


def test_an_attempt_that_was_paused_before_it_recorded_its_start_never_starts(storage):
    complete(storage, 1, begin(storage)[0])
    paused = storage.new_attempt()
    newest, _ = begin(storage)
    complete(storage, 2, newest)
    with pytest.raises(SupersededError, match=f"starting: expected attempt {paused} to be the newest"):
        storage.record_restored(paused, 1)
    assert paused not in storage.starts
    assert storage.latest_completed().completed.checkpoint == 2


def test_a_start_is_recorded_once(files):
    attempt, _ = begin(files)
    files.record_restored(attempt, None)
    with pytest.raises(Exception, match="to record its start once"):
        files.record_restored(attempt, 7)


def test_an_id_belongs_to_the_driver_that_reserved_it(storage):
    assert storage.reserve(1)
    assert not storage.reserve(1)
    assert storage.next_checkpoint_id() == 2
