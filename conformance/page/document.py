"""The parts of an HTML page, the same for every command."""

from dataclasses import dataclass
from typing import NamedTuple

from conformance.page.case import Case
from conformance.parts.result import Finding
from conformance.verdict import Verdict


class Row(NamedTuple):
    """One part of a run: a component, a log, a part of a verification."""

    name: str
    verdict: Verdict
    bound: str
    """The bound of its verdict."""
    fired: tuple[str, ...] = ()
    """The rules that it exercised."""
    missing: tuple[str, ...] = ()
    """The rules that the part could have exercised and did not."""
    findings: tuple[Finding, ...] = ()
    """Findings that no case shows."""


class Situation(NamedTuple):
    """A named situation, and whether the run has shown it."""

    name: str
    meaning: str
    times: int
    is_required: bool = False
    case: int | None = None
    """The case of the page that shows it, from 0."""
    step: int = 0
    """The step of that case, from 1."""


@dataclass(frozen=True)
class Page:
    """One page."""

    command: str
    """The name of the command: `conform`, `trace runs`."""
    verdict: Verdict
    headline: str
    """The verdict in one sentence."""
    about: tuple[tuple[str, str], ...]
    """Facts of the run, as pairs of a name and a value."""
    again: str
    """The command that repeats the run."""
    rows: tuple[Row, ...]
    cases: tuple[Case, ...] = ()
    situations: tuple[Situation, ...] = ()

    def cited(self) -> list[str]:
        """Every rule that the page names, sorted."""
        found = {rule for row in self.rows for rule in (*row.fired, *row.missing)}
        found |= {finding.rule for row in self.rows for finding in row.findings if finding.rule}
        for case in self.cases:
            found |= {rule for step in case.steps for rule in step.rules}
            found |= {case.rule} if case.rule else set()
            found |= _of_actions(case)
        return sorted(found)


def _of_actions(case: Case) -> set[str]:
    if case.refusal is None:
        return set()
    return {rule for action in case.refusal.actions for rule in action.rules}
