"""The coordinator's own schedule of periodic checkpoints, in virtual milliseconds.

Slots follow each other at a fixed rate, whatever becomes of the checkpoints asked for; one that comes
within the minimum pause moves all that follow. Pure: it is told the time. `schedule` is the same for an
owner who reads a clock and may look late.
"""

from impl.core.coordinator.profiles import CoordinatorGeneration


class Scheduler:
    """When the coordinator asks by itself. `interval_ms`: between two slots; None: never."""

    def __init__(
        self,
        interval_ms: int | None,
        initial_delay_ms: int | None,
        min_pause_ms: int,
        generation: CoordinatorGeneration,
    ) -> None:
        self._interval = None if interval_ms is None else max(interval_ms, min_pause_ms)
        self._first_delay = self._interval if initial_delay_ms is None else initial_delay_ms
        self._later_delay = min_pause_ms if generation.pauses_before_a_later_start else self._first_delay
        self._runs = False
        self._started = False
        self._next: int | None = None

    @property
    def configured(self) -> bool:
        """Whether there is anything to schedule."""
        return self._interval is not None

    @property
    def runs(self) -> bool:
        """Whether periodic requests are welcome."""
        return self._runs

    @property
    def next_slot(self) -> int | None:
        """The virtual time of the next slot, None if none is planned."""
        return self._next

    def start(self, now: int) -> None:
        """The first slot comes after the delay of this start."""
        delay = self._later_delay if self._started else self._first_delay
        self._runs = self._started = True
        self._next = None if delay is None else now + delay

    def stop(self) -> None:
        """Nothing is asked for before the next start."""
        self._runs = False
        self._next = None

    def slot_passed(self) -> None:
        """The next slot has come; the one behind it is an interval away."""
        if self._next is not None and self._interval is not None:
            self._next += self._interval

    def move(self, to: int) -> None:
        """The next slot comes at `to` instead, also if the scheduler stands still: it is in vain then."""
        if self._interval is not None:
            self._next = to

    def begin_anew(self, now: int) -> None:
        """The next slot comes after the initial delay."""
        if self._first_delay is not None:
            self._next = now + self._first_delay

    def end_timer(self) -> None:
        """No slot comes by itself; periodic requests stay welcome."""
        self._next = None
