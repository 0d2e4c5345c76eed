"""The reports of a monitor: ended checkpoints, alarms, and deferred alarms."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """A line of a file, with its text; line 0 for an answer of the REST interface."""

    file: str
    line: int
    text: str = ""
    time: float | None = None
    """In seconds; since the epoch if the record has a date."""

    def describe(self) -> str:
        """File and line, `job.log:17`."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Ended(NamedTuple):
    """A checkpoint that has ended, or was restored."""

    job: str
    checkpoint: int
    state: str
    """`completed`, `failed`, `expired`, `declined`, `subsumed`, `restored`, or `aborted`: its job ended."""
    kind: str
    """`checkpoint` or `savepoint`."""
    duration_ms: int | None
    size: int | None
    """In bytes."""
    place: Place


class Alarm(NamedTuple):
    """A line that no rule allows, or that cannot be read."""

    job: str
    rule: str
    """The rule that is broken; empty if a line cannot be read or is missing."""
    sentence: str
    place: Place
    checkpoint: int = -1

    def describe(self) -> str:
        """Place, rule and sentence in one line."""
        return f"{self.place.describe()}: {self.rule or 'UNREADABLE'}: {self.sentence}"


class JobCounts(Protocol):
    """The counts of one job."""

    @property
    def pending(self) -> Collection[int]:
        """Ids of its pending checkpoints."""

    @property
    def restarts(self) -> int:
        """The number of restarts."""


class Counts(Protocol):
    """The counts of a monitor."""

    @property
    def lines(self) -> int:
        """The number of lines that were read."""

    @property
    def about(self) -> int:
        """The number of these lines that concern the protocol."""

    @property
    def replayed(self) -> int:
        """The number of these lines that the model has replayed."""

    @property
    def alarms(self) -> Counter[str]:
        """The number of alarms, by rule; an empty name for alarms without a rule."""

    @property
    def ended(self) -> Counter[str]:
        """The number of checkpoints, by the state in which they ended."""

    @property
    def jobs(self) -> Mapping[str, JobCounts]:
        """Jobs by name."""


class DeferredAlarm(NamedTuple):
    """An alarm that is held back, because a later line of another thread may show that nothing is wrong.

    `resolved` returns whether such a line has come.
    """

    resolved: Callable[[], bool]
    alarm: Alarm
    reordering: str
    """The name under which a reordering is counted if such a line comes."""
    ends_with: int
    """The checkpoint at whose end the alarm is raised at once; -1: none."""
    last_line: int
    """The count of the job's lines at which the alarm is raised."""
    deadline: float
    """The monotonic time in seconds at which the alarm is raised."""


class DeferredAlarms:
    """The deferred alarms of one job. Each is raised, or counted as a tolerated reordering."""

    LINES = 20
    """An alarm is deferred for at most this number of the job's judged lines at INFO."""
    SECONDS = 10.0
    """An alarm is deferred for at most this time, in seconds."""
    MOST = 200
    """Maximum number of deferred alarms. One more raises the oldest."""

    def __init__(self, raise_alarm: Callable[[Alarm], None]) -> None:
        self.tolerated: Counter[str] = Counter()
        self._raise = raise_alarm
        self._open: list[DeferredAlarm] = []
        self._lines = 0
        self.now = 0.0

    def add(
        self,
        resolved: Callable[[], bool],
        alarm: Alarm,
        reordering: str,
        ends_with: int = -1,
        lines: int = LINES,
    ) -> None:
        """Defer an alarm for at most `lines` lines, or until `resolved` returns True. See `DeferredAlarm`."""
        last, deadline = self._lines + lines, self.now + self.SECONDS
        self._open.append(DeferredAlarm(resolved, alarm, reordering, ends_with, last, deadline))
        if len(self._open) > self.MOST:
            self._raise(self._open.pop(0).alarm)

    def line_read(self) -> None:
        """Count a judged line of the job."""
        self._lines += 1
        if self._open:
            self._settle(lambda one: self._lines >= one.last_line)

    def checkpoint_ended(self, checkpoint: int) -> None:
        """Raise the alarms that end with this checkpoint."""
        if self._open:
            self._settle(lambda one: one.ends_with == checkpoint)

    def time_is(self, now: float) -> None:
        """Set the time, and raise the alarms whose deadline has passed."""
        self.now = now
        if self._open:
            self._settle(lambda one: now >= one.deadline)

    def close(self, is_over: bool) -> None:
        """End the watch. Deferred alarms are raised if the job is over, and dropped if it still runs."""
        self._settle(lambda one: is_over)
        self._open.clear()

    def _settle(self, is_over: Callable[[DeferredAlarm], bool]) -> None:
        remaining = []
        for one in self._open:
            if one.resolved():
                self.tolerated[one.reordering] += 1
            elif is_over(one):
                self._raise(one.alarm)
            else:
                remaining.append(one)
        self._open = remaining
