"""Runs the asynchronous part of a subtask's snapshots in a thread. It encodes and writes them one by one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from impl.metrics import Stopwatch
from impl.spark.channels.messages import Mail, SnapshotFailed, SnapshotWritten
from impl.spark.savepoints.savepoint_options import KnownSavepoints
from impl.state import AsynchronousPart, CheckpointStorage, StateHandle, pack
from impl.state.backends.rocksdb import shared_in
from impl.state.shared import SharedFile


class TaskStorage(Protocol):
    """The storage for the snapshots of one subtask."""

    def write(
        self, checkpoint: int, packed: bytes, offset: int | None, shared: tuple[SharedFile, ...]
    ) -> StateHandle:
        """Store a snapshot durably. `offset`: the offset of a source, else None. Raises `StorageError`."""

    def discard(self, handle: StateHandle) -> None:
        """Delete a snapshot that no checkpoint will use."""


class TaskSnapshotFiles:
    """A `TaskStorage` that writes to the checkpoint folder, and to the folders of savepoints."""

    def __init__(
        self, task: str, attempt: int, storage: CheckpointStorage, savepoints: KnownSavepoints
    ) -> None:
        self._task = task
        self._attempt = attempt
        self._storage = storage
        self._savepoints = savepoints

    def write(
        self, checkpoint: int, packed: bytes, offset: int | None, shared: tuple[SharedFile, ...]
    ) -> StateHandle:
        """Store a snapshot in the folder of its savepoint, or else with the job's checkpoints."""
        storage = self._savepoints.folder(checkpoint) or self._storage
        return storage.write(checkpoint, self._task, self._attempt, packed, offset=offset, shared=shared)

    def discard(self, handle: StateHandle) -> None:
        """Delete a snapshot from the folder of its savepoint, or else from the job's checkpoints."""
        (self._savepoints.folder(handle.checkpoint) or self._storage).discard_state(handle)


class SnapshotWriter:
    """Writes the snapshots of one subtask in the order in which they were taken. Used by one thread.

    `post`: receives `SnapshotWritten` or `SnapshotFailed` for each snapshot.
    """

    def __init__(
        self, task: str, storage: TaskStorage, post: Callable[[Mail], None], stopwatch: Stopwatch
    ) -> None:
        self._task = task
        self._storage = storage
        self._post = post
        self._stopwatch = stopwatch
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="snapshot")

    def submit(self, checkpoint: int, part: AsynchronousPart, offset: int | None) -> None:
        """Run the asynchronous part of a snapshot and write its sections. `offset`: None if no source."""
        self._thread.submit(self._write, checkpoint, part, offset)

    def _write(self, checkpoint: int, part: AsynchronousPart, offset: int | None) -> None:
        began = self._stopwatch.now()
        try:
            sections = part()
            shared = shared_in(sections, f"{self._task} at {checkpoint}")
            handle = self._storage.write(checkpoint, pack(sections), offset, shared)
        except Exception as failed:  # noqa: BLE001 - no other thread would see it
            self._post(SnapshotFailed(checkpoint, repr(failed)))
            return
        self._stopwatch.written(checkpoint, began, handle.size)
        self._post(SnapshotWritten(handle))

    def close(self) -> None:
        """Wait for the snapshot that is being written, and write no further snapshot."""
        self._thread.shutdown(wait=True, cancel_futures=True)
