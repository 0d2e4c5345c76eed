"""The output of a verification: a line for each part, the findings, one of them in full, and the verdict.

The text is plain; only marks and verdicts have a colour, and only on a terminal.
"""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.parts.result import Finding, PartResult
from conformance.report.formats.columns import NARROW
from conformance.rules import index as rule_index
from conformance.rules.index import UnknownRuleError
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.parts.verify import Verification

WIDEST = 110
"""Maximum number of columns. A line has a part's name, its bound, and its engine and time."""
FINDINGS_SHOWN = 8
"""Maximum number of findings on the screen; the JSON has all."""
NAME, MARK = 13, 4
_MARGIN = " " * (2 + NAME + 3 + MARK + 3)

_MARKS = {Verdict.CONFORMS: "PASS", Verdict.DIVERGES: "FAIL", Verdict.UNDETERMINED: "----"}
_COLOURS = {Verdict.CONFORMS: "green", Verdict.DIVERGES: "red", Verdict.UNDETERMINED: "yellow"}


def screen(
    verification: "Verification", files: Sequence[Path] = (), *, width: int = WIDEST, colour: bool = False
) -> str:
    """The text of the screen, wrapped at `width` columns. The lines of a full finding are not wrapped."""
    width = max(NARROW, min(width, WIDEST))
    lines = [*_heading(verification, width), ""]
    engine = max((len(result.engine) for result in verification.parts), default=0)
    for result in verification.parts:
        lines += _part(result, engine, width, colour)
    lines += [f"  {name:<{NAME}}   {'----':<{MARK}}   not run" for name in verification.not_run]
    lines += ["", *_findings(verification, width)]
    lines += [*_closing(verification, files, width, colour)]
    return "\n".join(lines) + "\n"


def title_of(finding: Finding) -> str:
    """The title of the charged rule, or the reason why there is none."""
    if finding.rule is None:
        return "could not be judged"
    try:
        return rule_index.title(finding.rule)
    except UnknownRuleError:
        return "no rule of the index"


def shown_first(verification: "Verification") -> tuple[PartResult, Finding] | None:
    """The finding that is shown in full: the first that charges a rule, else the first of all."""
    found = [(part, finding) for part in verification.parts for finding in part.findings]
    charged = [(part, finding) for part, finding in found if finding.rule is not None]
    return next(iter(charged or found), None)


def _heading(verification: "Verification", width: int) -> Iterator[str]:
    command = verification.again.replace(f" --seed {verification.seed}", "")
    right = f"commit {verification.commit}, seed {verification.seed}"
    yield f"{command}{right:>{max(len(right) + 2, width - len(command))}}"
    yield f"{verification.machine.describe():>{width}}"


def _part(result: PartResult, engine: int, width: int, colour: bool) -> Iterator[str]:
    mark = f"{_MARKS[result.verdict]:<{MARK}}"
    if colour:
        mark = click.style(mark, fg=_COLOURS[result.verdict], bold=True)
    cost = f"{result.engine:<{engine}} {result.seconds:>5.0f} s"
    space = width - len(_MARGIN) - len(cost) - 2
    first, *rest = textwrap.wrap(result.brief or result.bound, space) or [""]
    yield f"  {result.name:<{NAME}}   {mark}   {first:<{space}}  {cost}"
    for line in rest:
        yield f"{_MARGIN}{line}"


def _findings(verification: "Verification", width: int) -> Iterator[str]:
    found = [(part, finding) for part in verification.parts for finding in part.findings]
    margin = " " * (NAME + 5)
    for part, finding in found[:FINDINGS_SHOWN]:
        head = f"  {part.name:<{NAME}}   {finding.rule or '-':<8}  {title_of(finding)}"
        yield from textwrap.wrap(head, width, subsequent_indent=margin + " " * 10)
        yield from textwrap.wrap(
            finding.line, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
        )
    if len(found) > FINDINGS_SHOWN:
        yield f"{margin}and {len(found) - FINDINGS_SHOWN} more, all of them in the JSON"
    first = shown_first(verification)
    if first is not None and first[1].story:
        yield f"\n  {first[1].rule or first[0].name} in full:\n"
        yield textwrap.indent(first[1].story.rstrip(), "  ")
    if found:
        yield ""


def _closing(verification: "Verification", files: Sequence[Path], width: int, colour: bool) -> Iterator[str]:
    verdict = verification.verdict
    word = click.style(verdict.value, fg=_COLOURS[verdict], bold=True) if colour else verdict.value
    lines = textwrap.wrap(scope(verification), width - len(verdict.value) - 3)
    yield f"{word}   {lines[0]}"
    yield from (" " * (len(verdict.value) + 3) + line for line in lines[1:])
    if files:
        yield f"  report  {', '.join(str(file) for file in files)}"
    if len(verification.parts) > 1:
        yield f"  took    {verification.seconds:.0f} s"
    yield f"  again   {verification.again}"


def scope(verification: "Verification") -> str:
    """The scope of the verdict in one line: the parts that ran, and their bounds."""
    ran = [part.name for part in verification.parts]
    if verification.verdict is Verdict.CONFORMS:
        text = "within the bounds above"
    elif verification.verdict is Verdict.DIVERGES:
        text = "see " + _names(verification, Verdict.DIVERGES)
    else:
        text = "nothing diverged, but not everything could be judged: " + (
            _names(verification, Verdict.UNDETERMINED) or "no part ran"
        )
    if verification.not_run:
        text += f"; this is about {', '.join(ran) or 'nothing'} only"
    return text + ("; smaller bounds (--quick)" if verification.quick else "")


def _names(verification: "Verification", verdict: Verdict) -> str:
    return ", ".join(part.name for part in verification.parts if part.verdict is verdict)
