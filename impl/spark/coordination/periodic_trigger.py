"""The schedule of periodic checkpoints: one in each interval, and none within the minimum pause.

It reads no clock and starts no timer. The caller polls it with the time in ms, of any monotonic clock. As in
Flink's coordinator, an interval below the minimum pause is raised to the minimum pause. The pause begins at
the last completion of a checkpoint or savepoint, not at a failure. A trigger within the pause moves to the
end of the pause. Missed triggers are not repeated. A trigger is skipped while an earlier request waits in the
queue.
"""

from typing import NamedTuple

from impl.core.errors import ConfigError


class Decision(NamedTuple):
    """The answer of `poll`."""

    trigger: bool
    """Whether to request a checkpoint now."""
    next_poll: int | None
    """The time of the next `poll`, in ms; None while stopped."""


class PeriodicTrigger:
    """The schedule of one job. It begins with `start`. With the interval None it never triggers.

    Raises ConfigError if the interval is below 1, or if the pause or the delay is below 0.
    """

    def __init__(self, interval_ms: int | None, *, min_pause_ms: int = 0, initial_delay_ms: int = 0) -> None:
        if (interval_ms is not None and interval_ms < 1) or min_pause_ms < 0 or initial_delay_ms < 0:
            raise ConfigError(
                "interval_ms must be at least 1 or None, min_pause_ms and initial_delay_ms at least 0, "
                f"got {interval_ms}, {min_pause_ms} and {initial_delay_ms}; correct them"
            )
        self._interval = None if interval_ms is None else max(interval_ms, min_pause_ms)
        self._min_pause = min_pause_ms
        self._initial_delay = initial_delay_ms
        self._due: int | None = None
        self._pause_ends: int | None = None

    @property
    def interval_ms(self) -> int | None:
        """The interval in use, at least the minimum pause; None if there are no periodic checkpoints."""
        return self._interval

    def start(self, now: int) -> int | None:
        """Start at `now`. Returns the time of the first `poll`; None without an interval."""
        if self._interval is not None:
            self._due = now + self._initial_delay
        return self._due

    def stop(self) -> None:
        """Stop until the next `start`. A minimum pause that has begun continues."""
        self._due = None

    def completed(self, now: int) -> None:
        """Begin the minimum pause, because a checkpoint or savepoint has completed at `now`."""
        self._pause_ends = now + self._min_pause

    def poll(self, now: int, *, waiting: bool = False) -> Decision:
        """Whether to request a checkpoint at `now`, and when to poll next.

        `waiting`: an earlier request is still in the coordinator's queue.
        """
        if self._interval is None or self._due is None:
            return Decision(False, None)
        if now < self._due:
            return Decision(False, self._due)
        if self._pause_ends is not None and now < self._pause_ends:
            self._due = self._pause_ends
            return Decision(False, self._due)
        missed = (now - self._due) // self._interval
        self._due += (missed + 1) * self._interval
        return Decision(not waiting, self._due)
