"""Jumps of the wall clock of this process, as planned faults.

A jump replaces `time.time` and `time.time_ns`. So it changes the time for all code of this process that calls
them as attributes of `time`, also in other libraries. It does not change `datetime.now`, functions that were
imported by name before, code that is not Python, and other processes. `time.monotonic` never jumps.
"""

import time
from typing import Final

from impl.faults import BACK, FORWARD

JUMP_SECONDS: Final = 3_600
"""The size of a jump, in seconds. It is much larger than every interval and time-out of a job."""
_NANOSECONDS: Final = 1_000_000_000
_seconds, _nanoseconds = time.time, time.time_ns
_ahead = 0
"""The seconds by which the clock of this process is ahead of the real time."""


def jump(action: str) -> bool:
    """If `action` is a jump, let the wall clock of this process jump by an hour; returns whether it is."""
    global _ahead
    if action not in (*FORWARD, *BACK):
        return False
    _ahead += JUMP_SECONDS if action in FORWARD else -JUMP_SECONDS
    time.time, time.time_ns = _jumped_seconds, _jumped_nanoseconds
    return True


def settle() -> None:
    """Set the clock of this process to the real time again."""
    global _ahead
    _ahead = 0
    time.time, time.time_ns = _seconds, _nanoseconds


def _jumped_seconds() -> float:
    return _seconds() + _ahead


def _jumped_nanoseconds() -> int:
    return _nanoseconds() + _ahead * _NANOSECONDS
