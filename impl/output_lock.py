"""The lock of an output folder: one job at a time runs into it.

It is held by `flock` on the file `.lock` of the folder, so the kernel releases it when the last process that
holds it ends, however it ends. A supervisor hands its own lock on to each of its drivers: it is free only
when all of them have ended. Two hosts that share a folder see each other's locks only if its file system
shares them; checkpoints are fenced by attempts besides (ONCE-06).
"""

import contextlib
import errno
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from impl.spark.errors import OutputInUseError

LOCK = ".lock"
"""The name of the file; it stays when the job has ended."""
_reserved: dict[Path, int] = {}
"""Locks that this process holds for a job that it is about to run, by output folder."""
WAITER = "output lock"
"""The name of the thread that takes the lock when a superseded driver has ended."""
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


@contextlib.contextmanager
def locked(output: Path, *, supersedes: bool = False) -> Iterator[int]:
    """Hold the lock of `output`, or take over what was reserved; gives its file descriptor.

    `supersedes`: a resume continues although a driver holds the lock and does not end, because it is frozen
    or hangs. It deletes nothing, and the fencing of attempts ends the older driver (ONCE-06). It waits for
    the lock beside its work, and holds it from the older driver's end on. Raises `OutputInUseError` if a job
    runs into that folder and is not to be superseded.
    """
    descriptor = _reserved.pop(output.resolve(), None)
    if descriptor is None:
        descriptor = _acquired(output, supersedes=supersedes)
    try:
        yield descriptor
    finally:
        os.close(descriptor)  # never LOCK_UN, which would release it for every process that shares it


@contextlib.contextmanager
def reserved(output: Path) -> Iterator[None]:
    """Hold the lock of `output` for a job that this process starts within. Raises `OutputInUseError`."""
    path = output.resolve()
    _reserved[path] = _acquired(output)
    try:
        yield
    finally:
        if path in _reserved:
            os.close(_reserved.pop(path))


def inherit(output: Path, descriptor: int) -> None:
    """Reserve the lock that the parent process has handed on."""
    os.set_inheritable(descriptor, False)
    _reserved[output.resolve()] = descriptor


def _acquired(output: Path, *, supersedes: bool = False) -> int:
    output.mkdir(parents=True, exist_ok=True)
    path = output / LOCK
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if supersedes:
            waits = (os.dup(descriptor),)
            threading.Thread(target=_take_when_free, args=waits, name=WAITER, daemon=True).start()
            return descriptor
        holder = os.read(descriptor, 32).decode(errors="replace").strip()
        os.close(descriptor)
        raise OutputInUseError(
            f"{output}: expected a folder that no job runs into, process {holder} runs one; end that one, or "
            "name another folder. Nothing was changed"
        ) from None
    except OSError as failed:
        if failed.errno not in _UNSUPPORTED:
            os.close(descriptor)
            raise
        return descriptor  # this file system has no locks; attempts are fenced all the same
    _sign(descriptor)
    return descriptor


def _take_when_free(descriptor: int) -> None:
    """Wait for the lock, and close this descriptor of it: the job keeps the lock by the one that it has."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _sign(descriptor)
    os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Write down which process holds the lock."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
