"""The trace: what the pipeline's runs recorded, replayed through the model.

Every run must be accepted. The situations that a run worth believing has witnessed are asked of all runs
together: an undisturbed one restores nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten

from conformance.observe import REQUIRED, SITUATIONS, EventLogError, possible, validate
from conformance.observe.validate import Rejection
from conformance.parts.result import Context, Finding, PartResult, verdict_of
from conformance.report import refusal

RUNS = "pipeline/*/events"


@dataclass
class Watched:
    """What came of some logs together."""

    events: int = 0
    cuts: int = 0
    situations: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(SITUATIONS, 0)))
    rules: set[str] = field(default_factory=set)
    modes: set[str] = field(default_factory=set)
    findings: tuple[Finding, ...] = ()

    def bound(self) -> str:
        """How far an acceptance reaches."""
        seen = sum(1 for name in SITUATIONS if self.situations[name])
        accepted = f"{self.events:,} events accepted, {self.cuts:,} cuts compared"
        return f"{accepted}, {seen} of {len(SITUATIONS)} situations witnessed"


def run(context: Context) -> PartResult:
    """Validate every log that the pipeline has left in the build folder."""
    logs = sorted(context.build.glob(RUNS))
    watched = judged(logs, context.say)
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


def judged(logs: Sequence[Path], say: Callable[[str], None]) -> Watched:
    """Each log by itself, and the required situations of all of them together."""
    watched = Watched()
    findings: list[Finding] = []
    for log in logs:
        try:
            result = validate(log, required=())
        except EventLogError as unreadable:
            findings.append(Finding(None, f"{log}: {unreadable}"))
            continue
        say(f"{log}: {result.describe()}")
        if result.rejection is not None:
            rejection = result.rejection
            line = f"{log.parent.name}: {rejection.describe()}"
            place = str(log / rejection.file)
            findings.append(Finding(rejection.rules[0], line, _story(rejection), place, rejection.line))
        watched.situations.update(result.situations)
        watched.rules |= set(result.rules)
        watched.modes |= result.modes
        watched.events += result.events
        watched.cuts += result.counted
    required = possible(REQUIRED, watched.modes)
    missing = [name for name in SITUATIONS if name in required and not watched.situations[name]]
    if missing:
        findings.append(Finding(None, f"under-covered: no {', no '.join(missing)}"))
    watched.findings = tuple(findings)
    return watched


def _story(rejection: Rejection) -> str:
    """The event, and what else was possible there."""
    why = refusal.of_rejection(rejection.asked, rejection.waiting)
    return "\n".join([shorten(rejection.event, 300), *why])
