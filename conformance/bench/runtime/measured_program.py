"""Runs a program and measures it: the time of each line of its output, and its peak memory."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from conformance.bench.benchmark import MeasurementError
from conformance.bench.runtime.processes import resident

_LOOK_SECONDS = 0.05


class Watched(NamedTuple):
    """The output of a program, with its times and its memory."""

    lines: tuple[tuple[float, str], ...]
    """The lines of its output, each with the seconds since the start at which it came."""
    seconds: float
    peak: int
    """The peak resident memory of it and all its descendants in bytes, sampled twenty times a second."""

    @property
    def text(self) -> str:
        """All lines, joined by line ends."""
        return "\n".join(line for _, line in self.lines)

    def second_of(self, words: str) -> float:
        """The second at which the first line with these words came. Raises MeasurementError without one."""
        for second, line in self.lines:
            if words in line:
                return second
        raise MeasurementError(f"expected {words!r} in the output, got {self.text[-500:]!r}")


def watch(
    command: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None, timeout: float = 900.0
) -> Watched:
    """Run a command in a folder to its end. Its standard error is a part of its output.

    `settings`: environment variables in addition to those of this process.

    Raises MeasurementError if it fails, or takes longer than `timeout` seconds.
    """
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(settings or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    peak = [0]
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            with suppress(psutil.Error):  # the process has just ended
                peak[0] = max(peak[0], sum(size for _, size in resident(process.pid).values()))
            if time.perf_counter() - begun > timeout:
                process.kill()

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    assert process.stdout is not None
    lines = [(time.perf_counter() - begun, line.rstrip("\n")) for line in process.stdout]
    code = process.wait()
    seconds = time.perf_counter() - begun
    ended.set()
    looking.join()
    if code != 0:
        end = "\n".join(line for _, line in lines)[-800:]
        raise MeasurementError(f"{command[0]} ended with {code} after {seconds:.0f} s: {end}")
    return Watched(tuple(lines), seconds, peak[0])
