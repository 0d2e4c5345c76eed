"""Durable state: what a checkpoint leaves behind, and how it comes back.

`snapshot` is the checksummed format of one task's state, `keyed` the state of an operator by key,
`storage` what a checkpoint storage promises, `filesystem` and `memory` the two that keep it, `durable` the
few file operations that survive a crash, `errors` what can go wrong.
"""

from impl.state.errors import (
    CheckpointConflictError,
    SnapshotCorruptError,
    StateError,
    StorageError,
    SupersededError,
)
from impl.state.filesystem import FileSystemStorage
from impl.state.keyed import KeyedStateBackend, ValueState
from impl.state.memory import MemoryStorage
from impl.state.snapshot import decode, encode
from impl.state.storage import (
    CheckpointStorage,
    CompletedCheckpoint,
    LatestCompleted,
    Refused,
    StateHandle,
)

__all__ = [
    "CheckpointConflictError",
    "CheckpointStorage",
    "CompletedCheckpoint",
    "FileSystemStorage",
    "KeyedStateBackend",
    "LatestCompleted",
    "MemoryStorage",
    "Refused",
    "SnapshotCorruptError",
    "StateError",
    "StateHandle",
    "StorageError",
    "SupersededError",
    "ValueState",
    "decode",
    "encode",
]
