"""Keyed state in RocksDB: state may be larger than memory, and a checkpoint copies only new files.

The synchronous part of a snapshot uses the checkpoint operation of RocksDB: it flushes the data in memory to
a file, and makes hard links to all files, which never change. The asynchronous part copies new files into the
shared folder, and refers to the files that the last completed checkpoint already has. A restore at the same
parallelism uses the files without a change. A restore at another parallelism reads the entries of the
subtask's key groups.

A snapshot consists of sections. The section `keyed/rocksdb` has the names of the states, RocksDB's small
files, and RocksDB's names of the shared files. The section `shared` lists the shared files again. The
manifest of the checkpoint copies this list. The runtime keeps every file that a manifest lists.
"""

import shutil
import struct
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from impl.state import snapshot
from impl.state.backends import keyed
from impl.state.backends.key_bytes import key_bytes
from impl.state.backends.key_encoding_versions import (
    ENCODING,
    encoding_of,
    encoding_section,
    read_earlier,
    require_same_groups,
)
from impl.state.backends.key_groups import key_group
from impl.state.backends.rocksdb_states import (
    RocksDbListState,
    RocksDbMapState,
    RocksDbState,
    RocksDbTable,
    RocksDbValueState,
)
from impl.state.errors import StateError
from impl.state.sections import Sections
from impl.state.shared import SharedFile, SharedFiles

SHARED: Final = "shared"
"""The section that lists shared files."""
_STATE: Final = f"{keyed.SECTION}rocksdb"
_PREFIX: Final = struct.Struct(">HH")
_KINDS: Final[Mapping[str, type[RocksDbState]]] = {
    keyed.VALUE: RocksDbValueState,
    keyed.LIST: RocksDbListState,
    keyed.MAP: RocksDbMapState,
}


class Held(NamedTuple):
    """The content of the section `keyed/rocksdb`. Do not rename this class: snapshots contain it pickled."""

    states: dict[str, tuple[str, int]]
    """Maps the name of a state to its kind and its number. Each key in RocksDB contains this number."""
    small: dict[str, bytes]
    """Maps the names of RocksDB's files, except tables and logs, to their contents."""
    tables: dict[str, SharedFile]
    """Maps RocksDB's names of the tables (`.sst` files) to their files in the shared folder."""
    groups: tuple[int, int]
    """The first key group of the subtask, and its last one + 1."""


class RocksDbKeyedStateBackend(keyed.KeyedStateBackend):
    """The keyed state of one subtask. `working`: the subtask's own folder, which `close` removes."""

    def __init__(self, context: keyed.KeyedContext, working: Path, shared: SharedFiles, attempt: int) -> None:
        self._context = context
        self._working = working
        self._shared = shared
        self._attempt = attempt
        self._states: dict[str, tuple[RocksDbState, int]] = {}
        self._uploaded: dict[int, dict[str, SharedFile]] = {}
        self._known: dict[str, SharedFile] = {}  # the tables of the last completed checkpoint
        shutil.rmtree(working, ignore_errors=True)
        working.mkdir(parents=True)
        self._table = RocksDbTable(working / "db")

    def _state(self, name: str, kind: str, immutable: bool = False) -> RocksDbState:
        return self._numbered(name, kind, len(self._states))

    def _numbered(self, name: str, kind: str, number: int) -> RocksDbState:
        """The state `name`. The first call creates it; its keys in RocksDB contain `number`."""
        if name not in self._states:
            self._states[name] = self._made(name, kind, number), number
        state = self._states[name][0]
        keyed.require_kind(self._context.task, name, state.kind, kind)
        return state

    def has(self, name: str) -> bool:
        """Whether a state with this name exists."""
        return name in self._states

    def _made(self, name: str, kind: str, number: int) -> RocksDbState:
        groups, every, task = self._context.groups, self._context.max_parallelism, self._context.task

        def prefix_of(key: Hashable) -> bytes:
            group = key_group(key, every)
            if group not in groups:
                raise StateError(
                    f"{task}: state {name!r} was used with {key!r}, a key of another subtask; use the key "
                    "that the function was called with"
                )
            return _PREFIX.pack(group, number) + key_bytes(key)

        def prefixes() -> Iterable[bytes]:
            return (_PREFIX.pack(group, number) for group in groups)

        return _KINDS[kind](self._table, prefix_of, prefixes)

    # ------------------------------------------------------------ snapshots

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> keyed.AsynchronousPart:
        """Take the synchronous part of a snapshot, and return the asynchronous part.

        For a checkpoint, the asynchronous part copies the new tables into the shared folder. For a savepoint,
        it copies all tables into `alone`, the folder of the savepoint's shared files.
        """
        folder = self._working / f"chk-{checkpoint}"
        self._table.checkpoint(folder)
        states = {name: (state.kind, number) for name, (state, number) in self._states.items()}
        groups = self._context.groups.start, self._context.groups.stop
        base = dict(self._known) if alone is None else {}
        shared = self._shared if alone is None else alone

        def asynchronous_part() -> Mapping[str, bytes]:
            small: dict[str, bytes] = {}
            tables: dict[str, SharedFile] = {}
            try:
                for path in sorted(folder.iterdir()):
                    if path.suffix == ".sst":
                        known = base.get(path.name)
                        tables[path.name] = known or shared.add(path, self._context.task, self._attempt)
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

        return asynchronous_part

    def notify_complete(self, checkpoint: int) -> None:
        """Let later checkpoints refer to the tables of this one."""
        if checkpoint in self._uploaded:
            self._known = self._uploaded[checkpoint]
        self._uploaded = {one: files for one, files in self._uploaded.items() if one > checkpoint}

    def notify_abort(self, checkpoint: int) -> None:
        """Forget the tables of this checkpoint, so that no later checkpoint refers to them."""
        self._uploaded.pop(checkpoint, None)

    # ------------------------------------------------------------ restore

    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Restore the key groups of this subtask.

        Raises StateError if a snapshot is of another backend, and KeyEncodingError if an earlier release of
        this project has written it with other key groups or other bytes for a key.
        """
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
        """Raise KeyEncodingError for a key to which this release gives other bytes or another group."""
        for kind, number in held.states.values():
            for group in self._context.groups:
                prefix = _PREFIX.pack(group, number)
                for entry, _ in there.scan(prefix):
                    key, rest = read_earlier(entry[len(prefix) :], file)
                    require_same_groups([key], [group], self._context.max_parallelism, file)
                    if kind == keyed.MAP:
                        read_earlier(rest, file)

    def _held(self, there: Sections) -> Held:
        held = there.read(_STATE)
        if not isinstance(held, Held):
            raise StateError(
                f"{there.file}: expected state of RocksDB, got {type(held).__name__}; use the "
                "state_backend of the checkpoint"
            )
        return held

    def _adopt(self, held: Held) -> None:
        """Use the files of the snapshot as the database."""
        self._table.close()
        shutil.rmtree(self._table.folder)
        self._lay_out(held, self._table.folder)
        self._table = RocksDbTable(self._table.folder)
        self._states.clear()
        for name, (kind, number) in held.states.items():
            self._numbered(name, kind, number)
        self._known = dict(held.tables)

    def _copy(self, held: Held, there: RocksDbTable) -> None:
        """Copy the entries of this subtask's key groups from `there`, with this subtask's state numbers."""
        for name, (kind, number) in sorted(held.states.items(), key=lambda one: one[1][1]):
            self._state(name, kind)
            mine = self._states[name][1]
            for group in self._context.groups:
                if not held.groups[0] <= group < held.groups[1]:
                    continue  # another snapshot has this group
                for key, value in there.scan(_PREFIX.pack(group, number)):
                    self._table.put(_PREFIX.pack(group, mine) + key[_PREFIX.size :], value)

    def _lay_out(self, held: Held, folder: Path) -> None:
        folder.mkdir(parents=True)
        for name, content in held.small.items():
            (folder / name).write_bytes(content)
        for name, file in held.tables.items():
            self._shared.fetch(SharedFile(*file), folder / name)

    def close(self) -> None:
        """Close the database and remove its folder."""
        self._table.close()
        shutil.rmtree(self._working, ignore_errors=True)


def shared_in(sections: Mapping[str, bytes], file: str) -> tuple[SharedFile, ...]:
    """The shared files to which the sections of a snapshot refer."""
    if SHARED not in sections:
        return ()
    listed: Any = snapshot.decode(sections[SHARED], file)
    return tuple(SharedFile(*one) for one in listed)
