"""Replays the DEBUG lines of one job through the model while they are written.

The replay begins at the line where the job starts. It stays a few hundred lines behind the end of the log,
because some lines can only be judged with later lines: for example, a later line shows that a task finishes
and so takes part in no further checkpoint. After a rejection the replay pauses until the job starts again,
because the model's state is no longer the job's.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.errors import FlinkLogError, UnjudgedError
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.order import Stuck
from conformance.observe.flink.run_state import Settings
from conformance.observe.flink.survey import Execution, Survey, has_other_reason, survey, unjudged
from conformance.observe.flink.validate import Replay
from conformance.observe.monitor.reports import Alarm, Place
from conformance.observe.replay import Rejected

BEHIND = 400
"""The number of lines by which the replay stays behind the end of the log."""
PATIENCE = 3_000
"""Maximum number of lines for which a line may wait for its cause."""
LONGEST_START = 100_000
"""The replay starts after this number of lines of a job, if not at its second completed checkpoint."""
_KEPT_CHECKPOINTS = 100
_EVERY = 500
"""Old checkpoints are dropped each time that this number of lines was read."""
_KEPT_ATTEMPTS = 3
_BEFORE_THE_START = frozenset({grammar.STORED, grammar.RESTORED, grammar.ID_RESET})
"""A job manager that starts restores the job before it logs that the job runs."""


class _Session(NamedTuple):
    """A running replay, with its survey and the survey's sets, which grow with the log."""

    replay: Replay
    survey: Survey
    started: set[tuple[str, int]]
    finished: set[str]
    completed: set[int]
    failed: set[int]
    unfinalized: set[int]


class LiveReplay:
    """Replays the lines of one job."""

    def __init__(self, job: str, settings: Settings, alarms: Callable[[Alarm], None]) -> None:
        self.job = job
        self.note = "the log does not show the start of the job"
        """The reason why nothing is replayed now; empty while lines are replayed."""
        self.replayed = 0
        """The number of replayed lines."""
        self.rules: set[str] = set()
        self._settings = settings
        self._alarms = alarms
        self._session: _Session | None = None
        self._lines: deque[LogLine] = deque()
        self._places: dict[int, Place] = {}
        self._before: list[tuple[LogLine, Place, int]] = []
        """Lines about a restore, with their counts, until later lines show whether the job starts."""
        self._count = self._completions = 0
        self._is_starting = False
        self._attempts: dict[int, int] = {}
        """By attempt of the job: the number of the first line that was read of it."""

    def read(self, line: LogLine, place: Place) -> None:
        """Read one line, and replay lines that are more than BEHIND older."""
        if line.kind == grammar.JOB and line.detail.startswith("CREATED>"):
            self._start_again()
        elif line.kind in {grammar.JOB, grammar.TRIGGER}:
            self._before.clear()
        if self._is_starting or self._session is not None:
            self._take(line, place)
        if line.kind in _BEFORE_THE_START:
            self._before.append((line, place, self._count))

    def _start_again(self) -> None:
        """End the former job manager's replay, and begin the next with the last lines about a restore."""
        of_the_next = {count for _, _, count in self._before}
        self._lines = deque(line for line in self._lines if line.number not in of_the_next)
        self.finish()
        self._begin()
        for line, place, _ in self._before:
            self._take(line, place)
        self._before.clear()

    def _take(self, line: LogLine, place: Place) -> None:
        self._count += 1
        line = line._replace(number=self._count)
        self._places[self._count] = place
        self._lines.append(line)
        if self._session is None:
            self._prepare(line)
            return
        why = unjudged(line)
        if why:
            while self._lines and self._lines[0].checkpoint != line.checkpoint and self._session is not None:
                self._replay(self._session, self._lines.popleft())
            self._end_session(f"{place.describe()}: {why}")
            return
        self._note(self._session, line)
        while len(self._lines) > BEHIND and self._session is not None:
            self._replay(self._session, self._lines.popleft())

    def finish(self) -> None:
        """Replay the lines that were kept back. If the job is over, a line that still waits is rejected."""
        if self._session is None and self._is_starting:
            self._open()
        while self._lines and self._session is not None:
            self._replay(self._session, self._lines.popleft())
        if self._session is not None and self._session.replay.run.job_over:
            stuck = self._session.replay.order.stuck(())
            if stuck is not None:
                self._refuse(stuck)

    # ------------------------------------------------------------ the start of a job

    def _begin(self) -> None:
        self._session = None
        self._lines.clear()
        self._places.clear()
        self._is_starting, self._completions = True, 0
        self._attempts.clear()
        self.note = "the job has not completed two checkpoints yet"

    def _prepare(self, line: LogLine) -> None:
        self._completions += line.kind == grammar.COMPLETED
        if self._completions == 2 or len(self._lines) == LONGEST_START:
            self._open()

    def _open(self) -> None:
        """Survey the start of the job, and replay it."""
        self._is_starting = False
        lines = tuple(self._lines)
        try:
            found = survey(lines)
        except (FlinkLogError, UnjudgedError) as unjudged:
            self.note = str(unjudged).replace("\n", " ")
            self._lines.clear()
            self._places.clear()
            return
        self.note = ""
        started, finished = set(found.started), set(found.finished)
        completed, failed, unfinalized = set(found.completed), set(found.failed), set(found.unfinalized)
        found = found._replace(
            started=started, finished=finished, completed=completed, failed=failed, unfinalized=unfinalized
        )
        replay = Replay(found, self._settings)
        self._session = _Session(replay, found, started, finished, completed, failed, unfinalized)
        for line in lines:
            self._note(self._session, line)

    def _note(self, session: _Session, line: LogLine) -> None:
        """Add a line to the survey."""
        found = session.survey
        match line.kind:
            case grammar.DEPLOYED:
                self._know(found, line, Execution(line.task, int(line.detail)))
            case grammar.TASK | grammar.BARRIER:
                if line.execution not in found.executions:
                    task, _, attempt = line.task.rpartition("#")
                    self._know(found, line, Execution(task, int(attempt)))
                if line.kind == grammar.BARRIER:
                    found.last_barrier[line.task, line.detail] = line.number
                elif line.detail.endswith(">FINISHED"):
                    session.finished.add(line.task)
            case grammar.START:
                session.started.add((line.task, line.checkpoint))
                found.last_started[line.task] = max(line.checkpoint, found.last_started.get(line.task, -1))
            case grammar.COMPLETED:
                session.completed.add(line.checkpoint)
            case grammar.FAILED:
                session.failed.add(line.checkpoint)
                if has_other_reason(line):
                    session.unfinalized.add(line.checkpoint)
            case _:
                pass

    def _know(self, found: Survey, line: LogLine, execution: Execution) -> None:
        found.executions[line.execution] = execution
        found.by_thread[execution.thread] = line.execution
        self._attempts.setdefault(execution.attempt, line.number)

    # ------------------------------------------------------------ the replay

    def _replay(self, session: _Session, line: LogLine) -> None:
        order = session.replay.order
        try:
            order.feed(line)
        except Rejected as rejected:
            assert order.line is not None
            here = Stuck(order.line, rejected.rules, rejected.why)
            earlier = order.stuck(tuple(self._lines))
            self._refuse(earlier if earlier is not None and earlier.line.number < here.line.number else here)
            return
        self.replayed += 1
        oldest = order.oldest()
        if oldest and oldest < line.number - PATIENCE:
            stuck = order.stuck(tuple(self._lines)) or order.stuck(())
            if stuck is not None:
                self._refuse(stuck)
                return
        if line.number % _EVERY == 0:
            self._forget(session, min(oldest or line.number, line.number))

    def _refuse(self, stuck: Stuck) -> None:
        place = self._places.get(stuck.line.number, Place("", 0))
        self._end_session(f"a line was rejected ({place.describe()}); it continues when the job starts again")
        self._alarms(Alarm(self.job, stuck.rules[0], stuck.why, place, stuck.line.checkpoint))

    def _end_session(self, note: str) -> None:
        """Replay nothing more until the job starts again."""
        self.rules |= self._session.replay.run.rules if self._session is not None else set()
        self._session = None
        self._lines.clear()
        self._places.clear()
        self.note = note

    def _forget(self, session: _Session, oldest: int) -> None:
        """Drop all data about old checkpoints and replaced executions."""
        found = session.survey
        self.rules |= session.replay.run.rules
        below = max(session.completed, default=0) - _KEPT_CHECKPOINTS
        session.started.difference_update([one for one in session.started if one[1] < below])
        session.completed.difference_update([one for one in session.completed if one < below])
        for failed in (session.failed, session.unfinalized):
            failed.difference_update([one for one in failed if one < below])
        reached = max((one for one, number in self._attempts.items() if number < oldest), default=0)
        first = max(0, reached - _KEPT_ATTEMPTS)
        for name in [name for name, one in found.executions.items() if one.attempt < first]:
            thread = found.executions.pop(name).thread
            found.by_thread.pop(thread, None)
            found.last_started.pop(thread, None)
            session.finished.discard(thread)
        for key in [key for key in found.last_barrier if int(key[0].rpartition("#")[2]) < first]:
            del found.last_barrier[key]
        self._attempts = {one: number for one, number in self._attempts.items() if one >= first}
        attempts = frozenset(map(str, self._attempts))
        session.replay.forget(below, attempts)
        for number in [one for one in self._places if one < oldest]:
            del self._places[number]
