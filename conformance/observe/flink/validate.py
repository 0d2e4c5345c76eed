"""Is a log of a Flink job a run of the protocol, and what has it witnessed?"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said, parsed
from conformance.observe.flink.jobmanager import JobManager
from conformance.observe.flink.lines import records
from conformance.observe.flink.order import Order, Stuck, Wait
from conformance.observe.flink.run import Part, Run, Settings
from conformance.observe.flink.situations import REQUIRED
from conformance.observe.flink.subtask import SubtaskReplay
from conformance.observe.flink.survey import Survey, survey
from conformance.observe.replay import Rejected
from conformance.refusals.asked import Asked
from conformance.verdict import Verdict

_REASON = re.compile(r"[\w.$]+(?:Exception|Error): *(.*)")


@dataclass(frozen=True, slots=True)
class FlinkRejection:
    """The line that no rule allows."""

    line: int
    """From 1."""
    rules: tuple[str, ...]
    """The rules charged, the first one above all."""
    guard: str
    """What refused it, with the state as it stood."""
    text: str
    """The line itself."""
    asked: Asked | None = None
    """What was asked of the model, where the model itself refused it."""
    waiting: tuple[str, ...] = ()
    """The other lines that wait for a cause at that point, a thread each: which, and for what."""

    def describe(self) -> str:
        """Line, rule and guard in one line."""
        return f"line {self.line}: {self.rules[0]}: {self.guard}"


@dataclass(frozen=True, slots=True)
class FlinkResult:
    """What came of one log."""

    verdict: Verdict
    job: str
    release: str
    lines: int
    said: int
    """Lines that say something about the protocol; all of them were replayed unless one was rejected."""
    events: int
    """Events that the model has replayed and agrees with."""
    situations: Mapping[str, int]
    missing: tuple[str, ...]
    """Required situations that never came."""
    tolerated: Mapping[str, int]
    """Reorderings between threads, by their names."""
    rules: tuple[str, ...]
    """Rules that fired, sorted."""
    rejection: FlinkRejection | None
    parts: tuple[Part, ...] = field(default=(), compare=False, repr=False)
    """What has taken steps: the coordinator, each subtask and its gate."""
    asked: Part | None = field(default=None, compare=False, repr=False)
    """The one that was asked last."""

    def describe(self) -> str:
        """The result in one line."""
        if self.rejection is not None:
            return self.rejection.describe()
        seen = sum(1 for count in self.situations.values() if count)
        bound = (
            f"{self.said:,} of {self.lines:,} lines replayed as {self.events:,} events, wording of "
            f"{self.release}, {seen} of {len(self.situations)} situations witnessed, "
            f"{sum(self.tolerated.values()):,} reorderings between threads tolerated"
        )
        return f"{bound}; under-covered: no {', no '.join(self.missing)}" if self.missing else bound


def parse(lines: Sequence[str]) -> list[Said]:
    """What the lines of a log say about the protocol. Raises FlinkLogError."""
    return list(parsed(records(lines)))


def validate_flink(
    lines: Sequence[str], settings: Settings | None = None, required: Collection[str] = REQUIRED
) -> FlinkResult:
    """Replay a log through the model.

    `settings`: what the log does not tell of the job's configuration. `required`: the situations without
    which the verdict is UNDETERMINED. Raises FlinkLogError for a log that cannot be read, UnjudgedError
    for one that holds what the model has no rule for, ValueError for a situation that is none.
    """
    said = with_reasons(parse(lines), lines)
    return replayed(lines, said, survey(said), settings or Settings(), required)


def with_reasons(said: list[Said], lines: Sequence[str]) -> list[Said]:
    """The failures with their reason, which stands in the line after theirs."""
    for place, line in enumerate(said):
        if line.kind == grammar.FAILED and line.number < len(lines):
            reason = _REASON.match(lines[line.number])
            if reason is not None:
                said[place] = line._replace(detail=reason[1])
    return said


def replayed(
    lines: Sequence[str], said: Sequence[Said], found: Survey, settings: Settings, required: Collection[str]
) -> FlinkResult:
    """Replay what was said."""
    replay = _Replay(found, settings)
    run = replay.run
    run.witnessed.missing(required)  # a name that is none is an error now, not after the replay
    rejection = replay.rejection(said, lines)
    missing = run.witnessed.missing(required)
    accepted = Verdict.UNDETERMINED if missing else Verdict.CONFORMS
    return FlinkResult(
        verdict=Verdict.DIVERGES if rejection else accepted,
        job=found.job,
        release=found.release.name,
        lines=len(lines),
        said=len(said),
        events=run.events,
        situations=run.witnessed.told(),
        missing=missing,
        tolerated=dict(sorted(run.tolerated.items())),
        rules=tuple(sorted(run.rules)),
        rejection=rejection,
        parts=tuple(run.parts),
        asked=run.asked,
    )


class _Replay:
    """The parts of one replay, and which line goes to which."""

    def __init__(self, found: Survey, settings: Settings) -> None:
        self._order = Order(self._handle)
        self.run = Run(found, settings, self._order)
        self._job = JobManager(self.run)
        self._subtasks: dict[str, SubtaskReplay] = {}

    def _handle(self, line: Said) -> Wait | None:
        if not line.task or line.kind in {grammar.EXECUTION, grammar.DEPLOYED}:
            return self._job.handle(line)
        subtask = self._subtasks.get(line.task)
        if subtask is None:
            subtask = self._subtasks[line.task] = SubtaskReplay(self.run, self._job, line.task)
        return subtask.handle(line)

    def rejection(self, said: Sequence[Said], lines: Sequence[str]) -> FlinkRejection | None:
        """Replay everything: the line that was rejected, if one was."""
        asked = None
        try:
            stuck = self._order.replay(said)
            if stuck is None:
                stuck = self._left_over(said)
        except Rejected as refused:
            assert self._order.line is not None
            stuck = Stuck(self._order.line, refused.rules, refused.why)
            asked = refused.asked
        if stuck is None:
            return None
        number = stuck.line.number
        waiting = tuple(self._order.waiting(number))
        return FlinkRejection(number, tuple(stuck.rules), stuck.why, lines[number - 1], asked, waiting)

    def _left_over(self, said: Sequence[Said]) -> Stuck | None:
        """What is owed although the job is over; while it runs, the log may end anywhere."""
        if not self.run.job_over:
            return None
        last = said[-1]
        for subtask in self._subtasks.values():
            owed = subtask.left_over()
            if owed is not None:
                return Stuck(last, owed.rules, f"the job is over: {owed.why}")
        untold = self._job.untold()
        return None if untold is None else Stuck(last, untold.rules, f"the job is over: {untold.why}")
