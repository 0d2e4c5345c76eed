"""Ends a driver and all processes that it has started: Java, Spark's executors, and their Python workers.

All these processes inherit a token in their environment. So this module finds a process that has left its
group or its session, or whose parent has ended. It finds no process of another driver.
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
"""The name of the environment variable with the token of a process's supervisor."""
_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.05


def new_token() -> str:
    """A new random token, which no other supervisor has."""
    return secrets.token_hex(16)


def members(token: str) -> list[psutil.Process]:
    """The live processes with this token, without the calling process."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # the process has ended, or belongs to another user
            ours = process.environ().get(TOKEN) == token and process.pid != os.getpid()
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def end(token: str, seconds: float = _GRACE_SECONDS) -> None:
    """End all processes with this token: by SIGTERM, and by SIGKILL after `seconds`.

    Java removes its temporary files when it gets SIGTERM.
    """
    until = time.monotonic() + seconds
    for process in members(token):
        with contextlib.suppress(psutil.Error):
            process.terminate()
    while left := members(token):  # also processes that were started in the meantime
        if time.monotonic() > until:
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
        threading.Event().wait(_LOOK_SECONDS)


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """A context in which SIGTERM raises `SystemExit` with code 143, so that `finally` blocks run.

    It has an effect only in the main thread, and only if SIGTERM has no handler.
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
    signal.signal(number, signal.SIG_IGN)  # a second signal does not interrupt the `finally` blocks
    raise SystemExit(128 + number)
