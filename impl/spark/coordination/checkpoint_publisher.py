"""Publishes and deletes checkpoints in the checkpoint folder, and savepoints in their own folders."""

from collections.abc import Iterable

from impl.spark.savepoints.job_savepoints import Savepoints
from impl.state import CheckpointStorage, StateHandle, UncertainPublicationError


class CheckpointPublisher:
    """Publishes and deletes the checkpoints and savepoints of one job, for its coordinator."""

    def __init__(self, storage: CheckpointStorage, savepoints: Savepoints, max_parallelism: int) -> None:
        self._storage = storage
        self.savepoints = savepoints
        self._max_parallelism = max_parallelism
        self._uncertain: set[int] = set()
        """Checkpoints that may be complete. Their files stay, because a newer driver may restore them."""

    def publish(self, checkpoint: int, attempt: int, handles: Iterable[StateHandle]) -> None:
        """Publish a checkpoint with the handles of all its tasks. Raises `StateError` if that fails.

        After an `UncertainPublicationError` this object deletes no file of the checkpoint. The next attempt
        finds the checkpoint complete, or a sweep deletes its files.
        """
        if self.savepoints.has(checkpoint):
            self.savepoints.publish(checkpoint, attempt, handles)
        else:
            try:
                self._storage.publish(checkpoint, attempt, handles, self._max_parallelism)
            except UncertainPublicationError:
                self._uncertain.add(checkpoint)
                raise

    def discard_state(self, handle: StateHandle) -> None:
        """Delete a task's snapshot that no checkpoint will use."""
        if self.savepoints.has(handle.checkpoint):
            self.savepoints.discard_state(handle)
        elif handle.checkpoint not in self._uncertain:
            self._storage.discard_state(handle)

    def clear(self, aborted: Iterable[int]) -> None:
        """Delete all files of aborted checkpoints, also files that tasks have written after the abort."""
        for checkpoint in set(aborted) - self._uncertain:
            self._storage.discard(checkpoint)
            if self.savepoints.has(checkpoint):
                self.savepoints.clear(checkpoint)
