"""The data that outlives a coordinator: completed checkpoints, their durable copies and their shared state.

An addition may fail before the checkpoint is written, or after it, or it may be unknown whether it was
written. A new coordinator finds each checkpoint that was written. Rules: SUB-06 to SUB-09, COORD-20 to
COORD-22.
"""

from collections.abc import Iterable, Sequence

from impl.core.coordinator.events import CoordinatorEffect, DiscardCheckpoint, DiscardState, StoreFailure
from impl.core.coordinator.profiles import CoordinatorProfile
from impl.core.events import CheckpointType
from impl.core.store.shared_state import SharedStates, shared_states
from impl.core.store.store import Completed, CompletedCheckpointStore


class RetainedCheckpoints:
    """The completed checkpoints of a job. `kept`: those of an earlier coordinator, oldest first.

    `savepoint`: the savepoint from which the job starts; it has no shared state. `keeps_older`: a shared file
    is never deleted if the first checkpoint that used it has an id up to the savepoint's.
    A method that returns effects deletes no file; the effects name the files to delete.
    """

    def __init__(
        self,
        retain: int,
        profile: CoordinatorProfile,
        kept: Iterable[Completed] = (),
        *,
        savepoint: Completed | None = None,
        keeps_older: bool = False,
    ) -> None:
        self._retain = retain
        self._profile = profile
        self._next_failure: StoreFailure | None = None
        self._durable = {one.checkpoint: one for one in kept}
        self.take_over()
        if savepoint is not None:
            self.add(savepoint)
            self._shared = shared_states(profile, self._durable if keeps_older else ())

    @property
    def completed(self) -> tuple[int, ...]:
        """The retained ids, in the order of addition."""
        return self._store.completed

    @property
    def newest(self) -> int | None:
        """The id added last; None if no checkpoint is retained."""
        return self._store.newest

    @property
    def shared(self) -> SharedStates:
        """The registry of shared state."""
        return self._shared

    def take_over(self) -> None:
        """A new coordinator retains the durable checkpoints, ascending by id (COORD-22)."""
        kept = [self._durable[checkpoint] for checkpoint in sorted(self._durable)]
        self._store = CompletedCheckpointStore(self._retain, self._profile, kept)
        self._shared = shared_states(self._profile, self._durable)
        for one in kept:
            self._shared.acknowledged(one.checkpoint, one.shared)
            self._shared.completed(one.checkpoint, one.shared)

    def register_anew(self) -> None:
        """Reduce the registry to the shared state of the retained checkpoints."""
        self._shared.keep_only(self._store.completed)

    def fail_next(self, when: StoreFailure) -> None:
        """The next addition will fail."""
        self._next_failure = when

    def take_failure(self, completed: Completed) -> StoreFailure | None:
        """The kind of failure if the addition of `completed` fails, else None.

        After a failure `completed` may be durable, but is not retained.
        """
        failure, self._next_failure = self._next_failure, None
        if failure in (StoreFailure.AFTER, StoreFailure.MAYBE):
            self._durable[completed.checkpoint] = completed
        return failure

    def add(self, completed: Completed) -> tuple[Completed, ...]:
        """Retain `completed`; returns the dropped checkpoints, in the order of their addition."""
        self._durable[completed.checkpoint] = completed
        dropped = self._store.put(completed)
        for one in dropped:
            del self._durable[one.checkpoint]
        return tuple(dropped)

    def discard_unstored(self, completed: Completed, failure: StoreFailure) -> list[CoordinatorEffect]:
        """The deletions after the addition of `completed` has failed (COORD-21)."""
        if failure is StoreFailure.MAYBE and self._profile.keeps_possibly_stored:
            return []
        return self._deletion(completed)

    def deletions(self, dropped: Sequence[Completed]) -> list[CoordinatorEffect]:
        """The deletions for the checkpoints that an addition has dropped; savepoints stay (SUB-09)."""
        users = [one.checkpoint for one in self._store.elements if one.type is CheckpointType.CHECKPOINT]
        return [*self._deletions(dropped), *self._sweep(users)]

    def end(self, *, delete: bool, suspended: bool) -> list[CoordinatorEffect]:
        """The job has ended. `delete`: its checkpoints are deleted, but no savepoint.

        `suspended`: the durable checkpoints stay for the next coordinator, and so does all shared state.
        """
        kept = self._store.elements
        self._store = CompletedCheckpointStore(self._retain, self._profile)
        if not suspended:
            self._durable.clear()
        effects = self._deletions(kept) if delete else []
        if suspended:
            return effects
        left = [one for one in kept if not delete or one.type is not CheckpointType.CHECKPOINT]
        return [*effects, *self._sweep([one.checkpoint for one in left])]

    def _deletions(self, dropped: Sequence[Completed]) -> list[CoordinatorEffect]:
        checkpoints = [one for one in dropped if one.type is CheckpointType.CHECKPOINT]
        return [effect for one in checkpoints for effect in self._deletion(one)]

    def _deletion(self, completed: Completed) -> list[CoordinatorEffect]:
        released = self._shared.released(completed.checkpoint, completed.shared)
        return [DiscardCheckpoint(completed.checkpoint), *(DiscardState(handle) for handle in released)]

    def _sweep(self, kept: Sequence[int]) -> list[CoordinatorEffect]:
        return [DiscardState(handle) for handle in self._shared.swept(kept)]
