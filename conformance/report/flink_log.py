"""Writes the verdict about a Flink log, and about its corruptions, as text."""

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from conformance.observe.situations import FLINK, REORDERINGS, under_covered
from conformance.parts.result import Finding, PartResult
from conformance.report.formats.columns import wrapped
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.observe.flink.corruptions import Outcome
    from conformance.observe.flink.validate import FlinkResult

_CUT = 110
"""Maximum number of characters of a guard."""
_SHOWN = 20
"""The maximum number of unreadable lines that are listed. Each is a separate finding."""
_MEND = (
    "The event of an unreadable line cannot be judged, nor what follows from it: fetch the log again, or "
    "repair the line by hand"
)


def story(log: str, result: "FlinkResult", why: Sequence[str]) -> str:
    """Verdict and bound; the rejection with its line; the situations; the reorderings.

    `why`: why the event was rejected.
    """
    lines = [wrapped(f"{log}: {result.verdict.value}  {result.describe()}", 2)]
    rejection = result.rejection
    if rejection is not None:
        lines += [
            f"  rules   {', '.join(rejection.rules)}",
            f"  line    {shorten(rejection.text, 300)}",
            *why,
        ]
    lines += [wrapped(f"  {one.describe()}", 4) for one in result.unreadable[:_SHOWN]]
    if len(result.unreadable) > _SHOWN:
        lines.append(f"  {len(result.unreadable) - _SHOWN:,} more lines cannot be read")
    if result.unreadable:
        lines.append(wrapped(f"  {_MEND}", 4))
    lines.append("  situations witnessed")
    meanings = FLINK.meanings()
    lines += [_counted(count, name, meanings[name]) for name, count in result.situations.items()]
    trusted = "order is trusted within one thread only"
    lines.append(
        wrapped(f"  reorderings between threads tolerated ({trusted}; {len(REORDERINGS)} kinds are)", 4)
    )
    if not result.tolerated:
        lines.append("        0  none occurred")
    lines += [_counted(count, name, REORDERINGS[name]) for name, count in result.tolerated.items()]
    return "\n".join(lines) + "\n"


def _counted(count: int, name: str, meaning: str) -> str:
    return wrapped(f"  {count:>7,}  {name}: {meaning}", 11)


def part(log: str, result: "FlinkResult", why: Sequence[str]) -> PartResult:
    """The verdict about a log as a part of a result; each unreadable line and the rejection are findings."""
    findings = tuple(
        Finding(None, one.describe(), one.text, log, one.number) for one in result.unreadable[:_SHOWN]
    )
    rejection = result.rejection
    if rejection is not None:
        text = "\n".join([shorten(rejection.text, 300), *why])
        rule = rejection.rules[0] if result.verdict is Verdict.DIVERGES else None
        findings = (*findings, Finding(rule, rejection.describe(), text, log, rejection.line))
    elif result.missing:
        findings = (*findings, Finding(None, under_covered(result.missing), file=log))
    return PartResult(log, result.verdict, result.describe(), rules=result.rules, findings=findings)


def corruptions_part(log: str, outcomes: Sequence["Outcome"]) -> PartResult:
    """The corruptions of a log as a part. A corruption that is not rejected as expected is a finding."""
    missed = [outcome for outcome in outcomes if outcome.observable and not outcome.detected]
    findings = tuple(
        Finding(
            next(iter(outcome.corruption.rules), None),
            f"corruption {outcome.corruption.name}: {outcome.what}",
            file=log,
        )
        for outcome in missed
    )
    tried = sum(outcome.observable for outcome in outcomes)
    bound = f"{tried - len(missed)} of {tried} corruptions rejected for their own reason"
    return PartResult(f"{log}, corrupted", verdict_of(outcomes), bound, findings=findings)


def table(outcomes: Sequence["Outcome"], seed: int, never: Mapping[str, str]) -> str:
    """One row for each corruption: the edit, and the line, the rule and the guard that rejected it.

    `never`: the corruptions that no log of these loggers can show, each with the reason.
    """
    widest = max(len(outcome.corruption.name) for outcome in outcomes)
    lines = [f"  corruptions, seed {seed}"]
    for outcome in outcomes:
        name = outcome.corruption.name.ljust(widest)
        if not outcome.observable:
            lines.append(f"  -         {name}  not observable: {outcome.corruption.unobservable}")
            continue
        rejection, lost = outcome.rejection, outcome.unreadable
        expected = " or ".join(outcome.corruption.rules) or "an unreadable line"
        if lost is not None and not outcome.corruption.rules:
            lines.append(f"  unreadable {name} line {lost.number:>6,}: {outcome.what}")
            lines.append(f"            {'':{widest}}  {shorten(lost.why, _CUT)}")
            continue
        if rejection is None:
            lines.append(f"  ACCEPTED  {name}  {outcome.what}; expected {expected}")
            continue
        charged = rejection.rules[0]
        if not outcome.detected:
            charged = f"{charged}, expected {expected}"
        mark = "rejected" if outcome.detected else "OTHERWISE"
        lines.append(f"  {mark:9} {name}  {charged:8} line {rejection.line:>6,}: {outcome.what}")
        lines.append(f"            {'':{widest}}  {shorten(rejection.guard, _CUT)}")
    tried = [outcome for outcome in outcomes if outcome.observable]
    rejected = sum(outcome.detected for outcome in tried)
    lines.append(
        f"  {rejected} of {len(tried)} corruptions rejected for their own reason; not observable here: "
        f"{len(outcomes) - len(tried)}, in any log of these loggers: {len(never)}"
    )
    lines += [f"  -         {name}: {why}" for name, why in never.items()]
    return "\n".join(lines) + "\n"


def verdict_of(outcomes: Sequence["Outcome"]) -> Verdict:
    """CONFORMS if every corruption that the log can show was rejected for the expected reason."""
    tried = [outcome for outcome in outcomes if outcome.observable]
    if not tried:
        return Verdict.UNDETERMINED
    return Verdict.CONFORMS if all(outcome.detected for outcome in tried) else Verdict.DIVERGES
