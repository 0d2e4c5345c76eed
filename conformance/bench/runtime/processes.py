"""Finds the processes of a job (driver, Java, and every worker), their memory and their processor time."""

import time
from collections.abc import Iterable

import psutil


def tree(pid: int | None = None) -> list[psutil.Process]:
    """A process and all its descendants. `pid`: None for this process."""
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]


def has_ended(process: psutil.Process) -> bool:
    """Whether the process has ended, even if its parent has not read the exit code yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return True


def resident(pid: int | None = None) -> dict[int, tuple[str, int]]:
    """By process id: the name and the resident memory in bytes of each running process of a tree."""
    held = {}
    for one in tree(pid):
        try:
            held[one.pid] = one.name(), one.memory_info().rss
        except psutil.Error:  # it has just ended
            continue
    return held


def spent(processes: Iterable[psutil.Process]) -> dict[int, float]:
    """By process id: the processor seconds of each running process since its start, to the nanosecond.

    It reads Linux's processor clock of each process, because /proc has only hundredths of a second.
    """
    seconds = {}
    for one in processes:
        try:
            seconds[one.pid] = time.clock_gettime(~one.pid << 3 | 2)  # as clock_getcpuclockid(3)
        except OSError:  # it has just ended
            continue
    return seconds


def spent_in_all(pid: int) -> float:
    """The processor seconds of a tree since its start, to a hundredth of a second.

    They include descendants that have ended, if their parents have waited for them.
    """
    seconds = 0.0
    for one in tree(pid):
        try:
            seconds += sum(one.cpu_times()[:4])
        except psutil.Error:  # it has just ended
            continue
    return seconds
