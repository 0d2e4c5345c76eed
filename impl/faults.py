"""Planned faults, for tests and demonstrations. Each happens at a *fault point* of the protocol.

A plan names the fault point and the action, and may name the task. It also states at which arrival of the
task at the fault point the fault happens: the first, the second, and so on. The task requests permission from
the driver before the fault happens, and the driver permits each fault once. So the fault does not happen
again in the next attempt. The event log records each fault.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeAlias

from impl.config import ConfigError


class _Word(StrEnum):
    """The name of a fault point or of an action. `meaning` explains it."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        made = str.__new__(cls, word)
        made._value_, made.meaning = word, meaning
        return made


class Point(_Word):
    """A fault point: a point of the protocol at which faults happen."""

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
    """An action: the failure that a planned fault injects."""

    SIGKILL = "sigkill", "the worker's process is killed"
    ERROR = "error", "the subtask raises an error"
    HANG = "hang", "the worker's process is stopped (SIGSTOP), which only a missed heartbeat shows"
    LOST_CHANNEL = "lost-channel", "the sockets between the subtask and its neighbours are cut"
    LOST_CONTROL = "lost-control", "the socket between the subtask and the driver is cut"
    FULL_DISK = "full-disk", "no byte can be written to a file"
    KILL_EXECUTOR = "kill-executor", "the executor that runs the worker is killed; not in local mode"
    KILL_HOST = (
        "kill-host",
        "the standalone worker of Spark is killed with all its processes, and must be started again",
    )
    KILL_DRIVER = "kill-driver", "the driver's process is killed"
    KILL_SERVER = "kill-server", "the PostgreSQL server of the sinks is killed, and must be started again"
    FREEZE = "freeze", "the driver and all its children are stopped (SIGSTOP) until they get SIGCONT"
    TORN_SNAPSHOT = "torn-snapshot", "a file of the newest checkpoint loses its second half"
    BIT_FLIP = "bit-flip", "one bit in a file of the newest checkpoint is flipped"
    CLOCK_FORWARD = (
        "clock-forward",
        "the wall clock of the worker jumps an hour ahead, until its attempt ends",
    )
    CLOCK_BACK = "clock-back", "the wall clock of the worker jumps an hour back, until its attempt ends"
    DRIVER_CLOCK_FORWARD = (
        "driver-clock-forward",
        "the wall clock of the driver jumps an hour ahead, until the job ends",
    )
    DRIVER_CLOCK_BACK = (
        "driver-clock-back",
        "the wall clock of the driver jumps an hour back, until the job ends",
    )


POINTS = {one.value: one.meaning for one in Point}
ACTIONS = {one.value: one.meaning for one in Action}
SINK_POINTS = (Point.PRE_COMMIT_DUE, Point.PRE_COMMITTED, Point.COMMIT_DUE, Point.COMMITTED)
GATE_POINTS = (Point.FIRST_BARRIER_CAME, Point.ALIGNMENT_IN_PROGRESS, Point.LAST_BARRIER_CAME, Point.ALIGNED)
"""Fault points at the gate of a task. A source never reaches them."""
DAMAGE = (Action.TORN_SNAPSHOT, Action.BIT_FLIP)
FORWARD = (Action.CLOCK_FORWARD, Action.DRIVER_CLOCK_FORWARD)
BACK = (Action.CLOCK_BACK, Action.DRIVER_CLOCK_BACK)
DRIVER_CLOCK = (Action.DRIVER_CLOCK_FORWARD, Action.DRIVER_CLOCK_BACK)
CLOCK = (*FORWARD, *BACK)
"""Jumps of a wall clock. The behaviour of a job must not depend on them."""
DISK_POINTS = (Point.SNAPSHOT_DUE, Point.PRE_COMMIT_DUE, Point.COMPLETION_DUE)
"""Fault points after which a file is written."""
SERVER_POINTS = (
    *SINK_POINTS,
    Point.SNAPSHOT_WRITTEN,
    Point.COMPLETION_DUE,
    Point.COMPLETION_STORED,
    Point.NOTIFICATION_RECEIVED,
    Point.RESTORE_DUE,
    Point.RESTORED,
)
"""Fault points before or after a transaction is prepared or committed, also by a restore."""


def actions_at(point: str) -> tuple[str, ...]:
    """The actions that a fault at `point` may have."""
    if point == Point.RESTART:
        return (*DAMAGE, Action.KILL_DRIVER, Action.FREEZE, *DRIVER_CLOCK)
    disk = (Action.FULL_DISK,) if point in DISK_POINTS else ()
    server = (Action.KILL_SERVER,) if point in SERVER_POINTS else ()
    signals = (Action.SIGKILL, Action.ERROR, Action.HANG)
    return (
        *signals,
        Action.LOST_CHANNEL,
        Action.LOST_CONTROL,
        *disk,
        Action.KILL_EXECUTOR,
        Action.KILL_HOST,
        Action.KILL_DRIVER,
        *server,
        Action.FREEZE,
        *CLOCK,
    )


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault: `action` happens when a task of the plan reaches `point` for the `occurrence`-th time.

    `task`: a task's id such as `count-1`, or the name of an operator such as `count`, or None for any task.
    The name of an operator means the first of its subtasks that reaches the fault point. At a fault point of
    the driver, `task` names the tasks to which the action happens, and None means every sink. Each worker
    counts occurrences from 1 in each attempt, and the driver counts from 1 in each job. Raises `ConfigError`
    for an unknown point or action, an action that cannot happen at the point, and an occurrence below 1.
    """

    point: str
    task: str | None = None
    occurrence: int = 1
    action: str = Action.SIGKILL

    def __post_init__(self) -> None:
        if self.point not in POINTS:
            raise ConfigError(f"{self.point!r} is no fault point; name one of {', '.join(POINTS)}")
        if self.action not in ACTIONS:
            raise ConfigError(f"{self.action!r} is no action of a fault; name one of {', '.join(ACTIONS)}")
        if self.action not in actions_at(self.point):
            raise ConfigError(
                f"{self.action} cannot happen at {self.point}; name an action of "
                f"{', '.join(actions_at(self.point))}"
            )
        if self.occurrence < 1:
            raise ConfigError(f"occurrence takes a number of at least 1, got {self.occurrence}")

    def concerns(self, task: str) -> bool:
        """Whether this fault may happen to `task`."""
        return self.task is None or task in (self.task, f"{self.task}-{task.rpartition('-')[2]}")

    def as_dict(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        return asdict(self)


NumberedFault: TypeAlias = tuple[int, FaultPlan]
"""A fault and its position in the plan of the job."""


class Schedule:
    """Counts how often one process has reached each fault point, and finds the faults that are due."""

    def __init__(self, faults: Iterable[NumberedFault]) -> None:
        self._faults = tuple(faults)
        self._count: Counter[str] = Counter()

    def reach(self, point: str) -> NumberedFault | None:
        """Count one more arrival at `point`; returns the fault that is due now, or None."""
        self._count[point] += 1
        for number, plan in self._faults:
            if plan.point == point and plan.occurrence == self._count[point]:
                return number, plan
        return None


class FaultLedger:
    """The driver's record of the faults that have happened. It permits each fault once.

    `record`: a file with the numbers of the faults that have happened under earlier drivers, to which this
    ledger appends; None: no file.
    """

    def __init__(self, plans: Iterable[FaultPlan], record: Path | None = None) -> None:
        self.plans = tuple(plans)
        self._record = record
        self._happened: list[int] = []
        if record is not None and record.exists():
            self._happened.extend(int(line) for line in record.read_text().split())

    def claim(self, number: int) -> bool:
        """Record fault `number`; returns whether it may happen now: True for the first call, then False."""
        if number in self._happened:
            return False
        self._happened.append(number)
        if self._record is not None:
            with self._record.open("a") as record:
                record.write(f"{number}\n")
        return True

    @property
    def happened(self) -> tuple[FaultPlan, ...]:
        """The faults that have happened, in the order in which they happened."""
        return tuple(self.plans[number] for number in self._happened)

    def left(self) -> tuple[NumberedFault, ...]:
        """The faults that have not happened yet, in the order of the plan."""
        return tuple(one for one in enumerate(self.plans) if one[0] not in self._happened)
