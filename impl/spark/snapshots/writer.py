"""The asynchronous part of a subtask's snapshots: encoded and written in a thread of its own, one by one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from impl.faults import SNAPSHOT_DUE
from impl.metrics import Stopwatch
from impl.spark.faults.worker import Striker
from impl.spark.savepoints.barrier_options import Orders
from impl.state import AsynchronousPart, CheckpointStorage, SavepointFolder, StateHandle, pack
from impl.state.backends.rocksdb import shared_in


class SnapshotWriter:
    """Writes the snapshots of one subtask in the order in which they were taken.

    `post`: how the subtask hears that one is `written` or `not_written`, and why. Used by one thread.
    """

    def __init__(
        self,
        task: str,
        attempt: int,
        storage: CheckpointStorage,
        post: Callable[[dict[str, Any]], None],
        striker: Striker,
        stopwatch: Stopwatch,
        orders: Orders,
    ) -> None:
        self._task = task
        self._attempt = attempt
        self._storage = storage
        self._post = post
        self._striker = striker
        self._stopwatch = stopwatch
        self._orders = orders
        self._handles: dict[int, StateHandle] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="snapshot")

    def submit(self, checkpoint: int, rest: AsynchronousPart, offset: int | None) -> None:
        """Write what `rest` answers; `offset`: a source's."""
        self._thread.submit(self._write, checkpoint, rest, offset, self._storage_of(checkpoint))

    def _storage_of(self, checkpoint: int) -> CheckpointStorage | SavepointFolder:
        return self._orders.folder(checkpoint) or self._storage

    def _write(
        self,
        checkpoint: int,
        rest: AsynchronousPart,
        offset: int | None,
        storage: CheckpointStorage | SavepointFolder,
    ) -> None:
        began = self._stopwatch.now()
        try:
            sections = rest()
            packed, shared = pack(sections), shared_in(sections, f"{self._task} at {checkpoint}")
            with self._striker.around(SNAPSHOT_DUE):
                handle = storage.write(
                    checkpoint, self._task, self._attempt, packed, offset=offset, shared=shared
                )
        except Exception as failed:  # noqa: BLE001 - in a thread of its own nobody else would see it
            self._post({"do": "not_written", "checkpoint": checkpoint, "why": repr(failed)})
            return
        self._stopwatch.written(checkpoint, began, handle.size)
        self._post({"do": "written", "checkpoint": checkpoint, "handle": handle})

    def keep(self, handle: StateHandle) -> None:
        """Remember what the acknowledgement will tell."""
        self._handles[handle.checkpoint] = handle

    def handle_of(self, checkpoint: int) -> dict[str, Any]:
        """The handle as it travels, once."""
        return self._handles.pop(checkpoint).to_json()

    def discard(self, handle: StateHandle) -> None:
        """Delete what nobody will use."""
        self._storage_of(handle.checkpoint).discard_state(handle)

    def close(self) -> None:
        """Finish what is being written, and begin nothing."""
        self._thread.shutdown(wait=True, cancel_futures=True)
