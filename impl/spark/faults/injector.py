"""Executes a planned fault in the process of a worker, after the driver has permitted it.

Each fault is real: a signal, a closed socket, a limit of the kernel. A worker that reaches the fault point of
a fault first requests permission from the driver, so that each fault happens once in a job.
"""

import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import psutil

from impl.eventlog import EventLog
from impl.faults import DRIVER_CLOCK, Action, NumberedFault, Schedule
from impl.spark.channels.messages import FaultReached, Report
from impl.spark.errors import InjectedFaultError
from impl.spark.faults import clock_jumps


class FaultInjector:
    """The planned faults of one worker. Used by the subtask's thread and the thread that writes snapshots.

    `cuts`: maps an action to the function that breaks a connection of this worker.
    """

    def __init__(
        self,
        task: str,
        faults: tuple[NumberedFault, ...],
        report: Callable[[Report], None],
        cuts: Mapping[str, Callable[[], None]],
    ) -> None:
        self._task = task
        self._report = report
        self._cuts = cuts
        self._schedule = Schedule(faults)
        self._requesting = threading.Lock()
        self._answered = threading.Event()
        self._granted = False
        self._over = False
        self.log: EventLog | None = None

    def answer(self, *, granted: bool) -> None:
        """Record the driver's answer, and wake the thread that waits for it."""
        self._granted = granted
        self._answered.set()

    def close(self) -> None:
        """Let no further fault happen. Spark may use the process for another task after the attempt."""
        self._over = True
        clock_jumps.settle()
        self.answer(granted=False)

    def reach(self, point: str) -> bool:
        """Reach a fault point. A fault that is due at this point happens, if the driver permits it.

        Returns whether the caller must use `full_disk`. Raises `InjectedFaultError` for action `error`.
        """
        due = self._schedule.reach(point)
        if due is None:
            return False
        number, plan = due
        with self._requesting:
            self._answered.clear()
            if self._over:
                return False
            self._report(FaultReached(number))
            self._answered.wait()
            granted = self._granted
        if not granted:
            return False
        if self.log:
            self.log.line({"kind": "fault", "point": plan.point, "action": plan.action})
        if plan.action == Action.FULL_DISK:
            return True
        if not self.inject(plan.action):
            raise InjectedFaultError(f"a planned fault happened to {self._task} at {point}")
        return False

    @contextmanager
    def around(self, before: str, after: str | None = None) -> Iterator[None]:
        """A context between the fault points `before` and `after`. In it a fault may simulate a full disk."""
        if self.reach(before):
            with self.log.locked() if self.log else nullcontext(), full_disk():
                yield
        else:
            yield
        if after is not None:
            self.reach(after)

    def inject(self, action: str) -> bool:
        """Execute `action` on this process or a connection; returns False if the caller must raise an error.

        A worker whose executor is killed, or whose connection is cut, continues. Other processes detect the
        loss.
        """
        if action in (Action.SIGKILL, Action.HANG):
            os.kill(os.getpid(), signal.SIGKILL if action == Action.SIGKILL else signal.SIGSTOP)
        elif action == Action.KILL_EXECUTOR:
            os.kill(executor_above(os.getpid()), signal.SIGKILL)
        elif action == Action.KILL_HOST:
            kill_host(executor_above(os.getpid()))
        elif action in (Action.KILL_SERVER, Action.FREEZE, *DRIVER_CLOCK):
            return True  # the driver has executed the action before its answer
        elif action in self._cuts:
            self._cuts[action]()
        else:
            return clock_jumps.jump(action)
        return True


@contextmanager
def full_disk() -> Iterator[None]:
    """A context in which no file of this process can grow. Writes fail as on a full disk, but with EFBIG."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def executor_above(process: int) -> int:
    """The id of the Java process above a worker's process. Raises `InjectedFaultError` if there is none."""
    above = process
    while above > 1:
        fields = Path(f"/proc/{above}/stat").read_text().rpartition(")")
        if fields[0].endswith("(java"):
            return above
        above = int(fields[2].split()[1])
    raise InjectedFaultError(f"process {process} belongs to no executor that could be killed")


def kill_host(executor: int) -> None:
    """Kill the standalone worker that has started `executor`, and all its descendants with this process."""
    worker = psutil.Process(executor).parent()
    if worker is None or worker.name() != "java":
        raise InjectedFaultError(f"executor {executor} belongs to no standalone worker that could be killed")
    own = os.getpid()
    for process in [worker, *(one for one in worker.children(recursive=True) if one.pid != own)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    os.kill(own, signal.SIGKILL)
