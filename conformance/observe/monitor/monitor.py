"""The monitor of Flink logs: it reads lines, gives each to its job, and counts what it has found.

A log may hold several jobs, restarts of the job manager, and lines of any level. Most records name their job
or one of its executions. A record that names neither is judged only if one job alone can have written it.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.reading import REASON, unfinalized
from conformance.observe.flink.records import LAYOUTS, Layout, Record, json_record
from conformance.observe.flink.run_state import Settings
from conformance.observe.flink.unreadable import Unreadable, broken, unreadable
from conformance.observe.monitor.growing import Text
from conformance.observe.monitor.job import JobWatch
from conformance.observe.monitor.live_replay import LiveReplay
from conformance.observe.monitor.reports import Alarm, Ended, Place
from conformance.observe.monitor.stamps import Clock

MOST_JOBS = 200
"""Maximum number of jobs that are watched at once. A new job replaces one that has ended, else the oldest."""
MOST_STORED = 1_000
"""Maximum number of lines about stored checkpoints that are kept until a line names the job that restores."""
_GRAPH = re.compile(r"Created execution graph ([0-9a-f]{32}) for job ([0-9a-f]{32})")
_GIVEN = re.compile(r"Starting job ([0-9a-f]{32}) from savepoint")
_OF_TASKS = frozenset({grammar.EXECUTION, grammar.TASK, grammar.DEPLOYED})


_REASONS = (
    "thrown.message", "error.message", "exception.exception_message", "stack_trace", "error.stack_trace",
    "thrown.extendedStackTrace",
)  # fmt: skip
"""The names that JSON layouts give to the message of an exception, or to its stack trace."""


def _reason(line: str) -> str:
    """The reason of a failure, from a record in JSON."""
    found = json_record(line) or {}
    text = next((one for name in _REASONS if isinstance(one := found.get(name), str)), "")
    match = REASON.match(text)
    return text.partition("\n")[0] if match is None else match[1]


class _File:
    """The layout of a file, once a record has shown it, and the clock of its times."""

    def __init__(self) -> None:
        self.layout: Layout | None = None
        self.clock = Clock()
        self.failure: tuple[LogLine, Place] | None = None
        """The line of a failed checkpoint, whose next line gives the reason."""


class Monitor:
    """Watches jobs. Calls `on_alarm` for each alarm and `on_ended` for each ended checkpoint, at once."""

    def __init__(
        self,
        on_alarm: Callable[[Alarm], None],
        on_ended: Callable[[Ended], None],
        settings: Settings | None = None,
    ) -> None:
        self.jobs: dict[str, JobWatch] = {}
        self.replays: dict[str, LiveReplay] = {}
        self.lines = 0
        """The number of all lines."""
        self.about = 0
        """The number of lines about the protocol."""
        self.kinds: Counter[str] = Counter()
        """The number of lines about the protocol, by kind."""
        self.alarms: Counter[str] = Counter()
        """The number of alarms by rule; an empty name for alarms without a rule."""
        self.ended: Counter[str] = Counter()
        """The number of checkpoints, by the state in which they ended."""
        self.newest_time: float | None = None
        self.judged: set[str] = set()
        """Rules that were checked on lines of jobs that are no longer watched."""
        self._on_alarm, self._on_ended = on_alarm, on_ended
        self._settings = settings or Settings()
        self._files: dict[str, _File] = {}
        self._graphs: dict[str, str] = {}
        self._stored: deque[tuple[LogLine, Place]] = deque(maxlen=MOST_STORED)
        """Lines about stored checkpoints since the last restore."""

    # ------------------------------------------------------------ lines

    def read(self, text: Text) -> None:
        """Read one line."""
        self.lines += 1
        file = self._files.setdefault(text.file, _File())
        place = Place(text.file, text.number, text.text[:400])
        if not text.whole:
            self._unreadable(broken(text.number, text.text), place, "the line breaks off")
            return
        found = None if file.layout is None else file.layout(text.text)
        if found is None:
            for layout in LAYOUTS:
                found = layout(text.text)
                if found is not None:
                    file.layout = layout
                    break
        if found is None:
            reason = REASON.match(text.text) if file.failure is not None else None
            self._release(file, "" if reason is None else reason[1])
            failure = unfinalized(text.number, text.text)
            if failure is not None:
                self._judge(failure, place)
            if reason is None:
                self._unreadable(broken(text.number, text.text), place)
            return
        self._release(file)
        logger, thread, message = found
        record = Record(text.number, logger, thread, message)
        line = grammar.parse(record)
        if line is None:
            if not self._notes(message):
                self._unreadable(unreadable(record), place)
            return
        time = file.clock.read(text.text)
        self.newest_time = time if time is not None else self.newest_time
        self.about += 1
        self.kinds[line.kind] += 1
        place = Place(text.file, text.number, place.text, time)
        if line.kind == grammar.FAILED:
            file.failure = line, place
            if text.text.startswith("{"):
                self._release(file, _reason(text.text))
            return
        self._judge(line, place)

    def _release(self, file: _File, reason: str = "") -> None:
        if file.failure is not None:
            (line, place), file.failure = file.failure, None
            self._judge(line._replace(detail=reason), place)

    def _unreadable(self, found: Unreadable | None, place: Place, why: str = "") -> None:
        if found is not None:
            sentence = f"the line cannot be read: {found.why}" + (f"; {why}" if why else "")
            self._alarm(Alarm("", "", sentence, place))

    def _notes(self, message: str) -> bool:
        """Record what a message states about a job. Returns whether it states anything."""
        graph, given = _GRAPH.match(message), _GIVEN.match(message)
        if graph is not None:
            self._graphs[graph[1]] = graph[2]
            if len(self._graphs) > MOST_JOBS:
                del self._graphs[next(iter(self._graphs))]
        elif given is not None:
            self._watch(given[1]).given()
        return graph is not None or given is not None

    def _judge(self, line: LogLine, place: Place) -> None:
        if line.kind == grammar.STORED:  # the line names no job; the line of the following restore does
            self._stored.append((line, place))
            return
        job = line.job or self._job_of(line)
        if not job:
            return
        watch = self._watch(job)
        if line.kind == grammar.RESTORED:
            for stored, where in self._stored:
                self.replays[job].read(stored, where)
            self._stored.clear()
        if line.kind == grammar.JOB:  # new executions belong to the job that changes its state
            self.jobs[job] = self.jobs.pop(job)
        watch.read(line, place)
        self.replays[job].read(line, place)

    def _job_of(self, line: LogLine) -> str:
        """The job of a line that does not name it; empty if it is unknown."""
        if line.kind in _OF_TASKS:
            graph = self._graphs.get(line.execution[:32], "")
            if graph:
                return graph
            for job, watch in self.jobs.items():
                if watch.executions.knows(line.execution):
                    return job
            if line.kind == grammar.EXECUTION and line.detail.startswith("CREATED>") and self.jobs:
                return next(reversed(self.jobs))
        if line.kind == grammar.FAILED:
            pending = [job for job, watch in self.jobs.items() if line.checkpoint in watch.pending]
            return pending[0] if len(pending) == 1 else ""
        if line.kind == grammar.RESTORED:
            waiting = [job for job, watch in self.jobs.items() if watch.awaits_restore]
            return waiting[0] if len(waiting) == 1 else ""
        alive = [job for job, watch in self.jobs.items() if not watch.is_over]
        return alive[0] if len(alive) == 1 else ""

    def _watch(self, job: str) -> JobWatch:
        watch = self.jobs.get(job)
        if watch is None:
            watch = self.jobs[job] = JobWatch(job, self._settings.max_concurrent, self._alarm, self._end)
            self.replays[job] = LiveReplay(job, self._settings, self._alarm)
            if len(self.jobs) > MOST_JOBS:
                over = next((name for name, one in self.jobs.items() if one.is_over), next(iter(self.jobs)))
                self.judged |= self.jobs.pop(over).judged | self.replays.pop(over).rules
        return watch

    # ------------------------------------------------------------ findings

    def _alarm(self, alarm: Alarm) -> None:
        self.alarms[alarm.rule] += 1
        self._on_alarm(alarm)

    def _end(self, ended: Ended) -> None:
        self.ended[ended.state] += 1
        self._on_ended(ended)

    def time_is(self, now: float) -> None:
        """Advance the time, and raise the alarms that were deferred for too long."""
        for file in self._files.values():
            self._release(file)
        for watch in self.jobs.values():
            watch.deferred.time_is(now)

    def finish(self) -> None:
        """End the watch: release the waiting lines, and close all replays."""
        for file in self._files.values():
            self._release(file)
        for replay in self.replays.values():
            replay.finish()
        for watch in self.jobs.values():
            watch.deferred.close(watch.is_over)

    @property
    def replayed(self) -> int:
        """The number of lines that were replayed through the model."""
        return sum(replay.replayed for replay in self.replays.values())

    def rules(self) -> set[str]:
        """The rules that were checked on some line."""
        found = set(self.judged)
        for watch in self.jobs.values():
            found |= watch.judged
        for replay in self.replays.values():
            found |= replay.rules
        return found

    def tolerated(self) -> Counter[str]:
        """The number of tolerated reorderings between threads, by name."""
        counts: Counter[str] = Counter()
        for watch in self.jobs.values():
            counts += watch.deferred.tolerated
        return counts

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield each job whose lines are not replayed through the model, with the reason."""
        for job, replay in self.replays.items():
            if replay.note:
                yield job, replay.note
