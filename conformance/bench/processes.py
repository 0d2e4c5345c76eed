"""The processes of a job, and the processor time that they have spent: driver, Java, and every worker."""

import time
from collections.abc import Iterable

import psutil


def tree(pid: int | None = None) -> list[psutil.Process]:
    """A process, None: this one, and all below it that have not ended."""
    own = psutil.Process(pid)
    below = own.children(recursive=True)
    return [own, *(one for one in below if one.is_running() and one.status() != psutil.STATUS_ZOMBIE)]


def spent(processes: Iterable[psutil.Process]) -> dict[int, float]:
    """By process, those that are there: its processor seconds since it began, to the nanosecond."""
    seconds = {}
    for one in processes:
        try:
            seconds[one.pid] = time.clock_gettime(_clock_of(one.pid))
        except OSError:  # it has just ended
            continue
    return seconds


def _clock_of(pid: int) -> int:
    """Linux's clock of a process, as clock_getcpuclockid(3) answers it: /proc counts by hundredths only."""
    return ~pid << 3 | 2
