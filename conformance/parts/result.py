"""The argument and the result of every part of a verification."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.divergence import Divergence
from conformance.verdict import Verdict


@dataclass(frozen=True)
class Finding:
    """One violation, or one part that could not run."""

    rule: str | None
    """The charged rule; None if a part could not run."""
    line: str
    """One line for the summary."""
    story: str = ""
    """The report of the finding, of several lines."""
    file: str = ""
    """The file in which it was found, such as a log; empty: none."""
    row: int = 0
    """The line of `file`, from 1; 0: none."""
    case: Mapping[str, object] = field(default_factory=dict, hash=False)
    """The steps that lead to the finding, or a difference of two implementations, as JSON values."""
    divergence: Divergence | None = field(default=None, hash=False)
    """The divergence of one implementation from which `case` is made."""
    rows: tuple[int, ...] = ()
    """The lines of `file` with the events of the divergence."""
    source: str = ""
    """The file of the implementation at which GitHub shows an annotation."""


@dataclass(frozen=True)
class PartResult:
    """The result of one part."""

    name: str
    verdict: Verdict
    bound: str
    """The scope of the verdict: states, paths, sequences, events, faults, rules."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The numbers in `bound`, by name."""
    rules: tuple[str, ...] = ()
    """The rules that this part exercised or proved, sorted."""
    findings: tuple[Finding, ...] = ()
    again: str = ""
    """The command that runs this part again."""
    seconds: float = 0.0
    tried: Mapping[str, object] = field(default_factory=dict)
    """The tested scope of a component, as JSON values."""
    engine: str = ""
    """The engine that ran this part, such as TLC or z3."""
    brief: str = ""
    """A shorter bound for the screen, if `bound` is long."""


DUMPS = "graphs"
"""Subfolder of the build folder with TLC's dumps of state graphs, by the digest of module and model."""


def silent(what: str) -> None:
    """Ignore the reported activity."""


@dataclass(frozen=True)
class Context:
    """The argument of a part."""

    seed: int
    build: Path
    """The folder into which a part writes."""
    progress: Callable[[str], None] = silent
    """Reports the current activity in a few words."""
    processes: int = 2
    """The number of processes that a part may use."""
    quick: bool = False
    """Whether to use smaller bounds, for a first try. `bound` states them."""
    thorough: bool = False
    """Whether to add models and proofs that take minutes, such as an unaligned gate in every generation."""


def verdict_of(findings: tuple[Finding, ...]) -> Verdict:
    """DIVERGES if a rule is charged, UNDETERMINED if something else is wrong, else CONFORMS."""
    if any(finding.rule is not None for finding in findings):
        return Verdict.DIVERGES
    return Verdict.UNDETERMINED if findings else Verdict.CONFORMS
