"""One pending checkpoint: its master phase, and the acknowledgements that it has collected.

Rules: COORD-04 (every task of the plan is awaited), COORD-05 (an acknowledgement counts once), COORD-07 (the
last one completes the checkpoint). In the master phase operator coordinators and then hooks take their part;
after it the tasks are triggered.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum

from impl.core.coordinator.events import AcknowledgeResult
from impl.core.coordinator.job import Plan
from impl.core.coordinator.requests import Request
from impl.core.errors import ProtocolError
from impl.core.events import CheckpointType


class PendingPhase(Enum):
    """The phase of the checkpoint."""

    COORDINATORS = "operator coordinators take their part"
    HOOKS = "master hooks take their part"
    TASKS = "tasks are triggered"
    COMPLETED = "completed"
    ABORTED = "aborted"


_MASTER = (PendingPhase.COORDINATORS, PendingPhase.HOOKS)
_ENDED = (PendingPhase.COMPLETED, PendingPhase.ABORTED)


class OrphanedMasterPhase:
    """The master phase of an aborted checkpoint, up to 1.15.

    It lasts until all operator coordinators or one hook have answered, or one of them has failed.
    """

    def __init__(self, checkpoint: int, of_hooks: bool, awaited: Iterable[str]) -> None:
        self.checkpoint = checkpoint
        self._of_hooks = of_hooks
        self._awaited = set(awaited)

    def answer(self, name: str, of_hook: bool, *, fails: bool) -> bool:
        """An operator coordinator or hook answers; returns whether the phase is over."""
        if of_hook is not self._of_hooks or name not in self._awaited:
            return False
        self._awaited.discard(name)
        return fails or of_hook or not self._awaited


class PendingCheckpoint:
    """One pending checkpoint. `deadline`: virtual milliseconds at which it expires (COORD-10)."""

    def __init__(
        self,
        checkpoint: int,
        request: Request,
        plan: Plan,
        deadline: int,
        coordinators: Sequence[str] = (),
        hooks: Sequence[str] = (),
    ) -> None:
        self.checkpoint = checkpoint
        self.type = request.type
        self.forced = request.forced
        self.plan = plan
        self.deadline = deadline
        self._phase = PendingPhase.COORDINATORS
        self._tasks = frozenset(plan.tasks)
        self._awaited = set(plan.tasks)
        self._coordinators = set(coordinators)
        self._hooks = set(hooks)
        self._has_coordinators = bool(coordinators)
        self._states: dict[str, object] = {}
        self._shared: dict[str, tuple[str, ...]] = {}

    @property
    def phase(self) -> PendingPhase:
        """The phase of the checkpoint."""
        return self._phase

    @property
    def in_master_phase(self) -> bool:
        """Whether an operator coordinator or hook is awaited."""
        return self._phase in _MASTER

    @property
    def is_savepoint(self) -> bool:
        """Whether it is a savepoint or a stop-with-savepoint."""
        return self.type is not CheckpointType.CHECKPOINT

    @property
    def awaited(self) -> tuple[str, ...]:
        """The tasks that have not acknowledged, in the order of the job's tasks."""
        return tuple(task for task in self.plan.tasks if task in self._awaited)

    @property
    def awaited_coordinators(self) -> Collection[str]:
        """The operator coordinators that have not answered."""
        return self._coordinators if self._phase is PendingPhase.COORDINATORS else ()

    @property
    def awaited_hooks(self) -> Collection[str]:
        """The triggered hooks that have not answered."""
        return self._hooks if self._phase is PendingPhase.HOOKS else ()

    @property
    def fully_acknowledged(self) -> bool:
        """Whether the master phase is over and every task has acknowledged (COORD-07)."""
        return not self._awaited and self._phase is PendingPhase.TASKS

    @property
    def states(self) -> Mapping[str, object]:
        """The acknowledged handles by task, in the order of the job's tasks; None handles are left out."""
        return {task: self._states[task] for task in self.plan.tasks if task in self._states}

    @property
    def has_collected(self) -> bool:
        """Whether a task has acknowledged state or shared files, or all operator coordinators are done."""
        of_coordinators = self._has_coordinators and not self._coordinators
        return bool(self._states or self._shared) or of_coordinators

    def acknowledged_by(self, task: str) -> tuple[object, tuple[str, ...]]:
        """The handle that `task` has acknowledged (None: no handle), and its shared handles."""
        return self._states.get(task), self._shared.get(task, ())

    @property
    def shared(self) -> tuple[str, ...]:
        """The acknowledged shared handles, in the order of the job's tasks."""
        return tuple(handle for task in self.plan.tasks for handle in self._shared.get(task, ()))

    def acknowledge(self, task: str, state: object, shared: tuple[str, ...] = ()) -> AcknowledgeResult:
        """A task acknowledges; only the first acknowledgement of a task of the plan counts (COORD-05)."""
        self._require_pending()
        if task in self._awaited:
            self._awaited.remove(task)
            if state is not None:
                self._states[task] = state
            if shared:
                self._shared[task] = shared
            return AcknowledgeResult.SUCCESS
        return AcknowledgeResult.DUPLICATE if task in self._tasks else AcknowledgeResult.UNKNOWN

    def coordinator_done(self, name: str) -> None:
        """An operator coordinator has taken its part."""
        self._coordinators.discard(name)

    def hook_done(self, name: str) -> None:
        """A master hook has taken its part."""
        self._hooks.discard(name)

    def skip_master_phase(self) -> None:
        """End the master phase without further answers."""
        self._require_pending()
        self._phase = PendingPhase.TASKS

    def next_phase(self) -> PendingPhase:
        """Move to the first phase that awaits an answer, or else to `TASKS`; returns the new phase."""
        if self._phase is PendingPhase.COORDINATORS and not self._coordinators:
            self._phase = PendingPhase.HOOKS
        if self._phase is PendingPhase.HOOKS and not self._hooks:
            self._phase = PendingPhase.TASKS
        return self._phase

    def complete(self) -> None:
        """The checkpoint completes. Raises ProtocolError if a task has not acknowledged."""
        self._require_pending()
        if not self.fully_acknowledged:
            raise ProtocolError(
                f"checkpoint {self.checkpoint} completes when its master phase is over and all tasks have "
                f"acknowledged, but it awaits {list(self.awaited)}; wait for them or abort it"
            )
        self._phase = PendingPhase.COMPLETED

    def abort(self) -> OrphanedMasterPhase | None:
        """The checkpoint is aborted; returns its master phase if that has not ended, else None."""
        self._require_pending()
        before, self._phase = self._phase, PendingPhase.ABORTED
        if before not in _MASTER:
            return None
        of_hooks = before is PendingPhase.HOOKS
        return OrphanedMasterPhase(self.checkpoint, of_hooks, self._hooks if of_hooks else self._coordinators)

    def _require_pending(self) -> None:
        if self._phase in _ENDED:
            raise ProtocolError(
                f"checkpoint {self.checkpoint} has ended ({self._phase.value}) and ends once; start "
                "another checkpoint"
            )
