"""Durable state: how a checkpoint is written, completed and restored.

snapshot         the checksummed format of one state
sections         the format of a task's snapshot, which has several states
storage          the records of completed checkpoints
filesystem       the checkpoint storage, in a directory
savepoints       savepoints, each in a folder of its own
snapshot_files   the files of both
shared           files that several checkpoints refer to
durable          file operations that survive a crash
errors           the errors
backends         state by key, in memory and in RocksDB, and state of a subtask without a key
"""

from impl.state.backends.heap import HeapKeyedStateBackend as HeapKeyedStateBackend
from impl.state.backends.keyed import AsynchronousPart as AsynchronousPart
from impl.state.backends.keyed import BackendFactory as BackendFactory
from impl.state.backends.keyed import KeyedContext as KeyedContext
from impl.state.backends.keyed import KeyedStateBackend as KeyedStateBackend
from impl.state.backends.keyed import ListState as ListState
from impl.state.backends.keyed import MapState as MapState
from impl.state.backends.keyed import ValueState as ValueState
from impl.state.backends.operator_state import OperatorListState as OperatorListState
from impl.state.backends.operator_state import OperatorStateStore as OperatorStateStore
from impl.state.errors import CheckpointConflictError as CheckpointConflictError
from impl.state.errors import KeyEncodingError as KeyEncodingError
from impl.state.errors import NoSavepointError as NoSavepointError
from impl.state.errors import SnapshotCorruptError as SnapshotCorruptError
from impl.state.errors import StateError as StateError
from impl.state.errors import StorageError as StorageError
from impl.state.errors import SupersededError as SupersededError
from impl.state.errors import UnsupportedKeyError as UnsupportedKeyError
from impl.state.filesystem import FileSystemStorage as FileSystemStorage
from impl.state.savepoints import Origin as Origin
from impl.state.savepoints import SavepointFolder as SavepointFolder
from impl.state.savepoints import begin_from as begin_from
from impl.state.savepoints import origin_of as origin_of
from impl.state.savepoints import savepoint_name as savepoint_name
from impl.state.savepoints import savepoints_in as savepoints_in
from impl.state.sections import Sections as Sections
from impl.state.sections import pack as pack
from impl.state.sections import sections_of as sections_of
from impl.state.snapshot import decode as decode
from impl.state.snapshot import encode as encode
from impl.state.storage import CompletedCheckpoint as CompletedCheckpoint
from impl.state.storage import LatestCompleted as LatestCompleted
from impl.state.storage import Refused as Refused
from impl.state.storage import StateHandle as StateHandle
