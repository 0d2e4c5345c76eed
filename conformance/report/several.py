"""One page about several implementations: a table of components, and one of whole jobs with faults."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance import escape
from conformance.observe.guarantees.anomalies import Subject
from conformance.report.conform import COMPONENTS
from conformance.report.divergence import phrases
from conformance.report.formats.columns import wrapped

if TYPE_CHECKING:
    from conformance.drive.examine import Examination
    from conformance.drive.several import Examined
    from conformance.torture.pipelines import Tortured

NOTHING = "-"


def line(done: "Examined") -> str:
    """One implementation, when it is done."""
    parts = ", ".join(f"{name} {cell(found)}" for name, found in done.components.items())
    text = escape.line(f"{done.implementation.name}: {parts or done.name}")
    return wrapped(f"  {done.verdict.value:<12} {text}", 15)


def cell(found: "Examination | None") -> str:
    """What came of one component: the rule that is broken, the steps that passed, or the doubt."""
    if found is None:
        return NOTHING
    if found.divergence is not None:
        lost = found.divergence.lost
        return f"DIVERGES, {lost}" if lost is not None else f"DIVERGES at {_charged(found)}"
    if found.broken:
        return "DIVERGES at the frames"
    if found.doubts:
        return found.verdict.value
    return f"{found.steps:,} steps" + (f" ({len(found.known)} known)" if found.known else "")


def _charged(found: "Examination") -> str:
    """What is charged: a rule, or that nothing was answered."""
    return (found.divergence.charge if found.divergence is not None else None) or "no rule"


def line_of_job(struck: "Tortured") -> str:
    """One whole job, when it is done: what its state and its output have kept."""
    kept = f"state {struck.keeps(Subject.STATE)}, output {struck.keeps(Subject.OUTPUT)}"
    faults = len(struck.outcome.struck)
    name = escape.line(struck.pipeline.name)
    return wrapped(f"  {struck.verdict.value:<12} {name}: {kept}; {faults} faults", 15)


def page(
    all_done: Sequence["Examined"], all_struck: Sequence["Tortured"] = (), *, seed: int, examples: int
) -> str:
    """The tables and, below them, each divergence with its shortest run and each doubt, in Markdown."""
    lines = ["# Implementations beside the model", ""]
    lines += _table(all_done, seed, examples) if all_done else []
    lines += _jobs(all_struck) if all_struck else []
    for done in all_done:
        for name, found in done.components.items():
            lines += _story(done.implementation.name, name, found)
    return "\n".join(lines) + "\n"


def _table(all_done: Sequence["Examined"], seed: int, examples: int) -> list[str]:
    names = dict.fromkeys([*COMPONENTS, *(name for done in all_done for name in done.components)])
    offered = [name for name in names if any(name in done.components for done in all_done)]
    lines = [
        f"Seed {seed}, {examples} examples. A number is the steps that were compared, all of them alike; "
        f"`{NOTHING}` is not offered; *known* are divergences of a release that are written down.",
        "",
        f"| implementation | {' | '.join(map(escape.markdown, offered))} |",
        "|---" * (len(offered) + 1) + "|",
    ]
    for done in all_done:
        cells = " | ".join(cell(done.components.get(name)) for name in offered)
        lines.append(f"| {escape.markdown(f'{done.implementation.name} ({done.name})')} | {cells} |")
    return lines


def _jobs(all_struck: Sequence["Tortured"]) -> list[str]:
    lines = [
        "",
        "## Whole jobs with faults",
        "",
        "Each was run once with faults; *state* and *output* are the strongest guarantees that this run has "
        "not refuted. A run can refute a promise, and prove none.",
        "",
        "| job | promised | state | output | faults | rows of records | |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in all_struck:
        kept = [one.pipeline.keeps.value, one.keeps(Subject.STATE), one.keeps(Subject.OUTPUT)]
        found = one.outcome.classification
        rows = f"{found.rows:,} of {found.records:,}" if found is not None else NOTHING
        cells = [one.pipeline.name, *kept, str(len(one.outcome.struck)), rows, one.verdict.value]
        lines.append(f"| {' | '.join(map(escape.markdown, cells))} |")
    for one in all_struck:
        found = one.outcome.classification
        refuted = [finding.describe() for finding in found.findings] if found is not None else []
        lines += [
            f"\n{escape.markdown(f'{one.pipeline.name}: {line}')}"
            for line in (*refuted, *one.outcome.findings)
        ]
    return lines


def _story(implementation: str, component: str, found: "Examination") -> list[str]:
    divergence = found.divergence
    if divergence is None:
        known = [f"known: {escape.markdown(name)} (`conformance/known-divergences`)" for name in found.known]
        doubts = map(escape.markdown, found.doubts)
        which = escape.markdown(f"{implementation}, {component}")
        return [line for one in (*doubts, *known) for line in ("", f"{which}: {one}")]
    config = phrases.of_config(component, divergence.config)
    rows = [
        f"{number}. {escape.markdown(phrases.of_event(event))}"
        for number, event in enumerate(divergence.events, 1)
    ]
    return [
        "",
        f"## {escape.markdown(implementation)}: {escape.markdown(_charged(found))}",
        "",
        escape.markdown(
            f"{config}. Expected {phrases.of_answer(divergence.expected)}, "
            f"got {phrases.of_answer(divergence.got)} at the last of:"
        ),
        "",
        *rows,
    ]
