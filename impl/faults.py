"""Planned faults, for tests and demonstrations: each happens at a point of the protocol, never at a time.

A plan names the point, perhaps the task, how often that task has to reach the point, and what happens then.
A fault happens once in a job: the task asks the driver, which consents once, so that the next attempt runs
undisturbed. The event log has each fault.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from impl.config import ConfigError

BARRIER_DUE = "barrier-due"
BARRIER_SENT = "barrier-sent"
FIRST_BARRIER_CAME = "first-barrier-came"
ALIGNMENT_IN_PROGRESS = "alignment-in-progress"
LAST_BARRIER_CAME = "last-barrier-came"
ALIGNED = "aligned"
SNAPSHOT_DUE = "snapshot-due"
SNAPSHOT_WRITTEN = "snapshot-written"
ACKNOWLEDGEMENT_DUE = "acknowledgement-due"
ACKNOWLEDGEMENT_SENT = "acknowledgement-sent"
COMPLETION_DUE = "completion-due"
COMPLETION_STORED = "completion-stored"
NOTIFICATION_RECEIVED = "notification-received"
NOTIFICATION_HANDLED = "notification-handled"
PRE_COMMIT_DUE = "pre-commit-due"
PRE_COMMITTED = "pre-committed"
COMMIT_DUE = "commit-due"
COMMITTED = "committed"
RESTORE_DUE = "restore-due"
RESTORED = "restored"
RESTART = "restart"

POINTS = {
    BARRIER_DUE: "the subtask is about to send its barrier, nothing of the checkpoint is done",
    BARRIER_SENT: "the barrier is sent, and the snapshot not taken",
    FIRST_BARRIER_CAME: "the first barrier of a checkpoint has come, and the gate has not read it",
    ALIGNMENT_IN_PROGRESS: "a barrier has come on one channel of a gate and others are awaited",
    LAST_BARRIER_CAME: "the last barrier of a checkpoint has come, and the gate has not read it",
    ALIGNED: "the gate has all barriers, and the snapshot is taken and not written",
    SNAPSHOT_DUE: "the snapshot of a subtask is taken, and nothing of it is on disk",
    SNAPSHOT_WRITTEN: "the snapshot of a subtask is durable, and not acknowledged",
    ACKNOWLEDGEMENT_DUE: "the subtask is about to acknowledge",
    ACKNOWLEDGEMENT_SENT: "the subtask has acknowledged a checkpoint that is not complete yet",
    COMPLETION_DUE: "the driver has every acknowledgement, and the checkpoint is not published",
    COMPLETION_STORED: "the checkpoint is published, and no task is notified",
    NOTIFICATION_RECEIVED: "the subtask is notified of a completion, and has committed nothing",
    NOTIFICATION_HANDLED: "the subtask has handled the notification",
    PRE_COMMIT_DUE: "a sink is about to pre-commit",
    PRE_COMMITTED: "a sink has pre-committed, and its snapshot is not written",
    COMMIT_DUE: "a sink is about to commit",
    COMMITTED: "a sink has committed",
    RESTORE_DUE: "a subtask of a new attempt has not read its state",
    RESTORED: "a subtask has restored its state, and does not run",
    RESTART: "an attempt has failed, and the checkpoint to restore is not chosen",
}
SINK_POINTS = (PRE_COMMIT_DUE, PRE_COMMITTED, COMMIT_DUE, COMMITTED)
GATE_POINTS = (FIRST_BARRIER_CAME, ALIGNMENT_IN_PROGRESS, LAST_BARRIER_CAME, ALIGNED)
"""Points that a source never reaches."""

SIGKILL = "sigkill"
ERROR = "error"
HANG = "hang"
LOST_CHANNEL = "lost-channel"
LOST_CONTROL = "lost-control"
FULL_DISK = "full-disk"
KILL_EXECUTOR = "kill-executor"
KILL_DRIVER = "kill-driver"
KILL_SERVER = "kill-server"
FREEZE = "freeze"
TORN_SNAPSHOT = "torn-snapshot"
BIT_FLIP = "bit-flip"

ACTIONS = {
    SIGKILL: "the worker's process is killed",
    ERROR: "the subtask raises an error",
    HANG: "the worker's process is stopped (SIGSTOP), which only a missed heartbeat shows",
    LOST_CHANNEL: "the sockets between the subtask and its neighbours are cut",
    LOST_CONTROL: "the socket between the subtask and the driver is cut",
    FULL_DISK: "no byte can be written to a file",
    KILL_EXECUTOR: "the executor that runs the worker is killed; not in local mode",
    KILL_DRIVER: "the driver's process is killed",
    KILL_SERVER: "the PostgreSQL server of the sinks is killed, and has to be started again",
    FREEZE: "the driver and all its children are stopped (SIGSTOP) until they get SIGCONT",
    TORN_SNAPSHOT: "a file of the newest checkpoint loses its second half",
    BIT_FLIP: "one bit in a file of the newest checkpoint is flipped",
}
DAMAGE = (TORN_SNAPSHOT, BIT_FLIP)
DISK_POINTS = (SNAPSHOT_DUE, PRE_COMMIT_DUE, COMPLETION_DUE)
"""Points before a file is written."""
SERVER_POINTS = (
    *SINK_POINTS,
    SNAPSHOT_WRITTEN,
    COMPLETION_DUE,
    COMPLETION_STORED,
    NOTIFICATION_RECEIVED,
    RESTORE_DUE,
    RESTORED,
)
"""Points around the preparation of a transaction, its commit, and a restore that commits it."""


def actions_at(point: str) -> tuple[str, ...]:
    """The actions that can happen at a point."""
    if point == RESTART:
        return (*DAMAGE, KILL_DRIVER, FREEZE)
    disk = (FULL_DISK,) if point in DISK_POINTS else ()
    server = (KILL_SERVER,) if point in SERVER_POINTS else ()
    signals = (SIGKILL, ERROR, HANG)
    return (*signals, LOST_CHANNEL, LOST_CONTROL, *disk, KILL_EXECUTOR, KILL_DRIVER, *server, FREEZE)


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
    action: str = SIGKILL

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
            raise ConfigError(f"occurrence counts from 1, came {self.occurrence}")

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
