"""Waits for another thread or process, and leaves the processor to it."""

import threading
from collections.abc import Callable

_PAUSE = 0.01
"""Seconds between two looks."""


def until(holds: Callable[[], object], *, possible: Callable[[], object] | None = None) -> None:
    """Returns as soon as `holds()` is true.

    Raises AssertionError if `possible()` is false: then the condition cannot become true any more.
    """
    pause = threading.Event()
    while not holds():
        assert possible is None or possible(), "what is waited for cannot happen any more"
        pause.wait(_PAUSE)
