"""Engines whose job is one process with its children: Structured Streaming, Bytewax, Pathway."""

import os
import signal
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import psutil

from conformance.engines.disk import without_disk, without_folder
from conformance.engines.engine import Engine
from conformance.engines.processes import Started
from conformance.engines.schedule import Fault, Kind

STOPS_SECONDS = 20.0
_RESTART_SECONDS = 0.5
"""The seconds that a supervisor waits before it starts a process again."""


@dataclass
class OneProcess(Engine):
    """An engine whose job is one process. Each start continues from the state that the engine has stored."""

    job: Started = field(init=False)
    starts: int = field(default=0, init=False)
    _over: bool = field(default=False, init=False)

    kinds = frozenset(
        {Kind.KILL_WORKER, Kind.FREEZE, Kind.NO_FOLDER, Kind.DISK_FULL, Kind.STOP, Kind.RESCALE}
    )

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The command line of the next start."""

    def environment(self) -> dict[str, str]:
        """Environment variables of the process."""
        return {}

    def start(self) -> None:
        """Start the process."""
        self.starts += 1
        self.job = self.place.processes.start(type(self).__name__.lower(), self.command(), self.environment())

    def inject(self, fault: Fault) -> None:
        """As in `Engine`. Raises ValueError for a kind that is not one of `kinds`."""
        match fault.kind:
            case Kind.KILL_WORKER:
                self.kill(fault)
            case Kind.FREEZE:
                self.job.signal(signal.SIGSTOP)
                time.sleep(fault.length / 1_000)
                self.job.signal(signal.SIGCONT)
            case Kind.NO_FOLDER:
                without_folder(self.place.checkpoints, fault.length / 1_000)
            case Kind.DISK_FULL:
                without_disk([self.job.process.pid], fault.length / 1_000)
            case Kind.STOP:
                self.stop()
                self.start()
            case Kind.RESCALE:
                self.stop()
                others = [one for one in (1, 2, 3) if one != self.settings["parallelism"]]
                self.settings["parallelism"] = others[fault.target % len(others)]
                self.start()
            case other:
                raise ValueError(f"expected one of {self.kinds}, got {other}")

    def kill(self, fault: Fault) -> None:
        """Send SIGKILL to the whole job, and start it again."""
        del fault
        self.job.kill()
        self.start()

    def stop(self) -> None:
        """Send SIGTERM to the job, wait at most STOPS_SECONDS, then send SIGKILL to its group."""
        os.kill(self.job.process.pid, signal.SIGTERM)
        until = time.monotonic() + STOPS_SECONDS
        while self.job.alive and time.monotonic() < until:
            time.sleep(0.05)
        self.job.kill()

    def supervise(self) -> None:
        """Start the job again if it has ended before the end of the input, or with an error."""
        code = self.job.process.poll()
        if code is not None and not (code == 0 and self.end.exists()):
            self.ended(f"{self.job.name}, {code}: {self.job.last_line()}")
            time.sleep(_RESTART_SECONDS)
            self.start()

    def over(self) -> bool:
        """Whether the job has ended without an error after the input was complete."""
        return self.job.process.poll() == 0 and self.end.exists()

    def completed(self) -> int | None:
        """Return None: the engine does not show its completed checkpoints."""
        return None

    def children(self) -> list[psutil.Process]:
        """The processes that the job has started."""
        return psutil.Process(self.job.process.pid).children(recursive=True)
