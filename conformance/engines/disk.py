"""Injects faults of the disk: a folder that does not exist, and processes that cannot write."""

import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


def without_folder(folder: Path, seconds: float) -> None:
    """Replace the folder by a file for this time, so that no process can make the folder; then restore it."""
    aside = folder.with_name(f"{folder.name}-aside")
    folder.rename(aside)
    folder.touch()
    try:
        time.sleep(seconds)
    finally:
        folder.unlink()
        aside.rename(folder)


def without_disk(processes: Sequence[int], seconds: float) -> None:
    """Prevent these processes and their children from writing into any file for this time."""
    with limited([*_with_children(processes)]):
        time.sleep(seconds)


@contextmanager
def limited(processes: Sequence[int]) -> Iterator[None]:
    """Set the limit for the size of a file that these processes write to 0 bytes, within the block."""
    before = {}
    try:
        for one in processes:
            with suppress(ProcessLookupError):
                before[one] = resource.prlimit(one, resource.RLIMIT_FSIZE)
                resource.prlimit(one, resource.RLIMIT_FSIZE, (0, before[one][1]))
        yield
    finally:
        for one, limits in before.items():
            with suppress(ProcessLookupError):
                resource.prlimit(one, resource.RLIMIT_FSIZE, limits)


def _with_children(processes: Sequence[int]) -> Iterator[int]:
    for one in processes:
        yield one
        with suppress(psutil.NoSuchProcess):
            yield from (child.pid for child in psutil.Process(one).children(recursive=True))
