"""Keyed state in RocksDB: for state bigger than memory, with checkpoints that cost what has changed.

The synchronous part of a snapshot is RocksDB's own checkpoint: what is in memory becomes a file, and the
files, which are never changed, get hard links. The asynchronous part copies those into the shared folder
that are not there yet; whatever RocksDB has not rewritten since the last completed checkpoint is only
referred to. A restore at the same parallelism takes the files as they are, and goes on sharing them; at
another one it reads the ranges of its own key groups out of each.

Section `keyed/rocksdb` holds the names of the states, RocksDB's small files, and which shared files were
which; `shared` lists the latter for whoever counts references.
"""

import os
import shutil
import struct
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from impl.state import snapshot
from impl.state.backends.key_bytes import key_bytes
from impl.state.backends.key_encoding import (
    ENCODING,
    encoding_of,
    encoding_section,
    read_earlier,
    require_same_groups,
)
from impl.state.backends.key_groups import key_group
from impl.state.backends.keyed import LIST, MAP, SECTION, VALUE, AsynchronousPart, KeyedContext
from impl.state.backends.rocksdb_states import (
    RocksDbListState,
    RocksDbMapState,
    RocksDbState,
    RocksDbValueState,
)
from impl.state.errors import StateError
from impl.state.sections import Sections
from impl.state.shared import SharedFile, SharedFiles

SHARED: Final = "shared"
"""The section that lists shared files."""
_STATE: Final = f"{SECTION}rocksdb"
_FILTER_BITS: Final = 10
"""For each key."""
_PREFIX: Final = struct.Struct(">HH")
_KINDS: Final[Mapping[str, type[RocksDbState]]] = {
    VALUE: RocksDbValueState,
    LIST: RocksDbListState,
    MAP: RocksDbMapState,
}


class Held(NamedTuple):
    """What a snapshot holds."""

    states: dict[str, tuple[str, int]]
    """By name: the kind, and the number within the keys."""
    small: dict[str, bytes]
    """RocksDB's own files but for the tables."""
    tables: dict[str, SharedFile]
    """By RocksDB's name of it."""
    groups: tuple[int, int]
    """The key groups: the first, and the one behind the last."""


class RocksDbTable:
    """A RocksDB in a folder, as a sorted table of bytes. Without a log of its own: checkpoints are ours."""

    def __init__(self, folder: Path) -> None:
        from rocksdict import Rdict, WriteOptions

        self.folder = folder
        self._database: Any = Rdict(str(folder), _options())
        unlogged: Any = WriteOptions()
        unlogged.disable_wal = True
        self._database.set_write_options(unlogged)
        self._unlogged = unlogged
        self.get = self._database.get
        self.put = self._database.put
        self.delete = self._database.delete

    def get_all(self, keys: list[bytes], /) -> list[bytes | None]:
        """The values of many keys."""
        values: list[bytes | None] = self._database.get(keys)
        return values

    def put_all(self, entries: Iterable[tuple[bytes, bytes]], /) -> None:
        """Set many values."""
        from rocksdict import WriteBatch

        batch = WriteBatch(raw_mode=True)
        for key, value in entries:
            batch.put(key, value)
        self._database.write(batch, self._unlogged)

    def scan(self, prefix: bytes, /) -> Iterator[tuple[bytes, bytes]]:
        """All that begins with `prefix`, in order."""
        for key, value in self._database.items(from_key=prefix):
            if not key.startswith(prefix):
                return
            yield key, value

    def checkpoint(self, folder: Path) -> None:
        """Write down what is in memory, and link all files into a new `folder`."""
        from rocksdict import Checkpoint

        self._database.flush()
        Checkpoint(self._database).create_checkpoint(str(folder))

    def close(self) -> None:
        """Close it; the folder stays."""
        self._database.close()


def _options() -> Any:  # noqa: ANN401 - rocksdict has no types
    """Files are merged with others of their own size only.

    By default every fourth flush would be merged with all of the level below, and a checkpoint that had
    changed little would now and then write all. In return a key may lie in more files: filters spare most.
    """
    from rocksdict import BlockBasedOptions, DBCompactionStyle, Options

    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_compaction_style(DBCompactionStyle.universal())
    tables = BlockBasedOptions()
    tables.set_bloom_filter(_FILTER_BITS, False)
    options.set_block_based_table_factory(tables)
    return options


class RocksDbKeyedStateBackend:
    """The keyed state of one subtask. `working`: a folder of its own, removed at the end."""

    def __init__(self, context: KeyedContext, working: Path, shared: SharedFiles, attempt: int) -> None:
        self._context = context
        self._working = working
        self._shared = shared
        self._attempt = attempt
        self._states: dict[str, tuple[RocksDbState, int]] = {}
        self._uploaded: dict[int, dict[str, SharedFile]] = {}
        self._known: dict[str, SharedFile] = {}  # of a checkpoint that is complete
        shutil.rmtree(working, ignore_errors=True)
        working.mkdir(parents=True)
        self._table = RocksDbTable(working / "db")

    def value_state(self, name: str, *, immutable: bool = False) -> RocksDbValueState:
        """The value state of that name."""
        state = self._state(name, VALUE)
        assert isinstance(state, RocksDbValueState)
        return state

    def list_state(self, name: str, *, immutable: bool = False) -> RocksDbListState:
        """The list state of that name."""
        state = self._state(name, LIST)
        assert isinstance(state, RocksDbListState)
        return state

    def map_state(self, name: str, *, immutable: bool = False) -> RocksDbMapState:
        """The map state of that name."""
        state = self._state(name, MAP)
        assert isinstance(state, RocksDbMapState)
        return state

    def _state(self, name: str, kind: str, number: int | None = None) -> RocksDbState:
        if name not in self._states:
            given = len(self._states) if number is None else number
            self._states[name] = self._made(name, kind, given), given
        state = self._states[name][0]
        if state.kind != kind:
            raise StateError(
                f"{self._context.task}: state {name!r} is a {state.kind} state, asked for as a {kind} state; "
                "give each state a name of its own"
            )
        return state

    def _made(self, name: str, kind: str, number: int) -> RocksDbState:
        groups, every, task = self._context.groups, self._context.max_parallelism, self._context.task

        def place(key: Hashable) -> bytes:
            group = key_group(key, every)
            if group not in groups:
                raise StateError(
                    f"{task}: state {name!r} was asked for {key!r}, a key of another subtask; use the key "
                    "that the function was called with"
                )
            return _PREFIX.pack(group, number) + key_bytes(key)

        def prefixes() -> Iterable[bytes]:
            return (_PREFIX.pack(group, number) for group in groups)

        return _KINDS[kind](self._table, place, prefixes)

    # ------------------------------------------------------------ snapshots

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Link the files as they are now; what is new of them is copied later, for a savepoint everything."""
        folder = self._working / f"chk-{checkpoint}"
        self._table.checkpoint(folder)
        states = {name: (state.kind, number) for name, (state, number) in self._states.items()}
        groups = self._context.groups.start, self._context.groups.stop
        base = dict(self._known) if alone is None else {}
        place = self._shared if alone is None else alone

        def rest() -> Mapping[str, bytes]:
            small: dict[str, bytes] = {}
            tables: dict[str, SharedFile] = {}
            try:
                for path in sorted(folder.iterdir()):
                    if path.suffix == ".sst":
                        known = base.get(path.name)
                        tables[path.name] = known or place.add(path, self._context.task, self._attempt)
                    elif path.suffix != ".log":
                        small[path.name] = path.read_bytes()
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            if alone is None:
                self._uploaded[checkpoint] = tables
            listed = [tuple(one) for one in tables.values()]
            return {
                _STATE: snapshot.encode(Held(states, small, tables, groups)),
                SHARED: snapshot.encode(listed),
                **encoding_section(),
            }

        return rest

    def notify_complete(self, checkpoint: int) -> None:
        """What this checkpoint has shared need not be copied again."""
        if checkpoint in self._uploaded:
            self._known = self._uploaded[checkpoint]
        self._uploaded = {one: files for one, files in self._uploaded.items() if one > checkpoint}

    def notify_abort(self, checkpoint: int) -> None:
        """What it has copied is not counted on."""
        self._uploaded.pop(checkpoint, None)

    # ------------------------------------------------------------ restore

    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Take over the own key groups."""
        held = [self._held(one) for one in snapshots]
        earlier = {one.file for one in snapshots if encoding_of(one) != ENCODING}
        own = self._context.groups
        if len(held) == 1 and held[0].groups == (own.start, own.stop):
            self._adopt(held[0])
            if earlier:
                self._require_current(held[0], self._table, snapshots[0].file)
            return
        for number, (one, file) in enumerate(zip(held, (there.file for there in snapshots), strict=True)):
            folder = self._working / f"restored-{number}"
            self._lay_out(one, folder)
            there = RocksDbTable(folder)
            try:
                if file in earlier:
                    self._require_current(one, there, file)
                self._copy(one, there)
            finally:
                there.close()
                shutil.rmtree(folder, ignore_errors=True)

    def _require_current(self, held: Held, there: RocksDbTable, file: str) -> None:
        """Refuse keys that an earlier release has pickled: equal ones of other types were not found there."""
        for kind, number in held.states.values():
            for group in self._context.groups:
                prefix = _PREFIX.pack(group, number)
                for entry, _ in there.scan(prefix):
                    key, rest = read_earlier(entry[len(prefix) :], file)
                    require_same_groups([key], [group], self._context.max_parallelism, file)
                    if kind == MAP:
                        read_earlier(rest, file)

    def _held(self, there: Sections) -> Held:
        held = there.read(_STATE)
        if not isinstance(held, Held):
            raise StateError(f"{there.file}: expected state of RocksDB, came {type(held).__name__}")
        return held

    def _adopt(self, held: Held) -> None:
        """Go on with the files themselves."""
        self._table.close()
        shutil.rmtree(self._table.folder)
        self._lay_out(held, self._table.folder)
        self._table = RocksDbTable(self._table.folder)
        self._states.clear()
        for name, (kind, number) in held.states.items():
            self._state(name, kind, number)
        self._known = dict(held.tables)

    def _copy(self, held: Held, there: RocksDbTable) -> None:
        """The entries of the own key groups, under our numbers of the states."""
        for name, (kind, number) in sorted(held.states.items(), key=lambda one: one[1][1]):
            self._state(name, kind)
            mine = self._states[name][1]
            for group in self._context.groups:
                if not held.groups[0] <= group < held.groups[1]:
                    continue  # another file has it
                for key, value in there.scan(_PREFIX.pack(group, number)):
                    self._table.put(_PREFIX.pack(group, mine) + key[_PREFIX.size :], value)

    def _lay_out(self, held: Held, folder: Path) -> None:
        folder.mkdir(parents=True)
        for name, content in held.small.items():
            (folder / name).write_bytes(content)
        for name, file in held.tables.items():
            source = self._shared.verify(SharedFile(*file))
            try:
                os.link(source, folder / name)
            except OSError:  # another file system, or one without links
                shutil.copyfile(source, folder / name)

    def close(self) -> None:
        """The database is closed, and its folder removed."""
        self._table.close()
        shutil.rmtree(self._working, ignore_errors=True)


def shared_in(sections: Mapping[str, bytes], file: str) -> tuple[SharedFile, ...]:
    """The shared files that the sections of a snapshot refer to."""
    if SHARED not in sections:
        return ()
    listed: Any = snapshot.decode(sections[SHARED], file)
    return tuple(SharedFile(*one) for one in listed)
