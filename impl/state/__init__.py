"""Durable state: how a checkpoint is written, completed and restored.

snapshot              the format of one stored state, with a checksum
sections              the format of a task's snapshot, which has several states
checkpoint_metadata   the records of a checkpoint: handles and manifest
checkpoint_storage    the checkpoints of a job as files
memory_storage        the checkpoints of a job in the memory of the driver
locations             the file operations of checkpoints and savepoints, in a file system or an object store
savepoints            savepoints, each in its own folder
claim_mode            the start from a savepoint or a retained checkpoint, and its owner after the start
snapshot_files        the files of the snapshots of checkpoints and savepoints
timers                processing-time timers, a part of the keyed state
shared                files to which several checkpoints refer
durable               file operations that survive a crash
digests               the checksum of a file
errors                the errors
backends              keyed state, in memory and in RocksDB, and operator state
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
from impl.state.checkpoint_metadata import CompletedCheckpoint, LatestCompleted, Refused, StateHandle
from impl.state.checkpoint_storage import CheckpointStorage
from impl.state.claim_mode import Origin, RetainedCheckpoint, begin_from, discard, origin_of, original_at
from impl.state.errors import (
    CheckpointConflictError,
    KeyEncodingError,
    NoFileError,
    NoSavepointError,
    NotRowsError,
    SnapshotCorruptError,
    StateError,
    StateTooLargeError,
    StorageError,
    SupersededError,
    UncertainPublicationError,
    UnsupportedKeyError,
)
from impl.state.memory_storage import CheckpointsInMemory, checkpoints_at
from impl.state.savepoints import SavepointFolder, savepoint_name, savepoints_in
from impl.state.sections import Sections, pack, sections_of
from impl.state.snapshot import decode, encode
from impl.state.timers import ProcessingTimeTimers

__all__ = [
    "AsynchronousPart",
    "BackendFactory",
    "CheckpointConflictError",
    "CheckpointStorage",
    "CheckpointsInMemory",
    "CompletedCheckpoint",
    "HeapKeyedStateBackend",
    "KeyEncodingError",
    "KeyedContext",
    "KeyedStateBackend",
    "LatestCompleted",
    "ListState",
    "MapState",
    "NoFileError",
    "NoSavepointError",
    "NotRowsError",
    "OperatorListState",
    "OperatorStateStore",
    "Origin",
    "ProcessingTimeTimers",
    "Refused",
    "RetainedCheckpoint",
    "SavepointFolder",
    "Sections",
    "SnapshotCorruptError",
    "StateError",
    "StateHandle",
    "StateTooLargeError",
    "StorageError",
    "SupersededError",
    "UncertainPublicationError",
    "UnsupportedKeyError",
    "ValueState",
    "begin_from",
    "checkpoints_at",
    "decode",
    "discard",
    "encode",
    "origin_of",
    "original_at",
    "pack",
    "savepoint_name",
    "savepoints_in",
    "sections_of",
]
