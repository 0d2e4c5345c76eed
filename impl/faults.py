"""Faults for tests and demonstrations: each strikes at a named point of the protocol, never at a time.

A plan names the point, perhaps the task, how many passages of that task through the point go by first,
and what then happens. A fault strikes once in a job: the task asks the driver for leave, which is given
to one task once, so that the attempt that follows runs undisturbed. Leave and strike are in the log.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from impl.config import ConfigError

ALIGNMENT_IN_PROGRESS = "alignment-in-progress"
SNAPSHOT_WRITTEN = "snapshot-written"
ACKNOWLEDGEMENT_SENT = "acknowledgement-sent"
COMPLETION_STORED = "completion-stored"
NOTIFICATION_RECEIVED = "notification-received"

POINTS = {
    ALIGNMENT_IN_PROGRESS: "a barrier has come on one channel of a gate and others are awaited",
    SNAPSHOT_WRITTEN: "the snapshot of a subtask is durable, and nobody knows it yet",
    ACKNOWLEDGEMENT_SENT: "the subtask has acknowledged a checkpoint that is not complete yet",
    COMPLETION_STORED: "the checkpoint is published, and no task has been told",
    NOTIFICATION_RECEIVED: "the subtask has been told, and has committed nothing yet",
}

SIGKILL = "sigkill"
ERROR = "error"
HANG = "hang"
ACTIONS = (SIGKILL, ERROR, HANG)


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault: at the `occurrence`-th passage of a matching task through `point`, `action` happens.

    `task` is a task's id (`count-1`), the name of an operator (`count`: whichever of its subtasks comes
    first), or None for any task. At `completion-stored`, which the driver passes, it names who is struck,
    and None means every sink. `sigkill` ends the worker's process, `error` raises in the subtask, and
    `hang` stops the worker's process (SIGSTOP), which only a missed heartbeat finds. Passages are counted
    by each worker from 1 in each attempt, at the driver from 1 in each job.
    """

    point: str
    task: str | None = None
    occurrence: int = 1
    action: str = SIGKILL

    def __post_init__(self) -> None:
        if self.point not in POINTS:
            raise ConfigError(f"no fault strikes at {self.point!r}; the points are {', '.join(POINTS)}")
        if self.action not in ACTIONS:
            raise ConfigError(f"no fault does {self.action!r}; the actions are {', '.join(ACTIONS)}")
        if self.occurrence < 1:
            raise ConfigError(f"the first passage is occurrence 1, not {self.occurrence}")

    def concerns(self, task: str) -> bool:
        """Whether this fault may strike `task`."""
        return self.task is None or task in (self.task, f"{self.task}-{task.rpartition('-')[2]}")

    def as_dict(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        return asdict(self)


class Passages:
    """Counts how often one process has passed each point, and names the fault that is due."""

    def __init__(self, plans: Iterable[tuple[int, FaultPlan]]) -> None:
        self._plans = tuple(plans)
        self._count: Counter[str] = Counter()

    def due(self, point: str) -> tuple[int, FaultPlan] | None:
        """Pass `point` once more; the number and plan of the fault that this passage calls for, if any."""
        if not self._plans:
            return None
        self._count[point] += 1
        for number, plan in self._plans:
            if plan.point == point and plan.occurrence == self._count[point]:
                return number, plan
        return None


class FaultLedger:
    """The driver's record of which faults have struck: leave is given once for each (number of a plan)."""

    def __init__(self, plans: Iterable[FaultPlan]) -> None:
        self.plans = tuple(plans)
        self.struck: list[int] = []

    def claim(self, number: int) -> bool:
        """Whether plan `number` may strike now; a second claim of it is refused."""
        if number in self.struck:
            return False
        self.struck.append(number)
        return True

    def left(self) -> list[tuple[int, FaultPlan]]:
        """The plans that have not struck yet, with their numbers."""
        return [(number, plan) for number, plan in enumerate(self.plans) if number not in self.struck]
