"""Publishes and deletes checkpoints in the checkpoint folder, and savepoints in folders of their own."""

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
        """Checkpoints that may be complete: a newer driver may have found them, so their files stay."""

    def publish(self, checkpoint: int, attempt: int, handles: Iterable[StateHandle]) -> None:
        """Make the checkpoint complete, from the handles of all tasks. Raises `StateError` if that fails.

        After an `UncertainPublicationError` this object deletes no file of the checkpoint. The next attempt
        finds it complete, or a sweep deletes its files.
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
        """Delete all files of aborted checkpoints; a task may have written one since."""
        for checkpoint in set(aborted) - self._uncertain:
            self._storage.discard(checkpoint)
            if self.savepoints.has(checkpoint):
                self.savepoints.clear(checkpoint)
