"""Processes of an engine: each leads a group, is frozen or killed with it, and never outlives us."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ENDS_SECONDS = 10.0
"""How long a killed process may take to end."""


class EngineError(RuntimeError):
    """An engine cannot run here; the message states what was expected, what was found and what to do."""


@dataclass
class Started:
    """A process that was started, with its group."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        """Whether it still runs, or is frozen."""
        return self.process.poll() is None

    def signal(self, number: int) -> None:
        """Send a signal to its group; nothing if the group has ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """SIGKILL to its group; returns when it has ended. Raises subprocess.TimeoutExpired."""
        self.signal(signal.SIGKILL)
        self.process.wait(ENDS_SECONDS)

    def last_line(self) -> str:
        """The last line of its log that is not empty; paths begin with the name of the round's folder."""
        text = self.log.read_text("utf-8", "replace").replace(f"{self.log.absolute().parents[2]}/", "")
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1][:120] if lines else "it logged nothing"


@dataclass
class Processes:
    """The processes of one run; the end of the block kills what still lives."""

    logs: Path
    started: list[Started] = field(default_factory=list)

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Started:
        """Start a process; its output goes to a log of its own."""
        log = self.logs / f"{len(self.started):02}-{name}.out"
        with log.open("wb") as output:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                cwd=self.logs,
                start_new_session=True,
            )
        self.started.append(Started(name, process, log))
        return self.started[-1]

    def __enter__(self) -> "Processes":
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.started:
            one.signal(signal.SIGKILL)
        for one in self.started:
            one.process.wait(ENDS_SECONDS)
