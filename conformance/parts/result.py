"""What every part of a verification takes and returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.divergence import Divergence
from conformance.verdict import Verdict


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: which rule, in one line, and the story behind it."""

    rule: str | None
    """The rule that is charged; None where a part could not run."""
    line: str
    story: str = ""
    file: str = ""
    """Where it was found, if that is a file."""
    row: int = 0
    """The line of that file, from 1; 0 if there is none to name."""
    case: Mapping[str, object] = field(default_factory=dict, hash=False)
    """The steps of the story, or a difference of two implementations, as JSON values; empty: it is none."""
    divergence: Divergence | None = field(default=None, hash=False)
    """What the case is made from, if it is the story of one implementation."""
    rows: tuple[int, ...] = ()
    """The lines of that file at which the events of the divergence are."""
    source: str = ""
    """A file of what was checked, at which an annotation is shown."""


@dataclass(frozen=True)
class PartResult:
    """The result of one part."""

    name: str
    verdict: Verdict
    bound: str
    """How far a PASS reaches: states, paths, sequences, events, faults, rules."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The counts behind the bound, for machines."""
    rules: tuple[str, ...] = ()
    """The rules that this part exercised or proved, sorted."""
    findings: tuple[Finding, ...] = ()
    again: str = ""
    """The command that runs this part again."""
    seconds: float = 0.0
    tried: Mapping[str, object] = field(default_factory=dict)
    """How far the cases of a component reached, as JSON values."""
    engine: str = ""
    """What did the work, of a part of a verification."""


DUMPS = "graphs"
"""Folder in the build folder: the state graphs that TLC has dumped, by the text that they come from."""


def silent(what: str) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Context:
    """What a part takes."""

    seed: int
    build: Path
    """The folder for what a part leaves behind."""
    say: Callable[[str], None] = silent
    """Reports the current activity in a few words."""
    processes: int = 2
    """How many processes a part may use."""
    quick: bool = False
    """A smaller bound, stated as such: for tries at the desk, not for a verdict to rely on."""
    thorough: bool = False
    """Models and proofs that take minutes, too: two channels of an unaligned gate in every generation."""


def verdict_of(findings: tuple[Finding, ...]) -> Verdict:
    """DIVERGES if a rule is charged, UNDETERMINED if something else is wrong, else CONFORMS."""
    if any(finding.rule is not None for finding in findings):
        return Verdict.DIVERGES
    return Verdict.UNDETERMINED if findings else Verdict.CONFORMS
