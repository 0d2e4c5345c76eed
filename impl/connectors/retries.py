"""Repeats a request to a server that temporarily does not answer."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

Answer = TypeVar("Answer")
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


def patiently(request: Callable[[], Answer], seconds: float, lost: type[Exception]) -> Answer:
    """The answer to a request, which is repeated while it raises `lost`.

    The pause between two tries grows from 0.05 s to 2 s. Raises `lost` if a try fails after `seconds` have
    passed, and any other error at once.
    """
    until, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while True:
        try:
            return request()
        except lost:
            if time.monotonic() >= until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
