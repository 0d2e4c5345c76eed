"""The trace: what the pipeline's runs recorded, replayed through the model.

Every run must be accepted. The situations that a run worth believing has witnessed are asked of all runs
together: an undisturbed one restores nothing.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from conformance.observe import REQUIRED, SITUATIONS, EventLogError, TraceResult, validate
from conformance.parts.result import Context, Finding, PartResult, verdict_of

RUNS = "pipeline/*/events"


def run(context: Context) -> PartResult:
    """Validate every log that the pipeline has left in the build folder."""
    logs = sorted(context.build.glob(RUNS))
    findings: list[Finding] = []
    situations: Counter[str] = Counter()
    rules: set[str] = set()
    events = counted = 0
    if not logs:
        findings.append(
            Finding(None, f"no event log under {context.build / 'pipeline'}; run the pipeline first")
        )
    for log in logs:
        context.say(f"trace: {log.parent.name}")
        try:
            result = validate(log, required=())
        except EventLogError as unreadable:
            findings.append(Finding(None, f"{log.parent.name}: {unreadable}"))
            continue
        findings += _findings(log, result)
        situations.update(result.situations)
        rules |= set(result.rules)
        events += result.events
        counted += result.counted
    missing = [name for name in SITUATIONS if name in REQUIRED and not situations[name]]
    if missing and logs:
        findings.append(Finding(None, f"under-covered: no {', no '.join(missing)}"))
    seen = sum(1 for name in SITUATIONS if situations[name])
    return PartResult(
        name="trace",
        verdict=verdict_of(tuple(findings)),
        bound=f"{events:,} events accepted, {counted:,} cuts compared, "
        f"{seen} of {len(SITUATIONS)} situations witnessed",
        numbers={
            "events": events,
            "runs": len(logs),
            "cuts": counted,
            "situations": seen,
            "rules": len(rules),
        },
        rules=tuple(sorted(rules)),
        findings=tuple(findings),
        again=f"barrierspec trace {context.build / RUNS}",
    )


def _findings(log: Path, result: TraceResult) -> Iterator[Finding]:
    rejection = result.rejection
    if rejection is not None:
        yield Finding(rejection.rules[0], f"{log.parent.name}: {rejection.describe()}", rejection.event)
