"""A job begins from a savepoint or retained checkpoint, and leaves it unchanged or owns it (claim mode)."""

import os

import pytest

from impl.config import CLAIM, NO_CLAIM, ConfigError
from impl.job import settings_of
from impl.state import (
    CheckpointConflictError,
    CheckpointStorage,
    NoSavepointError,
    SavepointFolder,
    StorageError,
    SupersededError,
    begin_from,
    discard,
    encode,
    origin_of,
    original_at,
)
from impl.state.claim_mode import RetainedCheckpoint
from impl.state.locations import beside, location_of
from tests.object_clients import FaultyClient


@pytest.fixture(params=["folder", "objects"])
def places(request, tmp_path):
    """The checkpoint folders of two jobs, and a folder for savepoints."""
    root = tmp_path if request.param == "folder" else f"memory://{tmp_path.name}"
    return [beside(root, name) for name in ("old", "new", "kept")]


def shared_file(storage, tmp_path, content, attempt=1):
    source = tmp_path / "table"
    source.write_bytes(content)
    return storage.shared.add(source, "count-0", attempt)


def completed(storage, checkpoint, attempt, *shared):
    handle = storage.write(checkpoint, "count-0", attempt, encode(f"state {checkpoint}"), shared=shared)
    return storage.publish(checkpoint, attempt, [handle], 128)


@pytest.fixture
def retained(places, tmp_path):
    """Checkpoints 1 and 2 of an old job. They share one file, and each has a file of its own."""
    storage = CheckpointStorage(places[0])
    attempt = storage.new_attempt()
    storage.record_restored(attempt, None)
    assert storage.lineage  # the job draws its lineage when it starts
    both, first, second = (shared_file(storage, tmp_path, content) for content in (b"both", b"1", b"2"))
    completed(storage, 1, attempt, both, first)
    completed(storage, 2, attempt, both, second)
    return storage


def contents(where):
    """Every file of a folder, two levels deep."""
    location = location_of(where)
    names = [f"{folder}/{name}" for folder in location.folders() for name in location.sizes(folder)]
    return {name: location.read(name) for name in (*names, *location.sizes())}


def begun(places, checkpoint=2, *, claim):
    storage = CheckpointStorage(places[1])
    begin_from(storage, original_at(beside(places[0], f"chk-{checkpoint}")), claim=claim)
    return storage


def test_no_claim_leaves_a_retained_checkpoint_alone_and_needs_none_of_its_files(retained, places):
    before = contents(places[0])
    storage = begun(places, claim=False)
    assert origin_of(storage) == (retained.lineage, 2, None)
    copy = storage.latest_completed().completed
    assert copy.checkpoint == 2
    [handle] = copy.handles.values()
    assert contents(places[0]) == before

    for name in before:  # its user deletes the original
        retained.location.remove(name)
    attempt = storage.new_attempt()
    storage.record_restored(attempt, 2)
    completed(storage, 3, attempt, *handle.shared)
    discard(storage, 2)
    assert storage.read(storage.load(3).handles["count-0"]) == "state 3"
    assert storage.completed_ids() == (3,)


def test_no_claim_deletes_nothing_of_the_original_when_its_copy_is_subsumed(retained, places):
    before = contents(places[0])
    storage = begun(places, claim=False)
    discard(storage, 2)
    assert storage.completed_ids() == ()
    assert contents(places[0]) == before


def test_claim_deletes_the_original_with_its_copy_and_not_what_others_refer_to(retained, places):
    [handle] = retained.load(2).handles.values()
    both, own = (one.file for one in handle.shared)
    storage = begun(places, claim=True)
    discard(storage, 1)  # another file
    assert retained.completed_ids() == (1, 2)
    discard(storage, 2)
    assert storage.completed_ids() == ()
    assert retained.completed_ids() == (1,)
    assert retained.load(1).checkpoint == 1
    assert retained.location.size(both) is not None
    assert retained.location.size(own) is None
    discard(storage, 2)  # a repetition has no effect


def test_claim_is_repeated_by_the_next_driver_if_the_first_dies_in_between(retained, places, monkeypatch):
    storage = begun(places, claim=True)

    def dies(checkpoint, shared=()):
        raise StorageError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "discard", dies)
        with pytest.raises(StorageError):
            discard(storage, 2)
    assert retained.completed_ids() == (1,)
    assert storage.latest_completed().completed.checkpoint == 2  # the copy is complete without its original
    discard(storage, 2)
    assert storage.completed_ids() == ()


@pytest.mark.parametrize("claim", [False, True])
def test_a_savepoint_is_deleted_if_it_is_claimed_only(places, claim):
    folder = SavepointFolder(beside(places[2], "savepoint-4-11ea9e"))
    folder.begin()
    handle = folder.write(4, "count-0", 3, encode("saved"))
    folder.publish(4, 3, [handle], 128, {"lineage": "11ea9e00"})
    storage = CheckpointStorage(places[1])
    begin_from(storage, original_at(folder.where), claim=claim)
    assert origin_of(storage) == ("11ea9e00", 4, str(folder.where) if claim else None)
    assert folder.is_complete
    discard(storage, 4)
    assert storage.completed_ids() == ()
    assert folder.is_complete is not claim
    assert bool(folder.location.sizes()) is not claim


@pytest.mark.rule("ONCE-06")
def test_a_checkpoint_of_a_dead_attempt_is_not_begun_from(retained, places):
    attempt = retained.new_attempt()
    retained.record_restored(attempt, 1)
    with pytest.raises(NoSavepointError, match="is a dead checkpoint"):
        begun(places, claim=False)
    assert begun(places, 1, claim=False).completed_ids() == (1,)


def test_a_checkpoint_of_the_jobs_own_folder_is_not_copied_over_itself(retained, places):
    with pytest.raises(CheckpointConflictError, match="one of the job's own"):
        begin_from(retained, original_at(beside(places[0], "chk-2")))
    assert retained.load(2).checkpoint == 2


def test_a_moved_or_missing_checkpoint_is_reported(retained, places):
    with pytest.raises(NoSavepointError, match="checkpoint 3 is not complete"):
        begun(places, 3, claim=False)
    with pytest.raises(NoSavepointError, match="expected attempts/lineage"):
        original_at(beside(places[2], "chk-2")).load()
    assert not isinstance(original_at(places[2]), RetainedCheckpoint)


def test_the_option_accepts_the_values_of_flink():
    assert settings_of({"from_savepoint": "s3://bucket/old/chk-7"}).claim_mode == NO_CLAIM
    assert settings_of({"from_savepoint": "s3://bucket/a", "claim_mode": CLAIM}).claim_mode == CLAIM
    for odd in ({"claim_mode": CLAIM}, {"from_savepoint": "s3://bucket/a", "claim_mode": "LEGACY"}):
        with pytest.raises(ConfigError, match="claim_mode takes NO_CLAIM or CLAIM"):
            settings_of(odd)


def test_lost_answers_of_an_object_store_change_nothing(retained, places):
    if isinstance(places[0], str):
        return
    client = FaultyClient(*["lost", None, None] * 10_000)
    storage = CheckpointStorage(client.files())
    begin_from(storage, original_at(beside(places[0], "chk-2")), claim=True)
    assert storage.latest_completed().completed.checkpoint == 2
    discard(storage, 2)
    assert storage.completed_ids() == ()
    assert retained.completed_ids() == (1,)


def saved(where, checkpoint, lineage, content):
    folder = SavepointFolder(where)
    folder.begin()
    handle = folder.write(checkpoint, "count-0", 3, encode(content))
    folder.publish(checkpoint, 3, [handle], 128, {"lineage": lineage})
    return folder


@pytest.mark.parametrize(
    ("checkpoint", "lineage", "content"),
    [(99, "cccccccc", "another"), (4, "cccccccc", "saved"), (4, "11ea9e00", "another")],
)
def test_a_claim_deletes_no_other_files_of_the_user(places, checkpoint, lineage, content):
    folder = saved(beside(places[2], "kept"), 4, "11ea9e00", "saved")
    storage = CheckpointStorage(places[1])
    begin_from(storage, original_at(folder.where), claim=True)
    folder.withdraw()
    other = saved(folder.where, checkpoint, lineage, content)
    discard(storage, 4)
    assert storage.completed_ids() == ()
    assert other.load().checkpoint == checkpoint


def test_a_claim_leaves_a_savepoint_alone_that_another_job_is_writing_there(places):
    folder = saved(beside(places[2], "kept"), 4, "11ea9e00", "saved")
    storage = CheckpointStorage(places[1])
    begin_from(storage, original_at(folder.where), claim=True)
    folder.withdraw()
    folder.begin()
    folder.write(4, "count-0", 3, encode("another"))
    before = folder.location.sizes()
    discard(storage, 4)
    assert folder.location.sizes() == before != {}


def test_an_interrupted_deletion_of_a_claimed_savepoint_is_completed(places):
    folder = saved(beside(places[2], "kept"), 4, "11ea9e00", "saved")
    storage = CheckpointStorage(places[1])
    begin_from(storage, original_at(folder.where), claim=True)
    folder.location.remove("_metadata")
    assert folder.location.sizes()
    discard(storage, 4)
    assert not folder.location.sizes()


def test_a_claim_ignores_metadata_that_cannot_be_read(retained, places):
    storage = begun(places, claim=True)
    retained.location.replace("chk-2/_metadata", b"none")
    discard(storage, 2)
    assert storage.completed_ids() == ()
    assert retained.location.read("chk-2/_metadata") == b"none"


def test_the_copy_of_a_savepoint_in_an_object_store_is_synced(tmp_path, monkeypatch):
    folder = saved(f"memory://{tmp_path.name}/kept", 4, "11ea9e00", "saved" * 10_000)
    synced, fsync = [], os.fsync

    def recorded(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    begin_from(CheckpointStorage(tmp_path / "new"), original_at(folder.where))
    [state] = (tmp_path / "new" / "chk-4").glob("*.state")
    assert str(state.parent) in synced
    assert any(f"/.{state.name}." in name for name in synced)  # before the file gets its name


def test_a_claim_deletes_no_checkpoint_of_a_job_that_has_taken_the_folder_over(retained, places, tmp_path):
    storage = begun(places, claim=True)
    retained.location.remove("attempts/lineage")
    for checkpoint in (1, 2):
        retained.discard(checkpoint)
    newer = CheckpointStorage(places[0])
    assert newer.lineage
    completed(newer, 2, newer.new_attempt())
    discard(storage, 2)
    assert storage.completed_ids() == ()
    assert newer.completed_ids() == (2,)


class Overtaken(CheckpointStorage):
    """A driver's storage. Right after one check for the newest driver, another does `meanwhile`, once."""

    def __init__(self, where, meanwhile):
        super().__init__(where)
        self.meanwhile = meanwhile

    def require_newest(self, doing, attempt):
        super().require_newest(doing, attempt)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()


@pytest.mark.rule("FENCE-02")
@pytest.mark.parametrize("claim", [False, True])
def test_a_driver_that_thaws_after_its_replacement_has_begun_takes_nothing_from_it(retained, places, claim):
    original = original_at(beside(places[0], "chk-2"))
    newer = CheckpointStorage(places[1])
    frozen = Overtaken(places[1], lambda: begin_from(newer, original))
    with pytest.raises(SupersededError):
        begin_from(frozen, original, claim=claim)
    assert newer.latest_completed().completed.checkpoint == 2
    assert origin_of(newer) == (retained.lineage, 2, None)
    assert newer.sweep(newer.newest_attempt()) is not None
    assert newer.load(2).attempt == newer.newest_attempt()


def test_a_driver_takes_the_copy_that_an_earlier_one_has_completed(retained, places):
    first = begun(places, claim=False)
    copy = first.load(2)
    second = begun(places, claim=True)
    assert second.load(2) == copy
    assert origin_of(second) == (retained.lineage, 2, str(beside(places[0], "chk-2")))
    assert second.newest_attempt() > copy.attempt


def test_a_checkpoint_of_another_job_with_the_id_of_the_original_is_not_replaced(retained, places):
    there = CheckpointStorage(places[1])
    completed(there, 2, there.new_attempt())
    other = saved(beside(places[2], "kept"), 2, "11ea9e00", "another")
    with pytest.raises(CheckpointConflictError, match="got one with other content"):
        begin_from(CheckpointStorage(places[1]), original_at(other.where))
    assert there.read(there.load(2).handles["count-0"]) == "state 2"


@pytest.mark.rule("FENCE-05")
def test_a_dead_copy_is_not_begun_from(retained, places):
    """A newer attempt has started from an older checkpoint, so the job would restore that one instead."""
    storage = begun(places, 2, claim=False)
    begun(places, 1, claim=False)
    with pytest.raises(CheckpointConflictError, match="got a dead one"):
        begun(places, 2, claim=False)
    assert storage.latest_completed().completed.checkpoint == 1


def test_an_attempt_that_never_started_has_no_origin(retained, places, monkeypatch):
    paused, newer = CheckpointStorage(places[1]), CheckpointStorage(places[1])
    monkeypatch.setattr(paused, "record_restored", lambda *_: newer.new_attempt())
    begin_from(paused, original_at(beside(places[0], "chk-2")), claim=True)
    newer.record_restored(newer.newest_attempt(), None)
    assert origin_of(newer) is None


@pytest.mark.rule("FENCE-01")
def test_a_paused_driver_clears_no_savepoint_that_a_newer_one_is_writing(places, tmp_path):
    folder = SavepointFolder(beside(places[2], "savepoint-4-11ea9e"))
    folder.begin()
    shared = shared_file(folder, tmp_path, b"table", attempt=5)
    handle = folder.write(4, "count-0", 5, encode("saved"), shared=(shared,))
    folder.write(4, "count-0", 3, encode("of an older attempt"))
    folder.clear_left(4)
    assert set(folder.location.sizes()) == {"count-0.5.state"}
    folder.publish(4, 5, [handle], 128, {"lineage": "11ea9e00"})
    folder.clear_left(6)
    assert folder.load().checkpoint == 4
    folder.location.remove("_metadata")
    folder.clear_left(6)
    assert contents(folder.where) == {}


def test_a_sweep_deletes_the_unfinished_copy_of_a_killed_driver(tmp_path):
    storage = CheckpointStorage(tmp_path)
    (tmp_path / "shared").mkdir()
    (tmp_path / "chk-4").mkdir()
    for left in ("shared/.count-0.1.5f0c.0123abcd.tmp", "chk-4/.count-0.1.state.0123abcd.tmp"):
        (tmp_path / left).write_bytes(b"a part")
    storage.sweep(2)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_origin_that_an_earlier_release_has_recorded_is_read(retained, places):
    storage = begun(places, claim=True)
    origin = origin_of(storage)
    storage.location.move(f"attempts/{storage.newest_attempt()}.origin", "attempts/origin")
    assert not any(name.endswith(".origin") for name in storage.location.sizes("attempts"))
    assert origin is not None
    assert origin_of(storage) == origin
