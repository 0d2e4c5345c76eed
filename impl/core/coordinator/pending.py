"""One checkpoint between its start and its end: who has acknowledged, and with what.

Rules: COORD-04 (everybody in the plan is awaited), COORD-05 (an acknowledgement counts once), COORD-07 (the
last one completes). Operator coordinators and master hooks take their part first, in the master phase;
tasks are triggered behind it. It knows nothing of other checkpoints; the coordinator ends it, once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum

from impl.core.coordinator.events import AcknowledgeResult
from impl.core.coordinator.job import Plan
from impl.core.coordinator.requests import Request
from impl.core.errors import ProtocolError
from impl.core.events import CheckpointType


class PendingPhase(Enum):
    """How far the checkpoint has come."""

    COORDINATORS = "operator coordinators take their part"
    HOOKS = "master hooks take their part"
    TASKS = "tasks are triggered"
    COMPLETED = "completed"
    ABORTED = "aborted"


_MASTER = (PendingPhase.COORDINATORS, PendingPhase.HOOKS)
_ENDED = (PendingPhase.COMPLETED, PendingPhase.ABORTED)


class OutlivedPhase:
    """A master phase whose checkpoint was aborted: it lasts until all coordinators or one hook answered."""

    def __init__(self, checkpoint: int, of_hooks: bool, awaited: Iterable[str]) -> None:
        self.checkpoint = checkpoint
        self._of_hooks = of_hooks
        self._awaited = set(awaited)

    def answer(self, name: str, of_hook: bool, *, fails: bool) -> bool:
        """Somebody answers; whether the phase is over now."""
        if of_hook is not self._of_hooks or name not in self._awaited:
            return False
        self._awaited.discard(name)
        return fails or of_hook or not self._awaited


class PendingCheckpoint:
    """The acknowledgements of one checkpoint. `deadline`: virtual ms at which it expires (COORD-10)."""

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
        self._states: dict[str, object] = {}
        self._shared: dict[str, tuple[str, ...]] = {}

    @property
    def phase(self) -> PendingPhase:
        """How far the checkpoint has come."""
        return self._phase

    @property
    def in_master_phase(self) -> bool:
        """Whether its tasks are not triggered yet."""
        return self._phase in _MASTER

    @property
    def is_savepoint(self) -> bool:
        """Whether it belongs to its user: a savepoint, or one that stops the job."""
        return self.type is not CheckpointType.CHECKPOINT

    @property
    def awaited(self) -> tuple[str, ...]:
        """The tasks that have not acknowledged yet, in the order of the job's tasks."""
        return tuple(task for task in self.plan.tasks if task in self._awaited)

    @property
    def awaited_coordinators(self) -> Collection[str]:
        """The operator coordinators that have not taken their part yet."""
        return self._coordinators if self._phase is PendingPhase.COORDINATORS else ()

    @property
    def awaited_hooks(self) -> Collection[str]:
        """The master hooks that were asked and have not taken their part yet."""
        return self._hooks if self._phase is PendingPhase.HOOKS else ()

    @property
    def fully_acknowledged(self) -> bool:
        """Whether nobody is awaited any more (COORD-07)."""
        return not self._awaited and self._phase is PendingPhase.TASKS

    @property
    def states(self) -> Mapping[str, object]:
        """The handles acknowledged so far, by task in the order of the job's tasks; none for no state."""
        return {task: self._states[task] for task in self.plan.tasks if task in self._states}

    def brought_by(self, task: str) -> tuple[object, tuple[str, ...]]:
        """What `task` acknowledged: its handle, None without one, and its shared handles."""
        return self._states.get(task), self._shared.get(task, ())

    @property
    def shared(self) -> tuple[str, ...]:
        """The shared handles acknowledged so far, by task in the order of the job's tasks."""
        return tuple(handle for task in self.plan.tasks for handle in self._shared.get(task, ()))

    def acknowledge(self, task: str, state: object, shared: tuple[str, ...] = ()) -> AcknowledgeResult:
        """A task acknowledges; only the first time counts, and only a task of the plan (COORD-05)."""
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
        """Nobody in it is awaited any more."""
        self._require_pending()
        self._phase = PendingPhase.TASKS

    def next_phase(self) -> PendingPhase:
        """Go on as far as nobody is awaited; answers the phase that it is in now."""
        if self._phase is PendingPhase.COORDINATORS and not self._coordinators:
            self._phase = PendingPhase.HOOKS
        if self._phase is PendingPhase.HOOKS and not self._hooks:
            self._phase = PendingPhase.TASKS
        return self._phase

    def complete(self) -> None:
        """The checkpoint ends well."""
        self._require_pending()
        if not self.fully_acknowledged:
            raise ProtocolError(
                f"checkpoint {self.checkpoint} completes when all have acknowledged, but "
                f"{list(self.awaited)} and perhaps others have not; wait for them or abort it"
            )
        self._phase = PendingPhase.COMPLETED

    def abort(self) -> OutlivedPhase | None:
        """The checkpoint ends without completing; answers what is left of a master phase."""
        self._require_pending()
        before, self._phase = self._phase, PendingPhase.ABORTED
        if before not in _MASTER:
            return None
        of_hooks = before is PendingPhase.HOOKS
        return OutlivedPhase(self.checkpoint, of_hooks, self._hooks if of_hooks else self._coordinators)

    def _require_pending(self) -> None:
        if self._phase in _ENDED:
            raise ProtocolError(
                f"checkpoint {self.checkpoint} has ended ({self._phase.value}) and ends once; start another"
            )
