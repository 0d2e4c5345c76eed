"""The processes of a job, and the processor time that they have spent: driver, Java, and every worker."""

import time
from collections.abc import Iterable

import psutil


def tree(pid: int | None = None) -> list[psutil.Process]:
    """A process and all its descendants. `pid`: None for this process."""
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]


def has_ended(process: psutil.Process) -> bool:
    """Whether it has ended; its parent may not have read its exit code yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return True


def resident(pid: int | None = None) -> dict[int, tuple[str, int]]:
    """The name and the resident memory in bytes of each running process of a tree, by pid."""
    held = {}
    for one in tree(pid):
        try:
            held[one.pid] = one.name(), one.memory_info().rss
        except psutil.Error:  # it has just ended
            continue
    return held


def spent(processes: Iterable[psutil.Process]) -> dict[int, float]:
    """The processor seconds of each running process since its start, by pid, to the nanosecond.

    It reads Linux's clock of the process, because /proc counts hundredths of seconds only.
    """
    seconds = {}
    for one in processes:
        try:
            seconds[one.pid] = time.clock_gettime(~one.pid << 3 | 2)  # as clock_getcpuclockid(3)
        except OSError:  # it has just ended
            continue
    return seconds


def spent_in_all(pid: int) -> float:
    """The processor seconds of a tree since its start, with processes that have ended and were waited for.

    In hundredths of seconds.
    """
    seconds = 0.0
    for one in tree(pid):
        try:
            seconds += sum(one.cpu_times()[:4])
        except psutil.Error:  # it has just ended
            continue
    return seconds
