"""Runs a function in a forked process, with limits of time and memory, and clears the caches of functions."""

import ctypes
import multiprocessing
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper, lru_cache
from math import inf
from multiprocessing.connection import Connection
from time import monotonic
from types import FrameType
from typing import Any

from conformance.mutants.automatic.complaints import crash, too_long

SECONDS = 90
"""Limit of processor seconds for one judge. With the unchanged sources a judge needs a third of it."""
GIGABYTES = 4
"""Limit of the address space for one mutant, in bytes. TLC needs more, but has already run."""
_SIGNAL_AT_END_OF_PARENT = 1
"""PR_SET_PDEATHSIG of Linux: the kernel sends the signal to a process when its parent ends."""
Sends = Callable[..., None]
"""A function whose last argument is the connection on which it sends its answers."""


def answers(
    function: Sends, given: tuple[object, ...], patience: float = SECONDS * 10, until: float = inf
) -> Iterator[Any]:
    """Yields the values that a function sends from a forked process, until the process ends.

    The process is killed if it sends nothing for `patience` seconds, at the monotonic time `until`, or if the
    caller takes no more values. On Linux the processes that it has forked are killed too.
    """
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe(duplex=False)
    process = forked.Process(target=_run, args=(function, given, ours, theirs))
    process.start()
    theirs.close()
    try:
        while ours.poll(max(0, min(patience, until - monotonic()))):
            yield ours.recv()
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
        ours.close()


def _run(function: Sends, given: tuple[object, ...], ours: Connection, theirs: Connection) -> None:
    ours.close()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SIGNAL_AT_END_OF_PARENT, signal.SIGKILL)
    function(*given, theirs)


class TooLongError(Exception):
    """A judge has used up its processor time."""


def limited(judging: Callable[[], Any], seconds: float = SECONDS) -> Any:  # noqa: ANN401 - what it returns
    """The result of a function, which runs with limits of memory and processor time.

    A complaint if it fails.
    """
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return judging()
    except TooLongError:
        return too_long("processor time")
    except (Exception, SystemExit) as wrong:  # noqa: BLE001 - a mutant may raise anything
        return crash(type(wrong).__name__)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLongError


def forget() -> None:
    """Clear the caches of all functions of the model and of the implementation."""
    for one in _keeping(len(sys.modules)):
        one.cache_clear()


@lru_cache(maxsize=1)
def _keeping(_modules: int) -> tuple["_lru_cache_wrapper[Any]", ...]:
    """The functions with a cache, in all modules that are loaded now."""
    return tuple(
        one
        for name, module in list(sys.modules.items())
        if name.startswith(("model.", "impl."))
        for one in vars(module).values()
        if isinstance(one, _lru_cache_wrapper)
    )
