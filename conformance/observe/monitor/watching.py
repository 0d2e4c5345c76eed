"""The loop of a watch: it reads new lines, polls, prints and waits. It ends on a signal or after a time."""

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from conformance.observe.flink.run_state import Settings
from conformance.observe.monitor import shown
from conformance.observe.monitor.growing import GrowingFile, Text
from conformance.observe.monitor.monitor import Monitor
from conformance.observe.monitor.prometheus import Exposition
from conformance.observe.monitor.reports import Alarm, Counts, Ended
from conformance.observe.monitor.rest import RestWatch
from conformance.observe.monitor.stamps import Clock
from conformance.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Options:
    """The watched log or address, and how results are shown."""

    logs: tuple[str, ...] = ()
    rest: str | None = None
    settings: Settings = field(default_factory=Settings)
    json_lines: bool = False
    prometheus: Path | None = None
    seconds: float | None = None
    """The watch ends after this time; None: it ends on a signal; 0: after the lines that exist."""
    poll_seconds: float = 1.0


class Watch(ABC):
    """The base of a watch: a loop that reads, prints findings, and ends with a final summary."""

    def __init__(self, options: Options, emit: Callable[[str], None]) -> None:
        self._options = options
        self._emit = emit
        self._is_stopped = False
        self._exposition: Exposition | None = None

    def _exposes(self, counts: Counts) -> None:
        """Set the counts that the file for Prometheus shows."""
        self._exposition = Exposition(counts)

    def run(self) -> Verdict:
        """Watch until the time is over or a signal comes. Returns the verdict. Raises OSError."""
        begun = time.monotonic()
        with self._stopped_by_signals():
            while not self._is_stopped:
                more = self.read()
                self._write()
                passed = time.monotonic() - begun
                if self._options.seconds is not None and passed >= self._options.seconds and not more:
                    break
                if not more and not self._is_stopped:
                    time.sleep(self._options.poll_seconds)
        return self.finish()

    @abstractmethod
    def read(self) -> bool:
        """Read the new lines. Returns whether there may be more."""

    @abstractmethod
    def finish(self) -> Verdict:
        """Judge the lines that were kept back, and print the final summary. Returns the verdict."""

    def _alarm(self, alarm: Alarm) -> None:
        as_json = self._options.json_lines
        self._emit(shown.as_line(shown.alarm_object(alarm)) if as_json else shown.alarm_lines(alarm))

    def _ended(self, ended: Ended) -> None:
        if self._exposition is not None:
            self._exposition.ended(ended)
        as_json = self._options.json_lines
        self._emit(shown.as_line(shown.ended_object(ended)) if as_json else shown.ended_line(ended))

    def _write(self) -> None:
        if self._options.prometheus is not None and self._exposition is not None:
            self._exposition.write(self._options.prometheus)

    @contextmanager
    def _stopped_by_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM end the watch, which then prints its final summary."""

        def stop(number: int, frame: FrameType | None) -> None:
            self._is_stopped = True

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Watching(Watch):
    """A watch of Flink's logs and REST interface."""

    def __init__(self, options: Options, emit: Callable[[str], None]) -> None:
        """Raises InputError if the URL is not valid."""
        super().__init__(options, emit)
        self.monitor = Monitor(self._alarm, self._ended, options.settings)
        self._files = [GrowingFile(log) for log in options.logs]
        self._rest = (
            None
            if options.rest is None
            else RestWatch(options.rest, self._alarm_of_rest, self._ended_of_rest)
        )
        self._exposes(self.monitor)

    def read(self) -> bool:
        """Read one piece of each file; without new lines, poll once. Returns whether there were lines."""
        pieces = [list(file.lines()) for file in self._files]
        lines: Iterator[Text] | list[Text] = pieces[0] if len(pieces) == 1 else _merged(pieces)
        count = 0
        for text in lines:
            self.monitor.read(text)
            count += 1
        if self._rest is not None and not count:
            self._rest.poll()
        self.monitor.time_is(time.monotonic())
        return count > 0

    def finish(self) -> Verdict:
        """As in `Watch`."""
        for file in self._files:
            if self._options.seconds == 0:
                for text in file.end():
                    self.monitor.read(text)
            file.close()
        self.monitor.finish()
        if self._rest is not None:
            self.monitor.judged |= self._rest.judged
        self._write()
        if self._options.json_lines:
            self._emit(shown.as_line(shown.account_object(self.monitor)))
        else:
            account = list(shown.account(self.monitor, len(self._files)))
            rest = [] if self._rest is None else list(self._rest.account())
            for line in (*account[:-1], *rest, account[-1]):
                self._emit(line)
        return shown.verdict_of(self.monitor)

    # ------------------------------------------------------------ what is shown

    def _alarm_of_rest(self, alarm: Alarm) -> None:
        self.monitor.alarms[alarm.rule] += 1
        self._alarm(alarm)

    def _ended_of_rest(self, ended: Ended) -> None:
        if self._files:  # the log shows this checkpoint too, and counts it
            return
        self.monitor.ended[ended.state] += 1
        self._ended(ended)


def _merged(pieces: Sequence[list[Text]]) -> list[Text]:
    """The lines of several files, sorted by time. A line without a time stays after the line before it."""
    timed: list[tuple[float, int, Text]] = []
    for piece in pieces:
        clock, last = Clock(), 0.0
        for text in piece:
            found = clock.read(text.text)
            last = max(last, found) if found is not None else last
            timed.append((last, len(timed), text))
    return [text for _, _, text in sorted(timed, key=lambda one: one[:2])]
