"""What outlives a coordinator: the completed checkpoints, their durable copies and their shared state.

An addition may fail before anything was written, after it was, or so that nobody can tell; what was written
is found by whoever takes over. Rules: SUB-06 to SUB-09. Says what to delete, deletes nothing.
"""

from collections.abc import Iterable, Sequence

from impl.core.coordinator.events import CoordinatorEffect, DiscardCheckpoint, DiscardState, StoreFailure
from impl.core.coordinator.profiles import CoordinatorGeneration
from impl.core.events import CheckpointType
from impl.core.store.shared_state import SharedStates, shared_states
from impl.core.store.store import Completed, CompletedCheckpointStore


class Retained:
    """The checkpoints to restore from. `kept`: those of a job that is taken over, oldest first."""

    def __init__(
        self, retain: int, generation: CoordinatorGeneration, kept: Iterable[Completed] = ()
    ) -> None:
        self._retain = retain
        self._generation = generation
        self._armed: StoreFailure | None = None
        self._durable = {one.checkpoint: one for one in kept}
        self.take_over()

    @property
    def completed(self) -> tuple[int, ...]:
        """The retained ids, in the order of adding."""
        return self._store.completed

    @property
    def newest(self) -> int | None:
        """The id added last, None if nothing is retained."""
        return self._store.newest

    @property
    def shared(self) -> SharedStates:
        """The registry of shared state."""
        return self._shared

    def take_over(self) -> None:
        """A new coordinator finds what is durable, ascending by id."""
        kept = [self._durable[checkpoint] for checkpoint in sorted(self._durable)]
        self._store = CompletedCheckpointStore(self._retain, self._generation, kept)
        self._shared = shared_states(self._generation, self._durable)
        for one in kept:
            self._shared.acknowledged(one.checkpoint, one.shared)
            self._shared.completed(one.checkpoint, one.shared)

    def register_anew(self) -> None:
        """Only what the retained ones use is known from now on."""
        self._shared.keep_only(self._store.completed)

    def fail_next(self, when: StoreFailure) -> None:
        """The next addition will fail."""
        self._armed = when

    def fails_now(self, completed: Completed) -> StoreFailure | None:
        """Whether adding `completed` fails; written or not, it is not retained then."""
        failure, self._armed = self._armed, None
        if failure in (StoreFailure.AFTER, StoreFailure.MAYBE):
            self._durable[completed.checkpoint] = completed
        return failure

    def add(self, completed: Completed) -> tuple[Completed, ...]:
        """`completed` is retained; answers what no longer is, in the order of the list."""
        self._durable[completed.checkpoint] = completed
        dropped = self._store.put(completed)
        for one in dropped:
            del self._durable[one.checkpoint]
        return tuple(dropped)

    def given_up(self, completed: Completed, failure: StoreFailure) -> list[CoordinatorEffect]:
        """What is deleted because adding `completed` failed."""
        if failure is StoreFailure.MAYBE and self._generation.keeps_what_may_be_stored:
            return []
        return self._deletion(completed)

    def deletions(self, dropped: Sequence[Completed]) -> list[CoordinatorEffect]:
        """What is deleted by an addition for which `dropped` are retained no longer."""
        checkpoints = [one for one in dropped if one.type is CheckpointType.CHECKPOINT]
        effects = [effect for one in checkpoints for effect in self._deletion(one)]  # SUB-09
        return effects + [DiscardState(handle) for handle in self._shared.swept(self._store.completed)]

    def end(self, *, delete: bool, suspended: bool) -> list[CoordinatorEffect]:
        """The job has ended, and with `delete` its checkpoints go.

        Only what a `suspended` job has made durable stays for the next coordinator. Shared state goes as
        soon as no checkpoint that stays may use it.
        """
        kept = self._store.elements
        self._store = CompletedCheckpointStore(self._retain, self._generation)
        if not suspended:
            self._durable.clear()
        deleted = [one for one in kept if delete and one.type is CheckpointType.CHECKPOINT]
        effects = [effect for one in deleted for effect in self._deletion(one)]
        if suspended:
            return effects
        stay = [one.checkpoint for one in kept if one not in deleted]
        return effects + [DiscardState(handle) for handle in self._shared.swept(stay)]

    def _deletion(self, completed: Completed) -> list[CoordinatorEffect]:
        released = self._shared.released(completed.checkpoint, completed.shared)
        return [DiscardCheckpoint(completed.checkpoint), *(DiscardState(handle) for handle in released)]
