"""Where a worker passes the points of the protocol, and what a fault of the plan does to it there.

Without a plan a passage is one comparison. With one, a fault that is due asks the driver for leave and
then strikes this very process: everything it does is real, a signal, a closed socket, a limit of the kernel.
"""

import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from impl.batches import Rows
from impl.eventlog import EventLog
from impl.faults import (
    ALIGNED,
    COMMIT_DUE,
    COMMITTED,
    FIRST_BARRIER_CAME,
    FREEZE,
    FULL_DISK,
    HANG,
    KILL_EXECUTOR,
    KILL_SERVER,
    LAST_BARRIER_CAME,
    PRE_COMMIT_DUE,
    PRE_COMMITTED,
    SIGKILL,
    FaultPlan,
    Passages,
)
from impl.spark.errors import InjectedFaultError
from impl.spark.worker.operators import Operator, Process
from impl.state import AsynchronousPart
from impl.state.shared import SharedFiles

Say = Callable[[dict[str, Any]], None]


class Striker:
    """The points of one worker. Passed by its subtask's thread and by the one that writes snapshots.

    `cuts`: by action, how this worker loses a connection.
    """

    def __init__(self, task: str, say: Say, cuts: Mapping[str, Callable[[], None]]) -> None:
        self._task = task
        self._say = say
        self._cuts = cuts
        self._passages = Passages(())
        self._asking = threading.Lock()
        self._leave = threading.Event()
        self._granted = False
        self._over = False
        self._came: dict[int, int] = {}
        self.log: EventLog | None = None

    def plan(self, faults: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
        """The faults that may strike here, with their numbers."""
        self._passages = Passages((number, FaultPlan(**plan)) for number, plan in faults)

    @property
    def planned(self) -> bool:
        """Whether any fault may strike here at all."""
        return self._passages.planned

    def answered(self, *, granted: bool) -> None:
        """The driver has answered."""
        self._granted = granted
        self._leave.set()

    def over(self) -> None:
        """The attempt is over, and nobody answers any more."""
        self._over = True
        self.answered(granted=False)

    # ------------------------------------------------------------ points

    def passing(self, point: str) -> None:
        """Pass a point: perhaps a fault is due, if the driver gives leave. Raises `InjectedFaultError`."""
        self._pass(point)

    @contextmanager
    def around(self, before: str, after: str | None = None) -> Iterator[None]:
        """Pass a point before something is done, which may find the disk full, and one after it."""
        if not self.planned:
            yield
            return
        if self._pass(before):
            with self.log.held() if self.log else _nothing(), full_disk():
                yield
        else:
            yield
        if after is not None:
            self._pass(after)

    @contextmanager
    def barrier(self, checkpoint: int | None, channels: int) -> Iterator[None]:
        """A barrier has come and its gate is told: the first and the last of a checkpoint are points.

        None stands for what is no barrier, and is no point.
        """
        if not self.planned or checkpoint is None:
            yield
            return
        self._came[checkpoint] = count = self._came.get(checkpoint, 0) + 1
        if count == channels:
            self._pass(LAST_BARRIER_CAME)
        elif count == 1:
            self._pass(FIRST_BARRIER_CAME)
        yield
        if count == channels:
            self._pass(ALIGNED)

    def of_sink(self, operator: Operator) -> Operator:
        """The sink, with a point before and after each phase of its commit."""
        return StruckSink(operator, self) if self.planned else operator

    # ------------------------------------------------------------ strikes

    def _pass(self, point: str) -> bool:
        """Whether the disk is full from here on, until what follows is done."""
        due = self._passages.due(point)
        if due is None:
            return False
        number, plan = due
        with self._asking:
            self._leave.clear()
            if self._over:
                return False
            self._say({"say": "fault", "number": number})
            self._leave.wait()
            granted = self._granted
        if not granted:
            return False
        if self.log:
            self.log.line({"kind": "fault", "point": plan.point, "action": plan.action})
        if plan.action == FULL_DISK:
            return True
        if not self.strike(plan.action):
            raise InjectedFaultError(f"a fault of the plan struck {self._task} at {point}")
        return False

    def strike(self, action: str) -> bool:
        """Do what is done to a process or to a connection; an error is for the caller to raise: False.

        A worker whose executor is killed, or whose connection is cut, goes on: others have to notice.
        """
        if action in (SIGKILL, HANG):
            os.kill(os.getpid(), signal.SIGKILL if action == SIGKILL else signal.SIGSTOP)
        elif action == KILL_EXECUTOR:
            os.kill(executor_above(os.getpid()), signal.SIGKILL)
        elif action in (KILL_SERVER, FREEZE):
            return True  # the driver has done it, before it gave leave
        elif action in self._cuts:
            self._cuts[action]()
        else:
            return False
        return True


class StruckSink:
    """A sink that passes the points of its two phases."""

    def __init__(self, sink: Operator, striker: Striker) -> None:
        self._sink = sink
        self._striker = striker

    @property
    def inputs(self) -> tuple[Process, ...]:
        """As the sink's."""
        return self._sink.inputs

    def before_barrier(self) -> Rows:
        """As the sink does."""
        return self._sink.before_barrier()

    def finish(self) -> Rows:
        """As the sink does."""
        return self._sink.finish()

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """The first phase (SINK-02)."""
        with self._striker.around(PRE_COMMIT_DUE, PRE_COMMITTED):
            return self._sink.snapshot(checkpoint, alone)

    def notify_complete(self, checkpoint: int) -> None:
        """The second phase (SINK-03)."""
        with self._striker.around(COMMIT_DUE, COMMITTED):
            self._sink.notify_complete(checkpoint)

    def notify_abort(self, checkpoint: int) -> None:
        """As the sink does."""
        self._sink.notify_abort(checkpoint)

    def close(self) -> None:
        """As the sink does."""
        self._sink.close()


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow: the kernel refuses with EFBIG, as a full disk does with ENOSPC."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def executor_above(process: int) -> int:
    """The Java process that a worker's process belongs to. Raises `InjectedFaultError` if there is none."""
    above = process
    while above > 1:
        fields = Path(f"/proc/{above}/stat").read_text().rpartition(")")
        if fields[0].endswith("(java"):
            return above
        above = int(fields[2].split()[1])
    raise InjectedFaultError(f"process {process} belongs to no executor that could be killed")
