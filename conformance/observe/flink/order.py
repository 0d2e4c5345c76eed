"""Replays the lines of a log: those of one thread in their order, those of several threads by causes.

A line whose cause has not occurred waits, and all later lines of its thread wait. If a later line of
another thread shows the cause, the log has the two lines in the wrong order. This is a tolerated reordering,
which is counted. If a line still waits at the end, its cause is missing or comes later on its own thread.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from conformance.observe.flink.grammar import (
    FROM_MANAGER,
    Key,
    LogLine,
    causes,
    is_of_manager,
    logical_thread,
)
from conformance.observe.replay import Rejected

LONG = 4
"""A line that has waited over 1/LONG of `patience` is reported instead of a rejection that it may cause."""


class Wait(NamedTuple):
    """A line has to wait until `key` happens."""

    key: Key
    rules: tuple[str, ...]
    """The rules to charge if `key` never happens."""
    why: str
    """The condition that does not hold, in plain words."""
    reordering: str
    """The name of the tolerated reordering if `key` happens later: one of `REORDERINGS`."""


class Overdue(Rejected):
    """A line of the job manager whose cause has not come in time: see `patience` and LONG."""

    def __init__(self, line: LogLine, wait: Wait) -> None:
        super().__init__(wait.rules, wait.why)
        self.line = line


class Stuck(NamedTuple):
    """The line to report if lines wait for causes that never come."""

    line: LogLine
    rules: tuple[str, ...]
    why: str


class Order:
    """Replays lines with `handle`, which returns a Wait if the cause of the line has not occurred."""

    def __init__(self, handle: Callable[[LogLine], Wait | None], patience: int = 1 << 60) -> None:
        """`patience`: the number of job manager's lines for which one of them may wait for another one."""
        self.tolerated: Counter[str] = Counter()
        self.line: LogLine | None = None
        """The line that is being replayed."""
        self._handle = handle
        self._parked: dict[str, deque[LogLine]] = {}
        """By thread: the line that waits, and the lines after it."""
        self._waits: dict[str, Wait] = {}
        self._waiting: dict[Key, list[str]] = defaultdict(list)
        self._ready: deque[str] = deque()
        self._patience = patience
        self._of_manager = 0
        """Number of lines of the job manager so far."""
        self._due: dict[str, int] = {}
        """By waiting thread of the job manager: the count of its lines at which the wait is overdue."""

    def happened(self, *key: str | int) -> None:
        """Wake the threads that wait for `key`."""
        if key in self._waiting:
            self._ready.extend(self._waiting.pop(key))

    def replay(self, lines: Sequence[LogLine]) -> Stuck | None:
        """Replay all lines. Returns the first line whose cause never comes, or None.

        Raises Rejected for a rejected line, unless an earlier line waits without a cause.
        """
        position = 0
        try:
            for position, line in enumerate(lines):  # noqa: B007 - used when a line is rejected
                self.feed(line)
        except Rejected:
            earlier = self.stuck(lines[position + 1 :])
            if earlier is not None and self.line is not None and earlier.line.number < self.line.number:
                return earlier
            raise
        return self.stuck(())

    def feed(self, line: LogLine) -> None:
        """Replay the next line, and the lines that waited for it. Raises Rejected."""
        thread = logical_thread(line)
        if is_of_manager(line):
            self._of_manager += 1
            if self._due and min(self._due.values()) < self._of_manager:
                self._overdue()
        if thread in self._parked:
            self._parked[thread].append(line)
            return
        self.line = line
        try:
            wait = self._handle(line)
            if wait is not None:
                self._park(thread, wait, deque([line]))
            if self._ready:
                self._resume()
        except Rejected:
            self._earlier()
            raise

    def oldest(self) -> int:
        """The number of the first line that waits; 0 if none does."""
        return min((lines[0].number for lines in self._parked.values()), default=0)

    def _park(self, thread: str, wait: Wait, lines: deque[LogLine]) -> None:
        self._parked[thread] = lines
        self._waits[thread] = wait
        self._waiting[wait.key].append(thread)
        if wait.key[0] in FROM_MANAGER and is_of_manager(lines[0]):
            self._due.setdefault(thread, self._of_manager + self._patience)

    def _earlier(self) -> None:
        """Raises Overdue instead of a rejection if a line of the job manager has waited long (LONG)."""
        soon = self._of_manager + self._patience - self._patience // LONG
        if self._due and min(self._due.values()) < soon:
            self._overdue()

    def _overdue(self) -> None:
        """Raises Overdue for the first waiting line of the job manager, because others may wait for it."""
        waiting = [thread for thread, lines in self._parked.items() if is_of_manager(lines[0])]
        thread = min(waiting, key=lambda one: self._parked[one][0].number)
        self.line = self._parked[thread][0]
        raise Overdue(self.line, self._waits[thread])

    def _resume(self) -> None:
        while self._ready:
            thread = self._ready.popleft()
            lines = self._parked.pop(thread)
            waited: Wait | None = self._waits.pop(thread)
            due = self._due.pop(thread, None)
            while lines:
                self.line = lines[0]
                wait = self._handle(lines[0])
                if waited is not None and (wait is None or wait.key != waited.key):
                    self.tolerated[waited.reordering] += 1
                    waited = None
                if wait is not None:
                    if waited is not None and due is not None:
                        self._due[thread] = due  # the same line waits for the same cause again
                    self._park(thread, waited or wait, lines)
                    break
                lines.popleft()

    def waiting(self, number: int) -> Iterator[str]:
        """Yield the first waiting line of each thread, except line `number`, and the reason of its wait."""
        for line, thread in sorted((lines[0].number, thread) for thread, lines in self._parked.items()):
            if line != number:
                yield f"line {line}: {self._waits[thread].why}"

    def stuck(self, unread: Sequence[LogLine]) -> Stuck | None:
        """The first waiting line whose cause can no longer come from any line; None if there is none."""
        to_come = {
            thread: {key for line in lines for key in causes(line)} for thread, lines in self._parked.items()
        }
        given: set[Key] = set()
        for line in unread:
            to_come.get(logical_thread(line), given).update(causes(line))
        hopeless = dict(self._waits)
        while released := [thread for thread, wait in hopeless.items() if wait.key in given]:
            for thread in released:
                del hopeless[thread]
                given |= to_come[thread]
        first = min(hopeless, key=lambda thread: self._parked[thread][0].number, default=None)
        if first is None:
            return None
        _, rules, why, _ = wait = hopeless[first]
        if [thread for thread, keys in to_come.items() if wait.key in keys] == [first]:
            why = f"{why}: its cause comes later on the same thread"
        return Stuck(self._parked[first][0], rules, why)
