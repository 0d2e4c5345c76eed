"""The result of the theorem's proofs as text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol


class Lemma(Protocol):
    """The result of one obligation."""

    @property
    def obligation(self) -> tuple[str, str]:
        """The action and the clause."""

    @property
    def is_proved(self) -> bool:
        """Whether z3 refuted its negation."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The clauses, axioms and guards that the refutation used."""

    @property
    def seconds(self) -> float:
        """The time of the proof."""


def lines_of(name: str, theorem: Sequence[tuple[str, str]], lemmas: Sequence[Lemma]) -> Iterator[str]:
    """A theory: how much is proved, what follows with the clauses that it uses, and what is not proved."""
    proved = sum(lemma.is_proved for lemma in lemmas)
    slowest = max(lemma.seconds for lemma in lemmas)
    yield f"{name}: {proved} of {len(lemmas)} obligations proved by z3 without a bound"
    yield f"  {sum(lemma.seconds for lemma in lemmas):.1f} s, the slowest {slowest:.1f} s"
    uses = {lemma.obligation[1]: lemma.uses for lemma in lemmas if lemma.obligation[0] == "theorem"}
    for clause, sentence in theorem:
        yield f"  {clause}: {sentence}"
        if uses.get(clause):
            yield f"    from {_listed(uses[clause])}"
    for lemma in lemmas:
        if not lemma.is_proved:
            yield f"  NOT PROVED: {lemma.obligation[1]} after {lemma.obligation[0]}"
    yield ""


def variant_line(variant: tuple[str, str, str], *, is_refuted: bool) -> str:
    """A broken variant, and whether the clause named is false in a small scope."""
    action, left_out, clause = variant
    result = f"refuted by {clause}" if is_refuted else f"NOT refuted by {clause}"
    return f"{action} without {left_out!r}: {result}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
