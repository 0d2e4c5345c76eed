"""SIGTERM ends a command with the processes that it started, as Ctrl-C in a terminal does.

CI that cancels a job, `kill` and `timeout --foreground` send SIGTERM to the command alone. Without this, TLC,
Spark and worker processes would continue.
"""

import os
import signal
from contextlib import suppress
from types import FrameType


def install() -> None:
    """Install a handler of SIGTERM that ends the child processes and then this process, with exit code 143.

    The handler raises SystemExit, so `with` and `finally` blocks still remove their files.
    """
    ours = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getpid() != ours:  # a fork must not remove files that its parent still needs
            os.kill(os.getpid(), signal.SIGTERM)
            return
        import psutil

        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.terminate()
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
