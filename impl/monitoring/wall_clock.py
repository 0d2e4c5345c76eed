"""The wall clock, for times that people read. Besides, only processing-time timers depend on a wall clock."""

import time


def wall_seconds() -> float:
    """Seconds since 1970, read at each call: a fault may let the clock jump."""
    return time.time()
