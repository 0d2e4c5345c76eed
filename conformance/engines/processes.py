"""Processes of an engine. Each leads a process group, and a signal to it goes to the whole group."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ENDS_SECONDS = 10.0
"""Maximum time in seconds until a killed process has ended."""


class EngineError(RuntimeError):
    """An engine cannot run here; the message states what was expected, what was found and what to do."""


@dataclass
class Started:
    """A started process, the leader of its group, and its log."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        """Whether the process has not ended; it may be frozen."""
        return self.process.poll() is None

    def signal(self, number: int) -> None:
        """Send a signal to its group, unless the group has ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """Send SIGKILL to its group, and wait for its end. Raises subprocess.TimeoutExpired."""
        self.signal(signal.SIGKILL)
        self.process.wait(ENDS_SECONDS)

    def last_line(self) -> str:
        """The last line of its log that is not empty. Its paths are relative to the round's parent folder."""
        text = self.log.read_text("utf-8", "replace").replace(f"{self.log.absolute().parents[2]}/", "")
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1][:120] if lines else "it logged nothing"


@dataclass
class Processes:
    """The processes of one run. The end of the `with` block kills those that still run."""

    logs: Path
    started: list[Started] = field(default_factory=list)

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Started:
        """Start a process whose output goes to its own log file. `environment`: further variables."""
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
