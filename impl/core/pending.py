"""One checkpoint between its trigger and its end: who has acknowledged, and with what.

Rules: COORD-04 (every task is awaited), COORD-05 (an acknowledgement counts once), COORD-07 (the last one
completes). It knows nothing of other checkpoints; the coordinator ends it, once.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from impl.core.effects import AcknowledgeResult
from impl.core.errors import ProtocolError
from impl.core.events import CheckpointType


class PendingPhase(Enum):
    """How far the checkpoint has come."""

    PENDING = "pending"
    COMPLETED = "completed"
    ABORTED = "aborted"


class PendingCheckpoint:
    """The acknowledgements of one checkpoint. `deadline`: virtual ms at which it expires (COORD-10)."""

    def __init__(
        self, checkpoint: int, requested: CheckpointType, tasks: Sequence[str], deadline: int
    ) -> None:
        self.checkpoint = checkpoint
        self.type = requested
        self.deadline = deadline
        self._phase = PendingPhase.PENDING
        self._tasks = tuple(tasks)
        self._awaited = set(tasks)
        self._states: dict[str, object] = {}

    @property
    def phase(self) -> PendingPhase:
        """How far the checkpoint has come."""
        return self._phase

    @property
    def awaited(self) -> tuple[str, ...]:
        """The tasks that have not acknowledged yet, in the order of the job's tasks."""
        return tuple(task for task in self._tasks if task in self._awaited)

    @property
    def fully_acknowledged(self) -> bool:
        """Whether no task is awaited any more (COORD-07)."""
        return not self._awaited

    @property
    def can_be_subsumed(self) -> bool:
        """A savepoint belongs to its user and outlives the completion of a newer checkpoint (SUB-04)."""
        return self.type is CheckpointType.CHECKPOINT

    @property
    def states(self) -> Mapping[str, object]:
        """The handles acknowledged so far, by task in the order of the job's tasks; none for no state."""
        return {task: self._states[task] for task in self._tasks if task in self._states}

    def acknowledge(self, task: str, state: object) -> AcknowledgeResult:
        """A task acknowledges; only the first time counts, and only a task of the plan (COORD-05)."""
        self._require_pending()
        if task in self._awaited:
            self._awaited.remove(task)
            if state is not None:
                self._states[task] = state
            return AcknowledgeResult.SUCCESS
        return AcknowledgeResult.DUPLICATE if task in self._tasks else AcknowledgeResult.UNKNOWN

    def complete(self) -> None:
        """The checkpoint ends well."""
        self._require_pending()
        if self._awaited:
            raise ProtocolError(
                f"checkpoint {self.checkpoint} completes when all tasks have acknowledged, but "
                f"{list(self.awaited)} have not; wait for them or abort it"
            )
        self._phase = PendingPhase.COMPLETED

    def abort(self) -> None:
        """The checkpoint ends without completing."""
        self._require_pending()
        self._phase = PendingPhase.ABORTED

    def _require_pending(self) -> None:
        if self._phase is not PendingPhase.PENDING:
            raise ProtocolError(
                f"checkpoint {self.checkpoint} has ended ({self._phase.value}) and ends once; start another"
            )
