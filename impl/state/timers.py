"""Processing-time timers of keys: a part of the keyed state of one subtask.

The timers are a map state of the backend, with the times of each key. So every snapshot contains them, a
restore divides them by key group, and each backend stores them like any other state. An index in memory finds
the next timer. A restore builds the index from the state.

The subtask's thread fires timers between two batches of rows. It removes the state of a timer and calls the
function, with no snapshot in between. So a snapshot contains the timer, or all of its effects (ONCE-01).
"""

import operator
import time
from collections.abc import Callable, Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any, Final

from impl.state.backends.key_values import require_key
from impl.state.backends.keyed import KeyedStateBackend
from impl.state.errors import NotRowsError, StateError

TIMERS: Final = "_timers/processing-time"
"""The name of the map state."""
_LONGEST_WAIT_SECONDS: Final = 1.0
"""The maximum time between two reads of the clock. It is short, because an operator may set the clock."""
_SPARE_TIMES: Final = 1_000
_TIMES: Final = range(-(2**63), 2**63)
"""The valid times of timers, in ms since 1970: signed ints of 64 bits, as in Flink."""

OnTimer = Callable[[Hashable, int], Iterable[Any]]
Clock = Callable[[], int]
"""A function that returns the processing time, in ms since 1970."""


def wall_clock() -> int:
    """The time of this host's clock, in ms since 1970."""
    return time.time_ns() // 1_000_000


class ProcessingTimeTimers:
    """The timers of one subtask. `on_timer`: called with the key and the time of a due timer.

    A timer is due when the clock is beyond its time, as in Flink. Timers of the same time fire in no defined
    order.
    """

    def __init__(self, state: KeyedStateBackend, on_timer: OnTimer, clock: Clock = wall_clock) -> None:
        self._state = state.map_state(TIMERS, immutable=True)
        self._on_timer = on_timer
        self._clock = clock
        self._keys: dict[int, set[Hashable]] = {}
        """Maps each time to the keys that have a timer at this time."""
        self._times: list[int] = []
        """A heap of these times. It may also contain times whose timers were deleted."""
        for key, times in self._state.items():
            for timestamp in times:
                self._note(key, timestamp)

    def current_processing_time(self) -> int:
        """The time of the clock, in ms since 1970."""
        return self._clock()

    def register_processing_time_timer(self, key: Hashable, timestamp: int) -> None:
        """Call `on_timer(key, timestamp)` once when the clock is beyond `timestamp`, in ms since 1970.

        Does nothing if the key already has this timer. Raises StateError for a time that is not an int, for a
        value that cannot be a key, and, at the latest at the next snapshot, for a key of another subtask.
        """
        timestamp = _time(timestamp)
        require_key(key)
        if key not in self._keys.get(timestamp, ()):
            self._state.put(key, timestamp, True)
            self._note(key, timestamp)

    def delete_processing_time_timer(self, key: Hashable, timestamp: int) -> None:
        """Delete a timer, if the key has it. Raises StateError for a time that is not an int."""
        timestamp = _time(timestamp)
        require_key(key)
        keys = self._keys.get(timestamp, set())
        if key in keys:
            keys.remove(key)
            self._forget(key, timestamp)

    def fire(self, most: int) -> list[Any]:
        """Call the function for at most `most` due timers, earliest first; returns the rows to emit.

        Raises NotRowsError if the function returns a value that is not a collection of rows, such as None.
        """
        rows: list[Any] = []
        now = self._clock()
        for _ in range(most):
            timestamp = self._next()
            if timestamp is None or timestamp >= now:
                break
            key = self._keys[timestamp].pop()
            self._forget(key, timestamp)
            made = self._on_timer(key, timestamp)
            try:
                emitted = iter(made)
            except TypeError as wrong:
                owner = getattr(self._on_timer, "__self__", self._on_timer)
                raise NotRowsError.of(owner, "on_timer", repr(made)) from wrong
            rows.extend(emitted)
        return rows

    def wait(self) -> float | None:
        """The seconds until the next timer may be due, 0 if a timer is due; None without timers."""
        timestamp = self._next()
        if timestamp is None:
            return None
        return min(max(timestamp + 1 - self._clock(), 0) / 1_000, _LONGEST_WAIT_SECONDS)

    def _note(self, key: Hashable, timestamp: int) -> None:
        if timestamp not in self._keys:
            self._keys[timestamp] = set()
            if len(self._times) > 2 * len(self._keys) + _SPARE_TIMES:  # most times have no timer any more
                self._times = [*self._keys]
                heapify(self._times)
            else:
                heappush(self._times, timestamp)
        self._keys[timestamp].add(key)

    def _forget(self, key: Hashable, timestamp: int) -> None:
        """Remove a timer from the state. Remove its time from `_keys` if no other timer has this time."""
        self._state.remove(key, timestamp)
        if not self._keys[timestamp]:
            del self._keys[timestamp]

    def _next(self) -> int | None:
        """The earliest time of a timer; None without timers."""
        while self._times and self._times[0] not in self._keys:
            heappop(self._times)
        return self._times[0] if self._times else None


def _time(timestamp: object) -> int:
    if isinstance(timestamp, bool) or not hasattr(timestamp, "__index__"):
        raise StateError(
            f"the time of a timer must be ms since 1970 as an int, got {timestamp!r}; convert it with int()"
        )
    found = operator.index(timestamp)
    if found not in _TIMES:
        raise StateError(f"the time of a timer must have at most 64 bits, got {found:#x}; pass ms since 1970")
    return found
