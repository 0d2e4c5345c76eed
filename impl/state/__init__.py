"""Durable state: what a checkpoint leaves behind, and how it comes back.

`snapshot` is the checksummed format of a state, `sections` that of a task's several states. `keyed` is the
contract of state by key, `heap` the backend that keeps it in memory; `key_values` tells which values are keys
and which are equal, `key_groups` how they are spread, `key_encoding` whether a snapshot's are as today's;
`operator_state` is the state of a subtask that belongs to no key. `storage` is what a checkpoint storage
promises, `filesystem` and `memory` the two that keep it, `savepoints` what users keep, `snapshot_files` the
files of both. `shared` are files that checkpoints share, `rocksdb`
the backend that has them, with `rocksdb_states` and `key_bytes`. `durable` are the few file operations that
survive a crash, `errors` what can go wrong.
"""

from impl.state.backends.heap import HeapKeyedStateBackend
from impl.state.backends.keyed import (
    AsynchronousPart,
    BackendFactory,
    KeyedContext,
    KeyedStateBackend,
    ListState,
    MapState,
    ValueState,
)
from impl.state.backends.operator_state import OperatorListState, OperatorStateStore
from impl.state.errors import (
    CheckpointConflictError,
    KeyEncodingError,
    NoSavepointError,
    SnapshotCorruptError,
    StateError,
    StorageError,
    SupersededError,
    UnsupportedKeyError,
)
from impl.state.filesystem import FileSystemStorage
from impl.state.memory import MemoryStorage
from impl.state.savepoints import (
    Origin,
    SavepointFolder,
    begin_from,
    origin_of,
    savepoint_name,
    savepoints_in,
)
from impl.state.sections import Sections, pack, sections_of
from impl.state.snapshot import decode, encode
from impl.state.storage import (
    CheckpointStorage,
    CompletedCheckpoint,
    LatestCompleted,
    Refused,
    StateHandle,
)

__all__ = [
    "AsynchronousPart",
    "BackendFactory",
    "CheckpointConflictError",
    "CheckpointStorage",
    "CompletedCheckpoint",
    "FileSystemStorage",
    "HeapKeyedStateBackend",
    "KeyEncodingError",
    "KeyedContext",
    "KeyedStateBackend",
    "LatestCompleted",
    "ListState",
    "MapState",
    "MemoryStorage",
    "NoSavepointError",
    "OperatorListState",
    "OperatorStateStore",
    "Origin",
    "Refused",
    "SavepointFolder",
    "Sections",
    "SnapshotCorruptError",
    "StateError",
    "StateHandle",
    "StorageError",
    "SupersededError",
    "UnsupportedKeyError",
    "ValueState",
    "begin_from",
    "decode",
    "encode",
    "origin_of",
    "pack",
    "savepoint_name",
    "savepoints_in",
    "sections_of",
]
