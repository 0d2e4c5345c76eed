"""Is a log of a Flink job a run of the protocol, and what has it witnessed?"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.jobmanager import JobManager
from conformance.observe.flink.order import Order, Stuck, Wait
from conformance.observe.flink.reading import Log, read_log
from conformance.observe.flink.run import Part, Run, Settings
from conformance.observe.flink.situations import REQUIRED
from conformance.observe.flink.subtask import SubtaskReplay
from conformance.observe.flink.survey import Survey, survey
from conformance.observe.flink.unreadable import Unreadable
from conformance.observe.replay import Rejected
from conformance.refusals.asked import Asked
from conformance.verdict import Verdict


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
    unreadable: tuple[Unreadable, ...] = ()
    """Lines of the protocol that cannot be read. With one the verdict is never CONFORMS; a rejection behind
    one may be its consequence, and is no divergence."""
    parts: tuple[Part, ...] = field(default=(), compare=False, repr=False)
    """What has taken steps: the coordinator, each subtask and its gate."""
    asked: Part | None = field(default=None, compare=False, repr=False)
    """The one that was asked last."""

    def describe(self) -> str:
        """The result in one line."""
        if self.unreadable and self.verdict is Verdict.UNDETERMINED:
            number = len(self.unreadable)
            told = f"{self.unreadable[0].describe()}; {number:,} such line{'s' if number > 1 else ''}"
            if self.rejection is not None:
                told += f"; perhaps because of it, {self.rejection.describe()}"
            return told
        if self.rejection is not None:
            return self.rejection.describe()
        seen = sum(1 for count in self.situations.values() if count)
        bound = (
            f"{self.said:,} of {self.lines:,} lines replayed as {self.events:,} events, wording of "
            f"{self.release}, {seen} of {len(self.situations)} situations witnessed, "
            f"{sum(self.tolerated.values()):,} reorderings between threads tolerated"
        )
        return f"{bound}; under-covered: no {', no '.join(self.missing)}" if self.missing else bound


def parse(lines: Iterable[str]) -> list[Said]:
    """What the lines of a log say about the protocol. Raises FlinkLogError."""
    return read_log(lines).said


def validate_flink(
    lines: Iterable[str], settings: Settings | None = None, required: Collection[str] = REQUIRED
) -> FlinkResult:
    """Replay a log through the model.

    `settings`: what the log does not tell of the job's configuration. `required`: the situations without
    which the verdict is UNDETERMINED. Raises FlinkLogError for a log that cannot be read, UnjudgedError
    for one that holds what the model has no rule for, ValueError for a situation that is none.
    """
    settings = settings or Settings()
    log = read_log(lines, settings.most_lines)
    return replayed(log, survey(log.said), settings, required)


def replayed(log: Log, found: Survey, settings: Settings, required: Collection[str]) -> FlinkResult:
    """Replay what was said."""
    replay = _Replay(found, settings)
    run = replay.run
    run.witnessed.missing(required)  # a name that is none is an error now, not after the replay
    rejection = replay.rejection(log)
    missing = run.witnessed.missing(required)
    return FlinkResult(
        verdict=_verdict(log.unreadable, rejection, missing),
        job=found.job,
        release=found.release.name,
        lines=log.lines,
        said=len(log.said),
        events=run.events,
        situations=run.witnessed.told(),
        missing=missing,
        tolerated=dict(sorted(run.tolerated.items())),
        rules=tuple(sorted(run.rules)),
        rejection=rejection,
        unreadable=tuple(log.unreadable),
        parts=tuple(run.parts),
        asked=run.asked,
    )


def _verdict(
    unreadable: Sequence[Unreadable], rejection: FlinkRejection | None, missing: Sequence[str]
) -> Verdict:
    """Only what stands before the first unreadable line can be judged."""
    if unreadable and (rejection is None or rejection.line > unreadable[0].number):
        return Verdict.UNDETERMINED
    if rejection is not None:
        return Verdict.DIVERGES
    return Verdict.UNDETERMINED if missing else Verdict.CONFORMS


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

    def rejection(self, log: Log) -> FlinkRejection | None:
        """Replay everything: the line that was rejected, if one was."""
        asked, said = None, log.said
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
        return FlinkRejection(number, tuple(stuck.rules), stuck.why, log.texts[number], asked, waiting)

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
