"""The commit and the machine of a run, for readers of measured figures."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from conformance import doctor
from conformance.version import own_version

_GIT_LIMIT_SECONDS = 10.0


class Machine(NamedTuple):
    """The properties of a machine on which measured rates and times depend."""

    cores: int
    """Processors that this process may use."""
    python: str
    java: str | None
    """The version of Java; None without one."""
    system: str
    """Operating system and architecture."""

    def describe(self) -> str:
        """One line."""
        return f"{self.cores} cores, Python {self.python}, Java {self.java or 'none'}, {self.system}"


def machine() -> Machine:
    """This machine."""
    java = re.search(r'version "([^"]+)"', str(doctor.java_version_text()))
    system = f"{platform.system()} {platform.machine()}"
    return Machine(cores(), platform.python_version(), java[1] if java else None, system)


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float | None:
    """The average number of processes that were ready to run in the last minute; None if it is unknown."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def busy() -> str:
    """The load in words, with a warning if other programs use the processors."""
    now = load()
    if now is None:
        return "load unknown"
    # this process and the process that it drives count as well
    return f"load {now:.1f} in the last minute{CROWDED if now > cores() + 1 else ''}"


CROWDED = "; other programs are at work, the rates are too low"
HOME = Path(__file__).resolve().parent.parent
"""The folder that holds our packages."""


def source(home: Path = HOME) -> str:
    """The checked-out commit of `home`, with `+changes` if files differ; without a checkout, our version.

    If the package is installed inside another project's checkout, the result is the version, because that
    project's commit does not identify this code.
    """
    top = _git(home, "rev-parse", "--show-toplevel")
    commit = _git(home, "rev-parse", "--short", "HEAD")
    if not top or not commit or Path(top).resolve() != home:
        return own_version()
    return f"{commit}+changes" if _git(home, "status", "--porcelain") else commit


def _git(folder: Path, *words: str) -> str | None:
    """The output of git; None without git, or if git fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            timeout=_GIT_LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
