"""A driver with planned faults: subclasses of the driver's classes, which add fault points.

The driver permits the faults of workers, and also has fault points. A fault at such a point happens to the
driver, or to tasks: the driver sends them a command before its next regular message. Between two attempts the
driver can damage the newest checkpoint, like a bad disk. A job without planned faults does not use this
module.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from pathlib import Path

from impl import faults
from impl.connectors.postgres import pid_file
from impl.connectors.postgres_sink import PostgresOutput
from impl.graph.plan import Plan, Role
from impl.spark.channels import messages
from impl.spark.channels.control_channel import Send, Workers
from impl.spark.channels.handshake import Credentials
from impl.spark.coordination.checkpoint_publisher import CheckpointPublisher
from impl.spark.coordination.context import JobContext
from impl.spark.faults import clock_jumps
from impl.spark.faults.injector import full_disk
from impl.spark.faults.worker import FaultySparkTask
from impl.spark.runtime import RuntimeFactory
from impl.spark.savepoints.job_savepoints import Savepoints
from impl.spark.worker.launch import Launch
from impl.spark.worker.worker import SparkTask
from impl.state import CheckpointStorage, StateHandle
from impl.state.checkpoint_storage import METADATA
from impl.state.locations import Location, Where

Line = Callable[..., None]
_OF_DRIVER = (faults.Action.FULL_DISK, faults.Action.KILL_SERVER, faults.Action.FREEZE, *faults.DRIVER_CLOCK)
"""The actions that the driver executes at its fault points, instead of a task."""


class DriverInjector:
    """The planned faults of one job. `line` appends to the coordinator's log, `send` sends commands."""

    def __init__(self, ledger: faults.FaultLedger, plan: Plan, line: Line) -> None:
        self._ledger = ledger
        self._tasks = plan.ids()
        self._sinks = plan.of_role(Role.SINK)
        self._line = line
        servers = [one for one in plan.outputs() if isinstance(one, PostgresOutput)]
        if not any(fault.action == faults.Action.KILL_SERVER for fault in ledger.plans):
            servers = []
        self._pid_files = [pid_file(one.conninfo) for one in servers]
        self._schedule = faults.Schedule(enumerate(ledger.plans))
        self.send: Send = lambda task, command: None

    def claim(self, number: int, task: str) -> bool:
        """Whether fault `number` may happen to `task`. If the driver executes its action, it does so now."""
        if not self._ledger.claim(number):
            return False
        self._happens(self._ledger.plans[number], task)
        return True

    def reach(self, point: str) -> bool:
        """Reach a fault point. A due fault happens. Returns whether the caller must simulate a full disk."""
        plan = self._due(point)
        if plan is None:
            return False
        if plan.action in _OF_DRIVER:
            self._happens(plan, "the server" if plan.action == faults.Action.KILL_SERVER else "the driver")
            return plan.action == faults.Action.FULL_DISK
        named = [task for task in self._tasks if plan.task is not None and plan.concerns(task)]
        victims = named or self._sinks
        self._happens(plan, ", ".join(victims))
        for task in victims:
            # the notification follows on the same connection, so the task executes the fault first
            self.send(task, messages.InjectFault(plan.action, plan.point))
        return False

    def restart(self, checkpoints: Where) -> None:
        """Let a fault that is due at a restart happen, before the next attempt chooses its checkpoint."""
        storage = CheckpointStorage(checkpoints)
        completed = storage.completed_ids()
        if not completed:
            return
        plan = self._due(faults.Point.RESTART)
        if plan is not None:
            file = _file_of(storage.location, completed[-1], plan.task)
            self._happens(plan, file)
            if plan.action in faults.DAMAGE:
                storage.location.replace(file, damaged(storage.location.read(file), plan.action))

    def _due(self, point: str) -> faults.FaultPlan | None:
        due = self._schedule.reach(point)
        return due[1] if due is not None and self._ledger.claim(due[0]) else None

    def _happens(self, plan: faults.FaultPlan, victim: str) -> None:
        self._line(kind="fault", point=plan.point, victim=victim, action=plan.action)
        if plan.action == faults.Action.KILL_DRIVER:
            os.kill(os.getpid(), signal.SIGKILL)
        if plan.action == faults.Action.FREEZE:
            freeze(os.getpid())
        if plan.action in faults.DRIVER_CLOCK:
            clock_jumps.jump(plan.action)
        if plan.action == faults.Action.KILL_SERVER:
            for file in self._pid_files:
                _kill_server(file)


class FaultyRuntimeFactory(RuntimeFactory):
    """Makes the objects of a runtime in which the faults of `ledger` happen."""

    def __init__(self, ledger: faults.FaultLedger, checkpoints: Where) -> None:
        self._ledger = ledger
        self._checkpoints = checkpoints
        self._attempts = 0

    def publisher(self, context: JobContext, savepoints: Savepoints) -> CheckpointPublisher:
        """The publisher of checkpoints, with a fault point before each publication."""
        self._injector = DriverInjector(self._ledger, context.plan, context.line)
        self._savepoints = savepoints
        return FaultyPublisher(context, savepoints, self._injector)

    def workers(self, host: str, credentials: Credentials, tasks: tuple[str, ...]) -> Workers:
        """The connections to the workers of the next attempt. Before a restart there is a fault point."""
        self._attempts += 1
        if self._attempts > 1:
            self._injector.restart(self._checkpoints)
        return FaultyWorkers(host, credentials, tasks, self._injector, self._savepoints)

    def task(self, launch: Launch) -> SparkTask:
        """The function of the Spark job, which makes workers to which faults happen."""
        return FaultySparkTask(launch, self._ledger.left())

    def close(self) -> None:
        """Correct the clock of the driver."""
        clock_jumps.settle()


class FaultyPublisher(CheckpointPublisher):
    """Publishes checkpoints, with a fault point before each publication."""

    def __init__(self, context: JobContext, savepoints: Savepoints, injector: DriverInjector) -> None:
        super().__init__(context.storage, savepoints, context.plan.max_parallelism)
        self._injector = injector

    def publish(self, checkpoint: int, attempt: int, handles: Iterable[StateHandle]) -> None:
        """Publish a checkpoint. A fault may simulate a full disk."""
        with full_disk() if self._injector.reach(faults.Point.COMPLETION_DUE) else nullcontext():
            super().publish(checkpoint, attempt, handles)


class FaultyWorkers(Workers):
    """The control connections of an attempt, with a fault point before the first completion notification."""

    def __init__(
        self,
        host: str,
        credentials: Credentials,
        tasks: tuple[str, ...],
        injector: DriverInjector,
        savepoints: Savepoints,
    ) -> None:
        super().__init__(host, credentials, tasks)
        self._injector = injector
        self._savepoints = savepoints
        self._notified: set[int] = set()
        self._finished: set[str] = set()
        self._failed = False
        injector.send = super().send

    def receive(self, seconds: float) -> tuple[str, messages.Report] | None:
        """Receive a report. Answers the tasks that have reached a fault point, until a task has failed."""
        received = super().receive(seconds)
        while received is not None and isinstance(received[1], messages.FaultReached):
            task, number = received[0], received[1].number
            if not self._failed:
                super().send(task, messages.AnswerFault(self._injector.claim(number, task)))
            received = super().receive(0)
        if received is not None:
            self._note(*received)
        return received

    def _note(self, task: str, report: messages.Report) -> None:
        """Record whether a task has failed. A finished task that loses its connection has not failed."""
        if isinstance(report, messages.Finished):
            self._finished.add(task)
        lost = isinstance(report, messages.Disconnected) and task not in self._finished
        self._failed = self._failed or lost or isinstance(report, messages.Failed)

    def send(self, task: str, command: messages.Command) -> None:
        """Send a command, with a fault point before the first notification of a completion."""
        if isinstance(command, messages.CheckpointCompleted) and self._is_first(command.checkpoint):
            self._injector.reach(faults.Point.COMPLETION_STORED)
        super().send(task, command)

    def _is_first(self, checkpoint: int) -> bool:
        """Whether this is the first notification of `checkpoint`; False for a savepoint."""
        if checkpoint in self._notified or self._savepoints.has(checkpoint):
            return False
        self._notified.add(checkpoint)
        return True


def freeze(process: int) -> None:
    """Stop a process and its descendants. The process is the last one, because it may be the caller.

    SIGSTOP takes effect when its process is scheduled next. Until then the process may start other processes.
    So this function repeats until all descendants have stopped and a second listing finds the same processes.
    It ends, because a stopped process starts no other process.
    """
    while not _settled(process):
        time.sleep(0.001)
    os.kill(process, signal.SIGSTOP)


def _settled(process: int) -> bool:
    """Stop every process that runs. Returns whether no process ran and none was started in the meantime."""
    family = _to_stop(process)
    running = [one for one in family if not _is_stopped(one)]
    for one in running:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)
    return not running and _to_stop(process) == family


def _to_stop(process: int) -> list[int]:
    """The ids of a process and its descendants, except the caller, which `freeze` stops last."""
    return [one for one in (process, *_below(process)) if one != os.getpid()]


def _is_stopped(process: int) -> bool:
    """Whether the process is stopped or has ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] in "TtZX"


def _below(process: int) -> list[int]:
    """The ids of the descendants of a process, parents first."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended in the meantime
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def _kill_server(pid_file: Path) -> None:
    """Kill the server whose process id is in `pid_file` with SIGKILL, if it runs."""
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)


def damaged(content: bytes, action: str) -> bytes:
    """The content of a file, damaged by `action`: without its second half, or with one flipped bit."""
    middle = len(content) // 2
    if action == faults.Action.TORN_SNAPSHOT:
        return content[:middle]
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def _file_of(location: Location, checkpoint: int, task: str | None) -> str:
    """A file of a completed checkpoint: a snapshot of `task`, else the first snapshot, else the manifest."""
    folder = f"chk-{checkpoint}"
    files = sorted(name for name in location.sizes(folder) if name.endswith(".state"))
    named = [name for name in files if task is not None and name.startswith(task)]
    return f"{folder}/{(named or files or [METADATA])[0]}"
