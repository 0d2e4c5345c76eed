"""The driver's part in planned faults: it gives leave, passes points of its own, and may be struck itself.

At its points it strikes tasks by a word on their control connections, which goes before whatever it would
have told them next. Between two attempts it can damage the newest checkpoint, as a bad disk would.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from impl.connectors.postgres import pid_file
from impl.connectors.postgres_sink import PostgresOutput
from impl.faults import (
    COMPLETION_DUE,
    DAMAGE,
    FREEZE,
    FULL_DISK,
    KILL_DRIVER,
    KILL_SERVER,
    RESTART,
    TORN_SNAPSHOT,
    FaultLedger,
    FaultPlan,
    Passages,
)
from impl.spark.faults.worker import full_disk

_FREEZE_SECONDS = 10.0
Send = Callable[[str, dict[str, Any]], None]
Line = Callable[[Mapping[str, object]], None]


class DriverFaults:
    """The faults of one job as its driver sees them.

    `sinks` are struck where a plan names nobody; `line` writes into the coordinator's log; `outputs` are
    what the sinks write into.
    """

    def __init__(
        self,
        ledger: FaultLedger,
        tasks: Sequence[str],
        sinks: Sequence[str],
        line: Line,
        outputs: Sequence[object] = (),
    ) -> None:
        self._ledger = ledger
        servers = [one for one in outputs if isinstance(one, PostgresOutput)]
        if not any(plan.action == KILL_SERVER for plan in ledger.plans):
            servers = []
        self._pid_files = [pid_file(one.conninfo) for one in servers]
        self._tasks = tuple(tasks)
        self._sinks = tuple(sinks)
        self._line = line
        self._passages = Passages(enumerate(ledger.plans))

    def claim(self, number: int, task: str) -> bool:
        """A task asks for leave; whether fault `number` may strike it. It is struck at once if it is us."""
        if not self._ledger.claim(number):
            return False
        self._strikes(self._ledger.plans[number], task)
        return True

    def passing(self, point: str, send: Send) -> bool:
        """Pass a point: the tasks that a fault is due for are struck; whether the disk is full instead."""
        plan = self._due(point)
        if plan is None:
            return False
        if plan.action == FULL_DISK:
            self._strikes(plan, "the driver")
            return True
        if plan.action in (KILL_SERVER, FREEZE):
            self._strikes(plan, "the server" if plan.action == KILL_SERVER else "the driver")
            return False
        named = [task for task in self._tasks if plan.task is not None and plan.concerns(task)]
        struck = named or self._sinks
        self._strikes(plan, ", ".join(struck))
        for task in struck:
            # on each connection this goes before the notification, and is obeyed before that is read
            send(task, {"do": "strike", "action": plan.action, "point": plan.point})
        return False

    @contextmanager
    def publication(self, send: Send) -> Iterator[None]:
        """A checkpoint is published within."""
        if self.passing(COMPLETION_DUE, send):
            with full_disk():
                yield
        else:
            yield

    def restarting(self, checkpoints: Path) -> None:
        """An attempt has failed, and the next has not chosen its checkpoint."""
        if not self._passages.planned or not any(checkpoints.glob("chk-*/_metadata")):
            return
        plan = self._due(RESTART)
        if plan is not None:
            file = _victim(checkpoints, plan.task)
            self._strikes(plan, str(file.relative_to(checkpoints)))
            if plan.action in DAMAGE:
                damage(file, plan.action)

    def _due(self, point: str) -> FaultPlan | None:
        due = self._passages.due(point)
        if due is None or not self._ledger.claim(due[0]):
            return None
        return due[1]

    def _strikes(self, plan: FaultPlan, struck: str) -> None:
        self._line({"kind": "fault", "point": plan.point, "struck": struck, "action": plan.action})
        if plan.action == KILL_DRIVER:
            os.kill(os.getpid(), signal.SIGKILL)
        if plan.action == FREEZE:
            freeze(os.getpid())
        if plan.action == KILL_SERVER:
            for file in self._pid_files:
                _kill_server(file)


def freeze(process: int) -> None:
    """Stop a process and everything below it, the process itself last: it may be the caller.

    A signal takes effect when its process is scheduled next, and until then that process may start others:
    this looks again until all that is below has stopped, for at most `_FREEZE_SECONDS`.
    """
    until = time.monotonic() + _FREEZE_SECONDS
    while (running := [one for one in _below(process) if not _is_stopped(one)]) and time.monotonic() < until:
        for one in running:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGSTOP)
        time.sleep(0.001)
    os.kill(process, signal.SIGSTOP)


def _is_stopped(process: int) -> bool:
    """Whether it is stopped or has ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] in "TtZX"


def _below(process: int) -> list[int]:
    """The descendants of a process, parents first."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # one that has just ended
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def _kill_server(pid_file: Path) -> None:
    """End a server by force, as a machine that goes down does; one that is down already stays so."""
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)


def damage(file: Path, action: str) -> None:
    """Tear a file in the middle, or turn over one bit of it."""
    content = bytearray(file.read_bytes())
    if action == TORN_SNAPSHOT:
        del content[len(content) // 2 :]
    else:
        content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _victim(checkpoints: Path, task: str | None) -> Path:
    """A file of the newest completed checkpoint: the snapshot of `task`, or the first that is there."""
    newest = max(checkpoints.glob("chk-*/_metadata"), key=lambda path: int(path.parent.name[4:])).parent
    files = sorted(path for path in newest.iterdir() if path.suffix == ".state")
    named = [path for path in files if task is not None and path.name.startswith(task)]
    return (named or files or [newest / "_metadata"])[0]
