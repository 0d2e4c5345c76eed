"""Where the parts of a checkpoint are: in the job's folder, or, of a savepoint, in a folder of its own."""

from collections.abc import Iterable

from impl.spark.savepoints.savepoints import Savepoints
from impl.state import CheckpointStorage, StateHandle


class SnapshotPlaces:
    """The checkpoints and savepoints of one job, as its coordinator completes and discards them."""

    def __init__(self, storage: CheckpointStorage, savepoints: Savepoints, max_parallelism: int) -> None:
        self._storage = storage
        self._savepoints = savepoints
        self._max_parallelism = max_parallelism

    def publish(self, checkpoint: int, attempt: int, handles: Iterable[StateHandle]) -> None:
        """Every task has handed in its part. Raises `StateError`s."""
        if self._savepoints.has(checkpoint):
            self._savepoints.publish(checkpoint, attempt, handles)
        else:
            self._storage.publish(checkpoint, attempt, handles, self._max_parallelism)

    def discard_state(self, handle: StateHandle) -> None:
        """A task's part that nobody will use."""
        if self._savepoints.has(handle.checkpoint):
            self._savepoints.discard_state(handle)
        else:
            self._storage.discard_state(handle)

    def clear(self, aborted: Iterable[int]) -> None:
        """Of checkpoints that were aborted nothing stays; a task may have written into one since."""
        for checkpoint in aborted:
            self._storage.discard(checkpoint)
            if self._savepoints.has(checkpoint):
                self._savepoints.clear(checkpoint)
