"""Writes the result of the proofs for any number of elements as text."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol


class Claim(Protocol):
    """The proved rules of one component."""

    @property
    def component(self) -> str:
        """Its name."""

    @property
    def elements(self) -> str:
        """The elements that may have any number, such as channels."""

    @property
    def method(self) -> str:
        """The method of the proof."""

    @property
    def bounds(self) -> str:
        """The sizes that stay bounded, and the behaviour that is left out."""

    @property
    def beyond(self) -> Collection[str]:
        """Rules that concern only events that are left out."""


class Refutation(Protocol):
    """A rule that fails in a case."""

    @property
    def rule(self) -> str:
        """Its ID."""

    @property
    def label(self) -> str:
        """The case."""

    @property
    def property(self) -> str:  # last, because it hides Python's `property` below
        """The name of the property."""


class Result(Protocol):
    """The result of the cases of a component."""

    @property
    def proved(self) -> Collection[str]:
        """The rules whose properties all hold."""

    @property
    def cases(self) -> int:
        """Number of cases."""

    @property
    def permitted(self) -> int:
        """Number of cases for which z3 found a state and an event."""

    @property
    def paths(self) -> int:
        """Number of paths of steps."""

    @property
    def checks(self) -> int:
        """Number of properties on a path."""


class Mutant(Protocol):
    """A broken variant."""

    @property
    def id(self) -> str:
        """Its name in the catalogue."""

    @property
    def rule(self) -> str:
        """The rule that it breaks."""


def line_of(claim: Claim, result: Result, seconds: float) -> str:
    """One line: the proved rules, the method, the remaining bounds, and the processor time."""
    counts = f"{result.cases} cases, {result.paths:,} paths, {result.checks:,} checks, {seconds:.1f} s"
    proved = len(set(result.proved) - set(claim.beyond))
    lines = [
        f"{claim.component}, any number of {claim.elements}: {proved} rules proved ({counts})",
        f"  by {claim.method}",
        f"  bounded: {claim.bounds or 'nothing'}",
        f"  not vacuous: z3 found a state and an event for {result.permitted} cases",
    ]
    return "\n".join(lines)


def refutation_lines(refutations: Sequence[Refutation]) -> Iterator[str]:
    """Each rule that fails, with its property and the first case."""
    seen: set[tuple[str, str]] = set()
    for found in refutations:
        if (found.rule, found.property) not in seen:
            seen.add((found.rule, found.property))
            yield f"NOT PROVED: {found.rule} ({found.property}) in {found.label}"


class Search(NamedTuple):
    """A search for a refutation of a broken variant."""

    is_refuted: bool
    """Whether the rule that the variant breaks refutes it."""
    seconds: float
    """The processor time in seconds."""


def variant_line(mutant: Mutant, found: Search | None) -> str:
    """The line of a broken variant: refuted by its rule or not, or the crash that ended the search."""
    if found is None:
        return f"{mutant.id}: UNDETERMINED, z3 crashed; try it again, or with another release of z3"
    verdict = "refuted" if found.is_refuted else "NOT refuted"
    return f"{mutant.id}: {verdict} by {mutant.rule} ({found.seconds:.1f} s)"
