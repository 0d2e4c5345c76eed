"""Keyed state in RocksDB: it gives the answers of memory, checkpoints share files, and no file is lost."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impl.state import (
    CheckpointStorage,
    HeapKeyedStateBackend,
    KeyedContext,
    SnapshotCorruptError,
    StateError,
    pack,
    sections_of,
)
from impl.state.backends.key_bytes import key_bytes, key_of
from impl.state.backends.key_groups import groups_of, key_group
from impl.state.backends.rocksdb import RocksDbKeyedStateBackend, shared_in

FRESH = count()
EVERY = 16
KEYS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False),
    lambda parts: st.tuples(parts, parts) | st.frozensets(parts, max_size=3),
    max_leaves=4,
)


@given(KEYS, KEYS)
def test_keys_that_are_equal_have_the_same_bytes_and_come_back(one, other):
    assert (key_bytes(one) == key_bytes(other)) == (one == other)
    key, rest = key_of(key_bytes(one) + b"rest")
    assert (key, rest) == (one, b"rest")


class Folder:
    """A checkpoint folder with one or several keyed tasks."""

    def __init__(self, directory):
        self.storage = CheckpointStorage(directory)
        self.storage.new_attempt()
        self.directory = directory

    def backend(self, index=0, parallelism=1, attempt=1):
        context = KeyedContext.of(f"count-{index}", index, parallelism, EVERY)
        working = self.storage.working(f"{context.task}-{next(FRESH)}", attempt)
        return RocksDbKeyedStateBackend(context, working, self.storage.shared, attempt)

    def write(self, checkpoint, backend, attempt=1, task="count-0"):
        sections = backend.snapshot(checkpoint)()
        shared = shared_in(sections, "it")
        return self.storage.write(checkpoint, task, attempt, pack(sections), shared=shared)

    def complete(self, checkpoint, backend, attempt=1):
        handle = self.write(checkpoint, backend, attempt)
        self.storage.publish(checkpoint, attempt, [handle])
        backend.notify_complete(checkpoint)
        return handle

    def shared(self):
        return sorted(f"shared/{path.name}" for path in (self.directory / "shared").glob("*"))


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def everything(backend):
    kinds = {"v": backend.value_state, "l": backend.list_state, "m": backend.map_state}
    return {name: dict(state(name).items()) for name, state in kinds.items()}


def act(backend, step, key, value):
    values, lists, maps = backend.value_state("v"), backend.list_state("l"), backend.map_state("m")
    acts = {
        "put": lambda: values.put(key, value),
        "put all": lambda: values.put_all([key], [(value, *values.get_all([key]))]),
        "remove": lambda: values.remove(key),
        "add": lambda: lists.add(key, value),
        "forget": lambda: lists.remove(key),
        "map": lambda: maps.put(key, value, key),
        "unmap": lambda: maps.remove(key, value),
        "clear": lambda: maps.clear(key),
    }
    acts[step]()


STEPS = st.tuples(
    st.sampled_from(["put", "put all", "remove", "add", "forget", "map", "unmap", "clear", "snapshot"]),
    st.integers(0, 5),
    st.integers(0, 2),
)


@settings(max_examples=15)
@given(st.lists(STEPS, max_size=25), st.integers(1, 3), st.integers(1, 3))
def test_rocksdb_answers_as_memory_also_after_a_restore_at_any_parallelism(
    tmp_path_factory, steps, before, after
):
    folder = Folder(tmp_path_factory.mktemp("state"))
    mine = [folder.backend(index, before) for index in range(before)]
    other = [HeapKeyedStateBackend(KeyedContext.of("it", index, before, EVERY)) for index in range(before)]
    for number, (step, key, value) in enumerate(steps):
        if step == "snapshot":
            for one in mine:
                one.snapshot(number)()
                one.notify_complete(number)
            continue
        owner = next(i for i in range(before) if key_group(key, EVERY) in groups_of(i, before, EVERY))
        for backend in (mine[owner], other[owner]):
            act(backend, step, key, value)
    assert [everything(one) for one in mine] == [everything(one) for one in other]

    taken = [sections_of(pack(one.snapshot(99)()), f"count-{index}") for index, one in enumerate(mine)]
    for one in mine:
        one.close()
    restored = [folder.backend(index, after, attempt=2) for index in range(after)]
    found = {"v": {}, "l": {}, "m": {}}
    for one in restored:
        one.restore(taken)
        for name, entries in everything(one).items():
            assert not set(found[name]) & set(entries)
            found[name].update(entries)
        one.close()
    assert found == {
        name: {key: value for one in other for key, value in everything(one)[name].items()} for name in found
    }


@pytest.mark.rule("ONCE-01")
def test_what_comes_after_the_synchronous_part_is_not_in_the_snapshot(folder):
    backend = folder.backend()
    state = backend.value_state("v")
    state.put("a", 1)
    rest = backend.snapshot(1)
    state.put("a", 2)
    state.put("b", 3)
    taken = sections_of(pack(rest()), "it")
    again = folder.backend(attempt=2)
    again.restore([taken])
    assert dict(again.value_state("v").items()) == {"a": 1}


@pytest.mark.rule("SUB-12")
def test_a_checkpoint_writes_new_files_and_shares_the_others(folder):
    backend = folder.backend()
    state = backend.value_state("v")
    for key in range(5_000):
        state.put(key, "x" * 100)
    first = folder.complete(1, backend)
    state.put(1, "changed")
    second = folder.complete(2, backend)
    [table] = first.shared
    assert table in second.shared
    new = [one for one in second.shared if one != table]
    assert sum(one.size for one in new) < table.size / 20
    assert second.whole_size > table.size > 5 * second.size


@pytest.mark.rule("SUB-12")
def test_a_restored_backend_continues_to_share_files(folder):
    backend = folder.backend()
    backend.value_state("v").put("a", 1)
    first = folder.complete(1, backend)
    backend.close()
    again = folder.backend(attempt=2)
    again.restore([folder.storage.open(first)])
    again.value_state("v").put("b", 2)
    second = folder.write(2, again, attempt=2)
    assert set(first.shared) < set(second.shared)


@pytest.mark.rule("SUB-12")
def test_files_of_an_aborted_checkpoint_are_not_reused(folder):
    backend = folder.backend()
    backend.value_state("v").put("a", 1)
    aborted = folder.write(1, backend)
    backend.notify_abort(1)
    second = folder.complete(2, backend)
    assert not set(aborted.shared) & set(second.shared)
    folder.storage.discard_state(aborted)
    folder.complete(3, backend)
    assert folder.shared() == sorted(one.file for one in second.shared)


def new_tables(backend, checkpoint):
    """Compacts the files, so that the checkpoint shares none with earlier ones."""
    state = backend.value_state("v")
    state.put("a", checkpoint)
    backend._table._database.flush()
    backend._table._database.compact_range(None, None)


@pytest.mark.rule("SUB-12")
def test_a_shared_file_is_deleted_when_no_retained_checkpoint_refers_to_it_and_not_before(folder):
    backend = folder.backend()
    handles = {}
    for checkpoint in range(1, 7):
        new_tables(backend, checkpoint)
        handles[checkpoint] = folder.complete(checkpoint, backend)
        if checkpoint > 2:
            folder.storage.discard(checkpoint - 2)
        for retained in folder.storage.completed_ids():
            folder.storage.load(retained)
    kept = {one.file for retained in (5, 6) for one in handles[retained].shared}
    assert not {one.file for one in handles[1].shared} & kept
    assert {one.file for one in handles[1].shared} & set(folder.shared()) == set()
    assert kept <= set(folder.shared())
    left = set(folder.shared()) - kept
    assert set(folder.storage.sweep(9)) == left
    assert set(folder.shared()) == kept


def test_nothing_is_collected_while_a_manifest_cannot_be_read(folder):
    backend = folder.backend()
    new_tables(backend, 1)
    first = folder.complete(1, backend)
    (folder.directory / "chk-1" / "_metadata").write_bytes(b"torn")
    for checkpoint in (2, 3, 4):
        new_tables(backend, checkpoint)
        folder.complete(checkpoint, backend)
    assert {one.file for one in first.shared} <= set(folder.shared())


@pytest.mark.rule("ONCE-04")
@pytest.mark.parametrize("damage", ["torn", "flipped", "gone"])
def test_a_damaged_shared_file_refuses_every_checkpoint_that_refers_to_it(folder, damage):
    backend = folder.backend()
    new_tables(backend, 1)
    folder.complete(1, backend)
    new_tables(backend, 2)
    second = folder.complete(2, backend)
    backend.value_state("v").put("b", 3)
    third = folder.complete(3, backend)
    [table] = set(second.shared) & set(third.shared)
    path = folder.directory / table.file
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        flipped = bytes([content[50] ^ 1])
        path.write_bytes(content[:-9] if damage == "torn" else content[:50] + flipped + content[51:])

    latest = folder.storage.latest_completed()
    assert latest.completed.checkpoint == 1
    assert [one.checkpoint for one in latest.refused] == [3, 2]
    assert all(table.file in one.reason for one in latest.refused)
    again = folder.backend(attempt=2)
    with pytest.raises(SnapshotCorruptError):
        again.restore([folder.storage.open(third)])


def test_a_checkpoint_whose_shared_file_is_gone_is_not_published(folder):
    backend = folder.backend()
    new_tables(backend, 1)
    handle = folder.write(1, backend)
    (folder.directory / handle.shared[0].file).unlink()
    with pytest.raises(SnapshotCorruptError):
        folder.storage.publish(1, 1, [handle])
    assert folder.storage.completed_ids() == ()


def test_the_key_of_another_subtask_is_refused(folder):
    backend = folder.backend(0, 2)
    key = next(one for one in range(99) if key_group(one, EVERY) not in groups_of(0, 2, EVERY))
    with pytest.raises(StateError, match="a key of another subtask"):
        backend.value_state("v").put(key, 1)


def test_one_name_has_one_kind(folder):
    backend = folder.backend()
    backend.value_state("v")
    with pytest.raises(StateError, match="give each state a different name"):
        backend.map_state("v")


def test_no_file_of_a_dead_attempt_stays(folder):
    backend = folder.backend()
    backend.value_state("v").put("a", 1)
    folder.write(1, backend)
    folder.storage.sweep(2)
    assert folder.shared() == []
    assert list((folder.directory / "working").iterdir()) == []
