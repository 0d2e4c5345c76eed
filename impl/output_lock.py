"""The lock of an output folder. Only one job at a time writes into an output folder.

The lock is `flock` on the file `.lock` of the folder. The kernel releases it when the last process that holds
it ends, also when that process is killed. The drivers of a supervisor inherit its lock, so the lock is free
only when the supervisor and all its drivers have ended. Two hosts that share a folder see each other's locks
only if the file system shares locks. The storage refuses an older attempt also without a lock (ONCE-06).
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
"""The name of the lock's file, which stays in the folder after the end of the job."""
_reserved: dict[Path, int] = {}
"""Maps an output folder to the descriptor of the lock that this process holds for a job."""
WAITER = "output lock"
"""The name of the thread that waits for the lock until an older driver has ended."""
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


@contextlib.contextmanager
def locked(output: Path, *, supersedes: bool = False) -> Iterator[int]:
    """A context that holds the lock of `output` and gives the file descriptor of the lock.

    It takes over a lock that `reserved` or `inherit` holds. `supersedes`: whether the context begins although
    an older driver holds the lock. A resumed job needs this if the older driver is frozen or hangs. The
    fencing of attempts ends the older driver (ONCE-06), and the resumed job deletes none of its files. A
    thread takes the lock when the older driver has ended. Raises `OutputInUseError` if another job holds the
    lock and `supersedes` is False.
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
    """A context that holds the lock of `output` until `locked` takes it over for a job of this process.

    Raises `OutputInUseError` if another job holds the lock.
    """
    path = output.resolve()
    _reserved[path] = _acquired(output)
    try:
        yield
    finally:
        if path in _reserved:
            os.close(_reserved.pop(path))


def inherit(output: Path, descriptor: int) -> None:
    """Reserve a lock that this process has inherited. `descriptor`: the file descriptor of the lock."""
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
            f"{output}: expected an output folder that no job uses, but process {holder} runs a job there; "
            "end that process, or name another folder. Nothing was changed"
        ) from None
    except OSError as failed:
        if failed.errno not in _UNSUPPORTED:
            os.close(descriptor)
            raise
        return descriptor  # this file system has no locks; attempts are fenced without them
    _sign(descriptor)
    return descriptor


def _take_when_free(descriptor: int) -> None:
    """Take the lock when the older driver has ended. Closes `descriptor`; the job has a copy, which stays."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _sign(descriptor)
    os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Write the id of this process into the lock's file."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
