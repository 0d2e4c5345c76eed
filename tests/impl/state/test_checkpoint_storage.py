"""Checkpoint storages: which checkpoints are complete, which are refused, and which files are swept."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from impl.state import (
    CheckpointConflictError,
    CheckpointStorage,
    SnapshotCorruptError,
    StateError,
    StateHandle,
    StorageError,
    SupersededError,
    encode,
    pack,
)
from tests.memory_storage import MemoryStorage


@pytest.fixture(params=["filesystem", "objects", "model"])
def storage(request, tmp_path):
    places = {"filesystem": tmp_path / "job", "objects": f"memory://{tmp_path.name}/job"}
    return CheckpointStorage(places[request.param]) if request.param in places else MemoryStorage()


@pytest.fixture
def files(tmp_path):
    return CheckpointStorage(tmp_path / "job")


def complete(storage, checkpoint, attempt, **states):
    handles = [storage.write(checkpoint, task, attempt, encode(state)) for task, state in states.items()]
    return storage.publish(checkpoint, attempt, handles)


@pytest.mark.rule("ONCE-04")
def test_without_a_manifest_there_is_no_checkpoint(storage):
    attempt = storage.new_attempt()
    handle = storage.write(1, "count-0", attempt, encode({"JFK": 1}), offset=40)
    assert storage.completed_ids() == ()
    assert storage.latest_completed().completed is None
    storage.publish(1, attempt, [handle])
    found = storage.latest_completed()
    assert found.refused == ()
    assert found.completed.handles["count-0"].offset == 40
    assert storage.read(found.completed.handles["count-0"]) == {"JFK": 1}


@pytest.mark.rule("ONCE-04")
def test_a_small_snapshot_is_in_the_manifest_completely_or_not_at_all(tmp_path):
    small, large = encode("small"), encode("large" * 100)
    storage = CheckpointStorage(tmp_path, inline_bytes=len(small))
    attempt = storage.new_attempt()
    handles = [storage.write(1, "a", attempt, small, offset=7), storage.write(1, "b", attempt, large)]
    assert [path.name for path in (tmp_path / "chk-1").iterdir()] == ["b.1.state"]
    storage.publish(1, attempt, [StateHandle.from_json(one.to_json()) for one in handles])

    another = CheckpointStorage(tmp_path)
    found = another.latest_completed().completed.handles
    assert [another.read(found[task]) for task in "ab"] == ["small", "large" * 100]
    assert (found["a"].size, found["a"].offset) == (len(small), 7)
    assert another.sweep(another.new_attempt()) == ()
    another.discard_state(found["a"])
    assert another.read(found["a"]) == "small"

    manifest = tmp_path / "chk-1" / "_metadata"
    content = manifest.read_bytes()
    at = content.index(b'"content":"') + 20
    manifest.write_bytes(content[:at] + (b"A" if content[at:][:1] != b"A" else b"B") + content[at + 1 :])
    assert another.latest_completed().completed is None
    assert "checksum" in another.latest_completed().refused[0].reason
    another.discard(1)
    assert not (tmp_path / "chk-1").exists()


def test_the_sections_of_a_small_snapshot_are_read_without_a_file(tmp_path):
    storage = CheckpointStorage(tmp_path, inline_bytes=10_000)
    handle = storage.write(1, "a", storage.new_attempt(), pack({"keyed/0-1": encode("x")}))
    assert storage.open(handle).read("keyed/0-1") == "x"
    assert not (tmp_path / "chk-1").exists()
    with pytest.raises(StateError, match="has letters, digits"):
        storage.write(1, "../a", 1, encode("x"))


def test_a_handle_survives_json(storage):
    handle = storage.write(1, "count-0", storage.new_attempt(), encode(3))
    assert StateHandle.from_json(handle.to_json()) == handle


@pytest.mark.rule("COORD-02")
def test_new_ids_are_above_every_begun_checkpoint(storage):
    attempt = storage.new_attempt()
    assert storage.next_checkpoint_id() == 1
    complete(storage, 3, attempt, a=1)
    storage.write(4, "a", attempt, encode(2))
    assert storage.next_checkpoint_id() == 5
    storage.sweep(storage.new_attempt())
    assert storage.next_checkpoint_id() == 5


def test_publishing_the_same_again_is_harmless_and_something_else_is_refused(storage):
    attempt = storage.new_attempt()
    first = storage.write(1, "a", attempt, encode(1))
    second = storage.write(1, "b", attempt, encode(2))
    assert storage.publish(1, attempt, [first]) == storage.publish(1, attempt, [first])
    with pytest.raises(CheckpointConflictError, match="complete already with other content"):
        storage.publish(1, attempt, [first, second])
    assert set(storage.load(1).handles) == {"a"}


def test_a_checkpoint_is_not_published_without_its_snapshots(storage):
    attempt = storage.new_attempt()
    handle = storage.write(1, "a", attempt, encode(1))
    storage.discard_state(handle)
    with pytest.raises(SnapshotCorruptError):
        storage.publish(1, attempt, [handle])
    assert storage.completed_ids() == ()


def test_a_discarded_checkpoint_is_deleted(storage):
    attempt = storage.new_attempt()
    complete(storage, 1, attempt, a=1)
    complete(storage, 2, attempt, a=2)
    storage.discard(2)
    storage.discard(2)
    assert storage.completed_ids() == (1,)
    assert storage.latest_completed().completed.checkpoint == 1
    with pytest.raises(FileNotFoundError, match="checkpoint 2 is not complete"):
        storage.load(2)


@pytest.mark.rule("ONCE-06")
def test_an_ended_attempt_cannot_publish(storage):
    old = storage.new_attempt()
    handle = storage.write(1, "a", old, encode(1))
    new = storage.new_attempt()
    assert new > old
    with pytest.raises(SupersededError, match=f"attempt {new} exists; end this attempt"):
        storage.publish(1, old, [handle])
    assert storage.latest_completed().completed is None


@pytest.mark.rule("ONCE-06")
def test_a_checkpoint_that_an_ended_attempt_completed_too_late_is_refused(storage):
    old = storage.new_attempt()
    complete(storage, 1, old, a=1)
    complete(storage, 2, old, a=2)
    storage.record_restored(storage.new_attempt(), 1)  # it looked before 2 was published
    found = storage.latest_completed()
    assert found.completed.checkpoint == 1
    assert [one.checkpoint for one in found.refused] == [2]
    assert "is a dead checkpoint" in found.refused[0].reason


@pytest.mark.rule("ONCE-06")
def test_a_sweep_removes_only_files_of_dead_attempts(storage):
    old = storage.new_attempt()
    complete(storage, 1, old, a=1)
    storage.write(1, "zombie", old, encode(0))
    storage.write(2, "a", old, encode(2))
    new = storage.new_attempt()
    storage.write(2, "a", new, encode(3))
    assert sorted(storage.sweep(new)) == [f"chk-1/zombie.{old}.state", f"chk-2/a.{old}.state"]
    assert storage.sweep(new) == ()
    assert storage.load(1).checkpoint == 1
    assert complete(storage, 2, new, a=3).checkpoint == 2


# ---------------------------------------------------------------- on a file system


def corrupt(path, how):
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[len(data) // 2] ^= 4
    path.write_bytes(data[: len(data) // 2] if how == "truncated" else b"" if how == "torn" else data)
    if how == "removed":
        path.unlink()


@pytest.mark.rule("ONCE-04")
@pytest.mark.parametrize("how", ["flipped", "truncated", "torn", "removed"])
@pytest.mark.parametrize("file", ["a.1.state", "_metadata"])
def test_a_damaged_checkpoint_is_refused_and_the_previous_one_used(files, how, file):
    attempt = files.new_attempt()
    complete(files, 1, attempt, a=1)
    complete(files, 2, attempt, a=2, b=3)
    corrupt(files.location.directory / "chk-2" / file, how)
    found = files.latest_completed()
    assert found.completed.checkpoint == 1
    if file == "_metadata" and how == "removed":
        assert found.refused == ()
    else:
        assert [one.checkpoint for one in found.refused] == [2]
        assert found.refused[0].reason.startswith(f"chk-2/{file}: expected ")
        assert found.refused[0].reason.endswith("delete this checkpoint and restore an older one")


@pytest.mark.rule("ONCE-04")
def test_a_snapshot_put_in_the_place_of_another_is_refused(files):
    complete(files, 1, files.new_attempt(), a=1, b=2)
    folder = files.location.directory / "chk-1"
    (folder / "a.1.state").write_bytes((folder / "b.1.state").read_bytes())
    assert files.latest_completed().completed is None


def test_a_damaged_manifest_keeps_its_files_from_being_swept(files):
    complete(files, 1, files.new_attempt(), a=1)
    corrupt(files.location.directory / "chk-1" / "_metadata", "flipped")
    assert files.sweep(files.new_attempt()) == ()
    assert (files.location.directory / "chk-1" / "a.1.state").is_file()


def test_each_attempt_number_is_drawn_once(files):
    other = CheckpointStorage(files.location.directory)
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda one: one.new_attempt(), [files, other] * 20))
    assert sorted(drawn) == list(range(1, 41))


def test_of_concurrent_publishers_one_wins(files):
    attempt = files.new_attempt()
    handles = [files.write(1, f"task-{number}", attempt, encode(number)) for number in range(8)]
    start = threading.Barrier(8)

    def publish(handle):
        start.wait()
        try:
            return files.publish(1, attempt, [handle])
        except CheckpointConflictError:
            return None

    with ThreadPoolExecutor(8) as pool:
        published = [one for one in pool.map(publish, handles) if one]
    assert published == [files.load(1)]
    assert sorted(
        path.name for path in (files.location.directory / "chk-1").iterdir() if "meta" in path.name
    ) == ["_metadata"]


def test_half_a_snapshot_of_a_killed_writer_is_no_snapshot_and_is_swept(files):
    old = files.new_attempt()
    files.write(1, "b", old, encode(1))
    half = files.location.directory / "chk-1" / f".a.{old}.state.tmp"
    half.write_bytes(encode(1)[:20])
    left = files.location.directory / "chk-1" / "._metadata.0badcafe.tmp"
    left.write_bytes(b"{")
    assert files.completed_ids() == ()
    assert len(files.sweep(files.new_attempt())) == 3
    assert list((files.location.directory / "chk-1").iterdir()) == []


def test_a_full_disk_is_reported_and_leaves_nothing_behind(files):
    attempt = files.new_attempt()
    files.write(1, "b", attempt, encode(0))
    (files.location.directory / "chk-1" / f".a.{attempt}.state.tmp").symlink_to("/dev/full")
    with pytest.raises(StorageError, match="No space left on device; free space on that disk"):
        files.write(1, "a", attempt, encode(1))
    assert [path.name for path in (files.location.directory / "chk-1").iterdir()] == [f"b.{attempt}.state"]


def test_a_directory_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"creating .* failed: Not a directory"):
        CheckpointStorage(tmp_path / "file" / "job")


def test_a_task_is_named_so_that_its_files_can_be_distinguished(files):
    for name in ("../escape", "a.b", "", "-a"):
        with pytest.raises(StateError, match="has letters, digits"):
            files.write(1, name, 1, encode(1))


def test_a_damaged_note_of_an_attempt_is_reported(files):
    attempt = files.new_attempt()
    (files.location.directory / "attempts" / f"{attempt}.restored").write_text("{")
    with pytest.raises(StateError, match="or delete the file"):
        files.latest_completed()
