"""One table and one page about several implementations."""

from collections.abc import Sequence

from conformance.drive.examine import Examination
from conformance.drive.generate import COMPONENTS
from conformance.drive.several import Examined
from conformance.report import words

NOTHING = "-"


def line(done: Examined) -> str:
    """One implementation, when it is done."""
    parts = ", ".join(f"{name} {cell(found)}" for name, found in done.components.items())
    return f"  {done.verdict.value:<12} {done.implementation.name}: {parts or done.said}"


def cell(found: Examination | None) -> str:
    """What came of one component: the rule that is broken, the steps that passed, or why nobody knows."""
    if found is None:
        return NOTHING
    if found.divergence is not None:
        return f"DIVERGES at {found.divergence.rule or 'no rule'}"
    if found.doubts:
        return "UNDETERMINED"
    return f"{found.steps:,} steps"


def page(all_done: Sequence[Examined], *, seed: int, examples: int) -> str:
    """The table and, below it, each divergence with its shortest run and each doubt, in Markdown."""
    offered = [name for name in COMPONENTS if any(name in done.components for done in all_done)]
    lines = [
        "# Implementations beside the model",
        "",
        f"Seed {seed}, {examples} examples. A number is the steps that were compared, all of them alike; "
        f"`{NOTHING}` is not offered.",
        "",
        f"| implementation | {' | '.join(offered)} |",
        "|---" * (len(offered) + 1) + "|",
    ]
    for done in all_done:
        cells = " | ".join(cell(done.components.get(name)) for name in offered)
        lines.append(f"| {done.implementation.name} ({done.said}) | {cells} |")
    for done in all_done:
        for name, found in done.components.items():
            lines += _story(done.implementation.name, name, found)
    return "\n".join(lines) + "\n"


def _story(implementation: str, component: str, found: Examination) -> list[str]:
    divergence = found.divergence
    if divergence is None:
        return [line for doubt in found.doubts for line in ("", f"{implementation}, {component}: {doubt}")]
    told = words.of_config(component, divergence.config)
    rows = [f"{number}. {words.of_event(event)}" for number, event in enumerate(divergence.events, 1)]
    return [
        "",
        f"## {implementation}: {divergence.rule or 'no rule'}",
        "",
        f"{told}. Expected {words.of_answer(divergence.expected)}, got {words.of_answer(divergence.got)} "
        "at the last of:",
        "",
        *rows,
    ]
