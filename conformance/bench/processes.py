"""The processes of a job, and the processor time that they have spent: driver, Java, and every worker."""

from collections.abc import Iterable

import psutil


def tree(pid: int | None = None) -> list[psutil.Process]:
    """A process, None: this one, and all below it."""
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]


def spent(processes: Iterable[psutil.Process]) -> dict[int, float]:
    """By process, those that are there: its processor seconds since it began."""
    seconds = {}
    for one in processes:
        try:
            times = one.cpu_times()
        except psutil.Error:  # it has just ended
            continue
        seconds[one.pid] = times.user + times.system
    return seconds
