"""The trace: replays the event logs of the pipeline's runs through the model.

The model must accept every run. All runs together must show the required situations,
because a run without faults restores nothing. `conformance.parts.traces` validates many runs on Spark.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten

from conformance.observe import REQUIRED, SITUATIONS, EventLogError, possible, validate
from conformance.observe.cuts import validate_in_parts
from conformance.observe.cuts.joined import Map
from conformance.observe.situations import under_covered
from conformance.observe.validate import Rejection
from conformance.parts.result import Context, Finding, PartResult, verdict_of
from conformance.refusals import explanation

RUNS = "pipeline/*/events"


@dataclass
class Watched:
    """The common result of several logs."""

    runs: int = 0
    events: int = 0
    cuts: int = 0
    situations: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(SITUATIONS, 0)))
    rules: set[str] = field(default_factory=set)
    modes: set[str] = field(default_factory=set)
    findings: tuple[Finding, ...] = ()

    def bound(self) -> str:
        """The bound of the verdict: events, compared cuts, and situations."""
        seen = sum(1 for name in SITUATIONS if self.situations[name])
        accepted = f"{self.events:,} events accepted, {self.cuts:,} cuts compared"
        return f"{accepted}, {seen} of {len(SITUATIONS)} situations witnessed"

    def add(self, log: Path, parts: int = 1, side_by_side: Map | None = None) -> str:
        """Validate one more log, in at most `parts` parts. Returns the result in one line.

        `side_by_side` as in `conformance.observe.cuts.validate_in_parts`.
        """
        self.runs += 1
        try:
            if parts > 1:
                result = validate_in_parts(log, parts, required=(), side_by_side=side_by_side)
            else:
                result = validate(log, required=())
        except EventLogError as unreadable:
            self.findings = (*self.findings, Finding(None, f"{log}: {unreadable}", file=str(log)))
            return f"{log}: {unreadable}"
        if result.rejection is not None:
            self.findings = (*self.findings, _refused(log, result.rejection))
        self.situations.update(result.situations)
        self.rules |= set(result.rules)
        self.modes |= result.modes
        self.events += result.events
        self.cuts += result.cuts_compared
        return f"{log}: {result.describe()}"

    def join(self, other: "Watched") -> None:
        """Add the results of other logs."""
        self.runs += other.runs
        self.events += other.events
        self.cuts += other.cuts
        self.situations.update(other.situations)
        self.rules |= other.rules
        self.modes |= other.modes
        self.findings = (*self.findings, *other.findings)

    def close(self) -> None:
        """Call this after the last log. Adds a finding if no log has shown a required situation."""
        required = possible(REQUIRED, self.modes)
        missing = [name for name in SITUATIONS if name in required and not self.situations[name]]
        if missing:
            self.findings = (*self.findings, Finding(None, under_covered(missing)))


def run(context: Context) -> PartResult:
    """Validate every log that the pipeline has left in the build folder."""
    logs = sorted(context.build.glob(RUNS))
    watched = judged(logs, context.progress)
    if not logs:
        lost = f"no event log under {context.build / 'pipeline'}; run the pipeline first"
        watched.findings = (Finding(None, lost),)
    return PartResult(
        name="trace",
        verdict=verdict_of(watched.findings),
        bound=watched.bound(),
        numbers={
            "events": watched.events,
            "runs": len(logs),
            "cuts": watched.cuts,
            "situations": sum(1 for name in SITUATIONS if watched.situations[name]),
            "rules": len(watched.rules),
        },
        rules=tuple(sorted(watched.rules)),
        findings=watched.findings,
        again=f"barrierspec trace {context.build / RUNS}",
    )


def judged(
    logs: Sequence[Path], progress: Callable[[str], None], parts: int = 1, side_by_side: Map | None = None
) -> Watched:
    """Validate each log separately, and check that all of them together show the required situations.

    `parts`, `side_by_side`: as in `Watched.add`.
    """
    watched = Watched()
    for log in logs:
        progress(watched.add(log, parts, side_by_side))
    watched.close()
    return watched


def _refused(log: Path, rejection: Rejection) -> Finding:
    job = log.parent.name if log.name == "events" else log.name
    line = f"{job}: {rejection.describe()}"
    return Finding(rejection.rules[0], line, _story(rejection), str(log / rejection.file), rejection.line)


def _story(rejection: Rejection) -> str:
    """The event, and the other possible events at that point."""
    why = explanation.of_rejection(rejection.refused, rejection.waiting)
    return "\n".join([shorten(rejection.event, 300), *why])
