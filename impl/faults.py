"""Planned faults, for tests and demonstrations: each happens at a point of the protocol, never at a time.

A plan names the point, perhaps the task, how often that task has to reach the point, and what happens then.
A fault happens once in a job: the task requests it from the driver, which consents once, so that the next
attempt runs undisturbed. The event log has each fault.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeAlias

from impl.config import ConfigError


class _Word(StrEnum):
    """A word of a plan, and its meaning."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        made = str.__new__(cls, word)
        made._value_, made.meaning = word, meaning
        return made


class Point(_Word):
    """A point of the protocol at which faults happen."""

    BARRIER_DUE = "barrier-due", "the subtask is about to send its barrier, nothing of the checkpoint is done"
    BARRIER_SENT = "barrier-sent", "the barrier is sent, and the snapshot not taken"
    FIRST_BARRIER_CAME = (
        "first-barrier-came",
        "the first barrier of a checkpoint has come, and the gate has not read it",
    )
    ALIGNMENT_IN_PROGRESS = (
        "alignment-in-progress",
        "a barrier has come on one channel of a gate and others are awaited",
    )
    LAST_BARRIER_CAME = (
        "last-barrier-came",
        "the last barrier of a checkpoint has come, and the gate has not read it",
    )
    ALIGNED = "aligned", "the gate has all barriers, and the snapshot is taken and not written"
    SNAPSHOT_DUE = "snapshot-due", "the snapshot of a subtask is taken, and nothing of it is on disk"
    SNAPSHOT_WRITTEN = "snapshot-written", "the snapshot of a subtask is durable, and not acknowledged"
    ACKNOWLEDGEMENT_DUE = "acknowledgement-due", "the subtask is about to acknowledge"
    ACKNOWLEDGEMENT_SENT = (
        "acknowledgement-sent",
        "the subtask has acknowledged a checkpoint that is not complete yet",
    )
    COMPLETION_DUE = (
        "completion-due",
        "the driver has every acknowledgement, and the checkpoint is not published",
    )
    COMPLETION_STORED = "completion-stored", "the checkpoint is published, and no task is notified"
    NOTIFICATION_RECEIVED = (
        "notification-received",
        "the subtask is notified of a completion, and has committed nothing",
    )
    NOTIFICATION_HANDLED = "notification-handled", "the subtask has handled the notification"
    PRE_COMMIT_DUE = "pre-commit-due", "a sink is about to pre-commit"
    PRE_COMMITTED = "pre-committed", "a sink has pre-committed, and its snapshot is not written"
    COMMIT_DUE = "commit-due", "a sink is about to commit"
    COMMITTED = "committed", "a sink has committed"
    RESTORE_DUE = "restore-due", "a subtask of a new attempt has not read its state"
    RESTORED = "restored", "a subtask has restored its state, and does not run"
    RESTART = "restart", "an attempt has failed, and the checkpoint to restore is not chosen"


class Action(_Word):
    """What a fault does."""

    SIGKILL = "sigkill", "the worker's process is killed"
    ERROR = "error", "the subtask raises an error"
    HANG = "hang", "the worker's process is stopped (SIGSTOP), which only a missed heartbeat shows"
    LOST_CHANNEL = "lost-channel", "the sockets between the subtask and its neighbours are cut"
    LOST_CONTROL = "lost-control", "the socket between the subtask and the driver is cut"
    FULL_DISK = "full-disk", "no byte can be written to a file"
    KILL_EXECUTOR = "kill-executor", "the executor that runs the worker is killed; not in local mode"
    KILL_DRIVER = "kill-driver", "the driver's process is killed"
    KILL_SERVER = "kill-server", "the PostgreSQL server of the sinks is killed, and has to be started again"
    FREEZE = "freeze", "the driver and all its children are stopped (SIGSTOP) until they get SIGCONT"
    TORN_SNAPSHOT = "torn-snapshot", "a file of the newest checkpoint loses its second half"
    BIT_FLIP = "bit-flip", "one bit in a file of the newest checkpoint is flipped"


POINTS = {one.value: one.meaning for one in Point}
ACTIONS = {one.value: one.meaning for one in Action}
SINK_POINTS = (Point.PRE_COMMIT_DUE, Point.PRE_COMMITTED, Point.COMMIT_DUE, Point.COMMITTED)
GATE_POINTS = (Point.FIRST_BARRIER_CAME, Point.ALIGNMENT_IN_PROGRESS, Point.LAST_BARRIER_CAME, Point.ALIGNED)
"""Points that a source never reaches."""
DAMAGE = (Action.TORN_SNAPSHOT, Action.BIT_FLIP)
DISK_POINTS = (Point.SNAPSHOT_DUE, Point.PRE_COMMIT_DUE, Point.COMPLETION_DUE)
"""Points before a file is written."""
SERVER_POINTS = (
    *SINK_POINTS,
    Point.SNAPSHOT_WRITTEN,
    Point.COMPLETION_DUE,
    Point.COMPLETION_STORED,
    Point.NOTIFICATION_RECEIVED,
    Point.RESTORE_DUE,
    Point.RESTORED,
)
"""Points around the preparation of a transaction, its commit, and a restore that commits it."""


def actions_at(point: str) -> tuple[str, ...]:
    """The actions that can happen at a point."""
    if point == Point.RESTART:
        return (*DAMAGE, Action.KILL_DRIVER, Action.FREEZE)
    disk = (Action.FULL_DISK,) if point in DISK_POINTS else ()
    server = (Action.KILL_SERVER,) if point in SERVER_POINTS else ()
    signals = (Action.SIGKILL, Action.ERROR, Action.HANG)
    return (
        *signals,
        Action.LOST_CHANNEL,
        Action.LOST_CONTROL,
        *disk,
        Action.KILL_EXECUTOR,
        Action.KILL_DRIVER,
        *server,
        Action.FREEZE,
    )


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault: when a matching task reaches `point` for the `occurrence`-th time, `action` happens to it.

    `task` is a task's id (`count-1`), the name of an operator (`count`: the first of its subtasks that
    reaches the point), or None for any task. At points that the driver reaches it names the tasks to which
    the action happens, and None stands for every sink. Each worker counts from 1 in each attempt, the driver
    from 1 in each job. Raises `ConfigError` for a point, an action or an occurrence that does not exist.
    """

    point: str
    task: str | None = None
    occurrence: int = 1
    action: str = Action.SIGKILL

    def __post_init__(self) -> None:
        if self.point not in POINTS:
            raise ConfigError(f"no fault happens at {self.point!r}; the points are {', '.join(POINTS)}")
        if self.action not in ACTIONS:
            raise ConfigError(f"no fault does {self.action!r}; the actions are {', '.join(ACTIONS)}")
        if self.action not in actions_at(self.point):
            raise ConfigError(
                f"{self.action} does not happen at {self.point}, but {', '.join(actions_at(self.point))}"
            )
        if self.occurrence < 1:
            raise ConfigError(f"occurrence counts from 1, got {self.occurrence}")

    def concerns(self, task: str) -> bool:
        """Whether this fault may happen to `task`."""
        return self.task is None or task in (self.task, f"{self.task}-{task.rpartition('-')[2]}")

    def as_dict(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        return asdict(self)


NumberedFault: TypeAlias = tuple[int, FaultPlan]
"""A fault and its position in the plan of the job."""


class Schedule:
    """Counts how often one process has reached each point, and returns the fault that is due."""

    def __init__(self, faults: Iterable[NumberedFault]) -> None:
        self._faults = tuple(faults)
        self._count: Counter[str] = Counter()

    def reach(self, point: str) -> NumberedFault | None:
        """Count `point` once more; the fault that is due now, None if there is none."""
        self._count[point] += 1
        for number, plan in self._faults:
            if plan.point == point and plan.occurrence == self._count[point]:
                return number, plan
        return None


class FaultLedger:
    """The driver's record of the faults that have happened: it consents once to each.

    `record`: a file with the numbers of the faults that happened before this driver; None for none.
    """

    def __init__(self, plans: Iterable[FaultPlan], record: Path | None = None) -> None:
        self.plans = tuple(plans)
        self._record = record
        self._happened: list[int] = []
        if record is not None and record.exists():
            self._happened.extend(int(line) for line in record.read_text().split())

    def claim(self, number: int) -> bool:
        """Whether fault `number` may happen now; a second claim of it is refused."""
        if number in self._happened:
            return False
        self._happened.append(number)
        if self._record is not None:
            with self._record.open("a") as record:
                record.write(f"{number}\n")
        return True

    @property
    def happened(self) -> tuple[FaultPlan, ...]:
        """The faults that have happened, in their order."""
        return tuple(self.plans[number] for number in self._happened)

    def left(self) -> tuple[NumberedFault, ...]:
        """The faults that have not happened."""
        return tuple(one for one in enumerate(self.plans) if one[0] not in self._happened)
