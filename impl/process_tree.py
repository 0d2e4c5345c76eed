"""Ends a process with all that it has started: Java, Spark's executors, and their Python workers.

All of them inherit a token in their environment. So one that has left its group or its session, or whose
parent has died, is found as well, and no other process is.
"""

import contextlib
import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

import psutil

TOKEN = "BARRIERSPEC_DRIVER"
"""The environment variable with the token of a process's supervisor."""
_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.05


def new_token() -> str:
    """A token that no other driver has."""
    return secrets.token_hex(16)


def members(token: str) -> list[psutil.Process]:
    """The live processes with this token, except this one."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or is another user's
            ours = process.environ().get(TOKEN) == token and process.pid != os.getpid()
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def end(token: str, seconds: float = _GRACE_SECONDS) -> None:
    """End all of them: SIGTERM, by which Java removes its temporary files, and SIGKILL after `seconds`."""
    until = time.monotonic() + seconds
    for process in members(token):
        with contextlib.suppress(psutil.Error):
            process.terminate()
    while left := members(token):  # also those that were started meanwhile
        if time.monotonic() > until:
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
        threading.Event().wait(_LOOK_SECONDS)


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """SIGTERM raises `SystemExit` within, with code 143, so that what was begun is cleaned up.

    Only in the main thread, and only if the signal has no handler.
    """
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _exit(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one does not interrupt the cleaning up
    raise SystemExit(128 + number)
