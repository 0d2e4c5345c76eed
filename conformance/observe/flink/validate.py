"""Validates a Flink log: whether it is a run of the protocol, and which situations the run shows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.jobmanager import JobManager
from conformance.observe.flink.order import Order, Stuck, Wait
from conformance.observe.flink.reading import ReadLog, read_log
from conformance.observe.flink.run_state import Part, Run, Settings
from conformance.observe.flink.subtask import SubtaskReplay
from conformance.observe.flink.survey import Survey, survey
from conformance.observe.flink.unreadable import Unreadable, contradicting
from conformance.observe.replay import Rejected
from conformance.observe.run_state import without_collection
from conformance.observe.situations import FLINK, under_covered
from conformance.refusals.refused_answer import RefusedAnswer
from conformance.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FlinkRejection:
    """The line that no rule allows."""

    line: int
    """The number of the line, from 1."""
    rules: tuple[str, ...]
    """The charged rules; the first one is the main one."""
    guard: str
    """The condition that does not hold, and the state at that point."""
    text: str
    """The line itself."""
    refused: RefusedAnswer | None = None
    """Set if the model itself refused the event; None if another check failed."""
    waiting: tuple[str, ...] = ()
    """The other lines that wait for a cause at that point, one for each thread."""

    def describe(self) -> str:
        """Line, rule and condition in one line."""
        return f"line {self.line}: {self.rules[0]}: {self.guard}"


@dataclass(frozen=True, slots=True)
class FlinkResult:
    """The result for one log."""

    verdict: Verdict
    job: str
    release: str
    lines: int
    """The number of all lines of the log."""
    replayed: int
    """The number of lines about the protocol. All of them were replayed unless one was rejected."""
    events: int
    """The number of events that the model has replayed and agrees with."""
    situations: Mapping[str, int]
    missing: tuple[str, ...]
    """Required situations that did not occur."""
    tolerated: Mapping[str, int]
    """By name: the number of tolerated reorderings between threads."""
    rules: tuple[str, ...]
    """Rules that fired, sorted."""
    rejection: FlinkRejection | None
    unreadable: tuple[Unreadable, ...] = ()
    """Lines about the protocol that cannot be read. If a line cannot be read, the verdict is not CONFORMS. A
    rejection after this line may be its consequence, so the verdict is then UNDETERMINED."""
    parts: tuple[Part, ...] = field(default=(), compare=False, repr=False)
    """The parts of the replay: the coordinator, each subtask and its gate."""
    last_part: Part | None = field(default=None, compare=False, repr=False)
    """The part that took the last step."""

    def describe(self) -> str:
        """The result in one line."""
        if self.unreadable and self.verdict is Verdict.UNDETERMINED:
            number = len(self.unreadable)
            first = f"{self.unreadable[0].describe()}; {number:,} such line{'s' if number > 1 else ''}"
            if self.rejection is None:
                return first
            return f"{first}; perhaps because of it, {self.rejection.describe()}"
        if self.rejection is not None:
            return self.rejection.describe()
        seen = sum(1 for count in self.situations.values() if count)
        bound = (
            f"{self.replayed:,} of {self.lines:,} lines replayed as {self.events:,} events, wording of "
            f"{self.release}, {seen} of {len(self.situations)} situations witnessed, "
            f"{sum(self.tolerated.values()):,} reorderings between threads tolerated"
        )
        return f"{bound}; {under_covered(self.missing)}" if self.missing else bound


def parse(lines: Iterable[str]) -> list[LogLine]:
    """Parse the lines of a log that are about the protocol. Raises FlinkLogError."""
    return read_log(lines).lines


def validate_flink(
    lines: Iterable[str],
    settings: Settings | None = None,
    required: Collection[str] = FLINK.required,
    *,
    remember: bool = True,
) -> FlinkResult:
    """Replay a log through the model.

    `settings`: the job's configuration as far as the log does not show it. `required`: the situations
    without which the verdict is UNDETERMINED. `remember`: whether to cache steps of the model. The cache does
    not change the result; a log that is rejected with it is replayed again without it, as in
    `conformance.observe.validate`. Raises FlinkLogError if the log cannot be read, UnjudgedError if the
    replay has no rule for a line, ValueError if `required` has an unknown name.
    """
    settings = settings or Settings()
    with without_collection():
        log = consistent(read_log(lines, settings.most_lines))
        found = survey(log.lines)
        result = replayed(log, found, settings, required, remember=remember)
        if result.rejection is None or not remember:
            return result
        whole = replayed(log, found, settings, required, remember=False)
    numbers = [None if one.rejection is None else one.rejection.line for one in (result, whole)]
    assert numbers[0] == numbers[1], f"cached steps reject line {numbers[0]}, the model line {numbers[1]}"
    return whole


def consistent(log: ReadLog) -> ReadLog:
    """The log without the lines that contradict the others. They become unreadable lines."""
    found = contradicting(log.lines, log.texts)
    if not found:
        return log
    numbers = {one.number for one in found}
    remaining = [line for line in log.lines if line.number not in numbers]
    return log._replace(lines=remaining, unreadable=sorted({*log.unreadable, *found}))


def replayed(
    log: ReadLog, found: Survey, settings: Settings, required: Collection[str], *, remember: bool = True
) -> FlinkResult:
    """Replay the lines about the protocol, as in `validate_flink`.

    Raises ValueError if `required` has an unknown name.
    """
    replay = Replay(found, settings, remember=remember)
    run = replay.run
    run.witnessed.missing(required)  # raises now, not after the replay, if a name is unknown
    rejection = replay.rejection(log)
    missing = run.witnessed.missing(required)
    return FlinkResult(
        verdict=_verdict(log.unreadable, rejection, missing),
        job=found.job,
        release=found.release.name,
        lines=log.total,
        replayed=len(log.lines),
        events=run.events,
        situations=run.witnessed.counts(),
        missing=missing,
        tolerated=dict(sorted(run.tolerated.items())),
        rules=tuple(sorted(run.rules)),
        rejection=rejection,
        unreadable=tuple(log.unreadable),
        parts=tuple(run.parts),
        last_part=run.last_part,
    )


def _verdict(
    unreadable: Sequence[Unreadable], rejection: FlinkRejection | None, missing: Sequence[str]
) -> Verdict:
    """The verdict. Only the lines before the first unreadable line can be judged."""
    if unreadable and (rejection is None or rejection.line > unreadable[0].number):
        return Verdict.UNDETERMINED
    if rejection is not None:
        return Verdict.DIVERGES
    return Verdict.UNDETERMINED if missing else Verdict.CONFORMS


_PATIENCE, _PATIENCE_A_TASK = 40, 4
"""The patience of `Order`: a number of lines, and a further number for each task.

A checkpoint has a line of the job manager for each task, and a few more.
"""


class Replay:
    """One replay: passes each line to the job manager or to the execution of a task."""

    def __init__(self, found: Survey, settings: Settings, *, remember: bool = True) -> None:
        self.order = Order(self._handle, _PATIENCE + _PATIENCE_A_TASK * len(found.tasks))
        self.run = Run(found, settings, self.order, remember=remember)
        self._job = JobManager(self.run)
        self._subtasks: dict[str, SubtaskReplay] = {}

    def _handle(self, line: LogLine) -> Wait | None:
        if not line.task or line.kind in {grammar.EXECUTION, grammar.DEPLOYED}:
            return self._job.handle(line)
        subtask = self._subtasks.get(line.task)
        if subtask is None:
            subtask = self._subtasks[line.task] = SubtaskReplay(self.run, self._job, line.task)
        return subtask.handle(line)

    def forget(self, below: int, attempts: Collection[str]) -> None:
        """Drop all data about checkpoints below that id, and about executions not in `attempts`.

        This bounds the memory for an endless log. No checkpoint below that id may be pending any more.
        """
        self.run.forget(below)
        self._job.forget(below)
        for thread in [one for one in self._subtasks if one.rpartition("#")[2] not in attempts]:
            self.run.drop(self._subtasks.pop(thread).parts)

    def rejection(self, log: ReadLog) -> FlinkRejection | None:
        """Replay all lines. Returns the rejection, or None."""
        refused = None
        try:
            stuck = self.order.replay(log.lines) or self._end_rejection(log.lines[-1])
        except Rejected as rejected:
            assert self.order.line is not None
            stuck = Stuck(self.order.line, rejected.rules, rejected.why)
            refused = rejected.refused
        if stuck is None:
            return None
        number = stuck.line.number
        waiting = tuple(self.order.waiting(number))
        return FlinkRejection(number, tuple(stuck.rules), stuck.why, log.texts[number], refused, waiting)

    def _end_rejection(self, last: LogLine) -> Stuck | None:
        """The rejection if the job is over and a line is missing. A running job's log may end anywhere."""
        if not self.run.job_over:
            return None
        due = (subtask.end_rejection() for subtask in self._subtasks.values())
        missing = next(filter(None, due), None) or self._job.unreported()
        return None if missing is None else Stuck(last, missing.rules, f"the job is over: {missing.why}")
