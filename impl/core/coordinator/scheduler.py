"""The scheduler of periodic checkpoints: when the next request is due, in virtual milliseconds.

A *slot* is a time at which the scheduler makes a request. The slots follow each other at a fixed interval,
whether their checkpoints complete or not. A slot within the minimum pause is moved to the end of the pause,
and all later slots with it (COORD-26).

From 2.3 on the job status listener starts and stops the scheduler. The listener awaits every reported
execution until it runs or has finished. An execution that is replaced while it is awaited sends no further
report, so the listener awaits it for ever. New executions are reported once the job runs.
"""

from collections.abc import Iterable, Sequence

from impl.core.coordinator.profiles import CoordinatorProfile


class Scheduler:
    """The slots of periodic requests. `interval_ms`: the time between two slots; None: there are no slots.

    The minimum pause raises a shorter interval. `initial_delay_ms`: time before the first slot; None: the
    interval.
    """

    def __init__(
        self,
        interval_ms: int | None,
        initial_delay_ms: int | None,
        min_pause_ms: int,
        profile: CoordinatorProfile,
    ) -> None:
        self._interval = None if interval_ms is None else max(interval_ms, min_pause_ms)
        self._first_delay = self._interval if initial_delay_ms is None else initial_delay_ms
        self._later_delay = min_pause_ms if profile.restarts_after_pause else self._first_delay
        self._runs = False
        self._started = False
        self._next: int | None = None

    @property
    def configured(self) -> bool:
        """Whether there is an interval."""
        return self._interval is not None

    @property
    def runs(self) -> bool:
        """Whether periodic requests may start."""
        return self._runs

    @property
    def next_slot(self) -> int | None:
        """The virtual time of the next slot; None if none is planned."""
        return self._next

    def start(self, now: int) -> None:
        """Start: the next slot comes after the delay that `restarts_after_pause` of the profile decides."""
        delay = self._later_delay if self._started else self._first_delay
        self._runs = self._started = True
        self._next = None if delay is None else now + delay

    def stop(self) -> None:
        """Stop: no slot comes before the next start."""
        self._runs = False
        self._next = None

    def slot_passed(self) -> None:
        """The next slot has come; the one after it is an interval away."""
        if self._next is not None and self._interval is not None:
            self._next += self._interval

    def move(self, to: int) -> None:
        """Move the next slot to `to`. A stopped scheduler then has this slot, whose request is rejected."""
        if self._interval is not None:
            self._next = to

    def begin_anew(self, now: int) -> None:
        """The next slot comes after the initial delay."""
        if self._first_delay is not None:
            self._next = now + self._first_delay


class JobStatusListener:
    """Awaits the executions of `tasks`, which are all created and not yet running."""

    def __init__(self, tasks: Sequence[str]) -> None:
        self.started = False
        self._awaited = set(tasks)
        self._awaits_replaced = False
        self._new: set[str] = set()

    @property
    def awaits_none(self) -> bool:
        """Whether every reported execution runs or has finished."""
        return not self._awaited and not self._awaits_replaced

    def report(self, task: str, *, is_up: bool) -> None:
        """The current execution of `task` reports a status. `is_up`: it runs or has finished."""
        self._new.discard(task)
        if is_up:
            self._awaited.discard(task)
        else:
            self._awaited.add(task)

    def replace(self, tasks: Iterable[str]) -> None:
        """New executions replace those of `tasks`."""
        renewed = set(tasks)
        self._awaits_replaced = self._awaits_replaced or bool(self._awaited & renewed)
        self._awaited -= renewed
        self._new |= renewed

    def await_new(self, order: Sequence[str]) -> list[str]:
        """Await the new executions; returns their tasks in the given order."""
        new = [task for task in order if task in self._new]
        self._new.clear()
        self._awaited.update(new)
        return new
