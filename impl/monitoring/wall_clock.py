"""The wall clock, for times that people read. Otherwise only processing-time timers read a wall clock."""

import time


def wall_seconds() -> float:
    """Seconds since 1970. Each call reads the clock anew, because an injected fault may make it jump."""
    return time.time()
