"""Faults for tests and demonstrations: each strikes at a named point of the protocol, never at a time.

A plan names the point, perhaps the task, how many passages of that task through the point go by first,
and what then happens. A fault strikes once in a job: the task asks the driver for leave, which is given
to one task once, so that the attempt that follows runs undisturbed. Leave and strike are in the log.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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
    FIRST_BARRIER_CAME: "the first barrier of a checkpoint has come, and the gate does not know it",
    ALIGNMENT_IN_PROGRESS: "a barrier has come on one channel of a gate and others are awaited",
    LAST_BARRIER_CAME: "the last barrier of a checkpoint has come, and the gate does not know it",
    ALIGNED: "the gate has all barriers, and what they lead to is done but for the writing",
    SNAPSHOT_DUE: "the snapshot of a subtask is taken, and nothing of it is on disk",
    SNAPSHOT_WRITTEN: "the snapshot of a subtask is durable, and nobody knows it yet",
    ACKNOWLEDGEMENT_DUE: "the subtask is about to acknowledge",
    ACKNOWLEDGEMENT_SENT: "the subtask has acknowledged a checkpoint that is not complete yet",
    COMPLETION_DUE: "the driver has every acknowledgement, and the checkpoint is not published",
    COMPLETION_STORED: "the checkpoint is published, and no task has been told",
    NOTIFICATION_RECEIVED: "the subtask has been told, and has committed nothing yet",
    NOTIFICATION_HANDLED: "the subtask has done what the completion asks of it",
    PRE_COMMIT_DUE: "a sink is about to pre-commit",
    PRE_COMMITTED: "a sink has pre-committed, and its snapshot is not written",
    COMMIT_DUE: "a sink is about to commit",
    COMMITTED: "a sink has committed",
    RESTORE_DUE: "a subtask of a new attempt has not read its state",
    RESTORED: "a subtask has restored its state, and does not run yet",
    RESTART: "an attempt has failed, and the checkpoint to go on from is not chosen",
}
SINK_POINTS = (PRE_COMMIT_DUE, PRE_COMMITTED, COMMIT_DUE, COMMITTED)
GATE_POINTS = (FIRST_BARRIER_CAME, ALIGNMENT_IN_PROGRESS, LAST_BARRIER_CAME, ALIGNED)
"""Those that a source never passes."""

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
    HANG: "the worker's process is stopped (SIGSTOP), which only a missed heartbeat finds",
    LOST_CHANNEL: "the sockets between the subtask and its neighbours are cut",
    LOST_CONTROL: "the socket between the subtask and the driver is cut",
    FULL_DISK: "no byte can be written to a file where one is about to be",
    KILL_EXECUTOR: "the executor that runs the worker is killed; not in local mode",
    KILL_DRIVER: "the driver's process is killed",
    KILL_SERVER: "the PostgreSQL server behind the sinks is killed, and somebody starts it again",
    FREEZE: "the driver and all its children are stopped (SIGSTOP) until somebody lets them go on (SIGCONT)",
    TORN_SNAPSHOT: "a file of the newest checkpoint loses its second half",
    BIT_FLIP: "a bit in a file of the newest checkpoint is turned over",
}
DAMAGE = (TORN_SNAPSHOT, BIT_FLIP)
DISK_POINTS = (SNAPSHOT_DUE, PRE_COMMIT_DUE, COMPLETION_DUE)
"""Where something is about to be written, and a full disk therefore tells."""
SERVER_POINTS = (
    *SINK_POINTS,
    SNAPSHOT_WRITTEN,
    COMPLETION_DUE,
    COMPLETION_STORED,
    NOTIFICATION_RECEIVED,
    RESTORE_DUE,
    RESTORED,
)
"""Before and after a transaction is prepared, all the way to its commit, and while a restore commits it."""


def actions_at(point: str) -> tuple[str, ...]:
    """What can happen at a point."""
    if point == RESTART:
        return (*DAMAGE, KILL_DRIVER, FREEZE)
    disk = (FULL_DISK,) if point in DISK_POINTS else ()
    server = (KILL_SERVER,) if point in SERVER_POINTS else ()
    signals = (SIGKILL, ERROR, HANG)
    return (*signals, LOST_CHANNEL, LOST_CONTROL, *disk, KILL_EXECUTOR, KILL_DRIVER, *server, FREEZE)


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault: at the `occurrence`-th passage of a matching task through `point`, `action` happens.

    `task` is a task's id (`count-1`), the name of an operator (`count`: whichever of its subtasks comes
    first), or None for any task. At the points that the driver passes it names who is struck, and None
    means every sink. Passages are counted by each worker from 1 in each attempt, at the driver from 1 in
    each job.
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
        if self.action not in actions_at(self.point):
            raise ConfigError(
                f"{self.action} does not happen at {self.point}, but {', '.join(actions_at(self.point))}"
            )
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

    @property
    def planned(self) -> bool:
        """Whether any fault is planned here at all."""
        return bool(self._plans)

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
    """The driver's record of which faults have struck: leave is given once for each (number of a plan).

    `record`: a file that tells a driver what struck before it; without one it knows its own time only.
    """

    def __init__(self, plans: Iterable[FaultPlan], record: Path | None = None) -> None:
        self.plans = tuple(plans)
        self._record = record
        self.struck: list[int] = []
        if record is not None and record.exists():
            self.struck.extend(int(line) for line in record.read_text().split())

    def claim(self, number: int) -> bool:
        """Whether plan `number` may strike now; a second claim of it is refused."""
        if number in self.struck:
            return False
        self.struck.append(number)
        if self._record is not None:
            with self._record.open("a") as record:
                record.write(f"{number}\n")
        return True

    def left(self) -> list[tuple[int, FaultPlan]]:
        """The plans that have not struck yet, with their numbers."""
        return [(number, plan) for number, plan in enumerate(self.plans) if number not in self.struck]
