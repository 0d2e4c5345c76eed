"""The wall clock, for times that people read. Only processing-time timers of users depend on it too."""

import time


def wall_seconds() -> float:
    """Seconds since 1970, read at each call: a fault may let the clock jump."""
    return time.time()
