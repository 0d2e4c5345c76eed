"""The processes of a job, and the processor time that they have spent: driver, Java, and every worker."""

import time
from collections.abc import Iterable

import psutil


def tree(pid: int | None = None) -> list[psutil.Process]:
    """A process, None: this one, and all below it."""
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]


def has_ended(process: psutil.Process) -> bool:
    """Whether it is gone, or will be as soon as the process above it looks."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return True


def resident(pid: int | None = None) -> dict[int, tuple[str, int]]:
    """By process of a tree, those that are there: its name, and the bytes that it holds in memory."""
    held = {}
    for one in tree(pid):
        try:
            held[one.pid] = one.name(), one.memory_info().rss
        except psutil.Error:  # it has just ended
            continue
    return held


def spent(processes: Iterable[psutil.Process]) -> dict[int, float]:
    """By process, those that are there: its processor seconds since it began, to the nanosecond.

    By Linux's clock of the process, because /proc counts by hundredths only.
    """
    seconds = {}
    for one in processes:
        try:
            seconds[one.pid] = time.clock_gettime(~one.pid << 3 | 2)  # as clock_getcpuclockid(3)
        except OSError:  # it has just ended
            continue
    return seconds
