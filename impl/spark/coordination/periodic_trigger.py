"""The schedule of periodic checkpoints: every interval, but not before the pause after a completion.

It reads no clock: its owner passes the time, in milliseconds. Facts of Flink's coordinator: the interval is
raised to the minimum pause; the pause is measured from the last completion, also of a savepoint, and not from
failures; a slot within the pause is moved to its end. Missed slots are not made up for. One periodic request
may wait; a slot that finds one waiting is left out.
"""

from typing import NamedTuple

from impl.core.errors import ConfigError


class Decision(NamedTuple):
    """Whether to request a checkpoint now, and when to call `poll` again; None while stopped."""

    trigger: bool
    look_again: int | None


class PeriodicTrigger:
    """The schedule of one job, stopped until `start`; without an interval, None, there are no requests.

    Raises `ConfigError` for an interval below 1, a pause or a delay below 0.
    """

    def __init__(self, interval_ms: int | None, *, min_pause_ms: int = 0, initial_delay_ms: int = 0) -> None:
        if (interval_ms is not None and interval_ms < 1) or min_pause_ms < 0 or initial_delay_ms < 0:
            raise ConfigError(
                "interval_ms has to be at least 1 or None, min_pause_ms and initial_delay_ms at least 0, "
                f"got {interval_ms}, {min_pause_ms} and {initial_delay_ms}; correct them"
            )
        self._interval = None if interval_ms is None else max(interval_ms, min_pause_ms)
        self._min_pause = min_pause_ms
        self._initial_delay = initial_delay_ms
        self._due: int | None = None
        self._pause_ends: int | None = None

    @property
    def interval_ms(self) -> int | None:
        """The interval in use, at least the minimum pause; None where there is no schedule."""
        return self._interval

    def start(self, now: int) -> int | None:
        """The job runs from `now` on; returns when to call `poll` first, None without an interval."""
        if self._interval is not None:
            self._due = now + self._initial_delay
        return self._due

    def stop(self) -> None:
        """The job does not run any more; the end of the last pause holds for a later start."""
        self._due = None

    def completed(self, now: int) -> None:
        """A checkpoint or savepoint completed."""
        self._pause_ends = now + self._min_pause

    def poll(self, now: int, *, waiting: bool = False) -> Decision:
        """Whether to request a checkpoint at `now`. `waiting`: an earlier request has not started."""
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
