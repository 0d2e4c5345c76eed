"""The result of the theorem's proofs as text."""

import textwrap
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


class InWords(Protocol):
    """A step, or what is false."""

    @property
    def text(self) -> str:
        """One line."""


class Run(Protocol):
    """A run of a variant from the start of the job."""

    @property
    def steps(self) -> Sequence[InWords]:
        """What happens."""

    @property
    def failure(self) -> InWords:
        """What is false then."""

    @property
    def breaks_statement(self) -> bool:
        """Whether that is a sentence of the theorem."""


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


def variant_lines(name: str, clause: str, run: Run | None, *, is_refuted: bool) -> Iterator[str]:
    """A broken variant: whether its clause is false in a small scope, and a run from the start."""
    yield f"{name}: {'refuted' if is_refuted else 'NOT refuted'} by {clause!r}"
    if run is None:
        yield "  not preserved; the bounded searches find no run from the start that makes it false"
        return
    for number, step in enumerate(run.steps, 1):
        yield f"  {number:>2} {step.text}"
    yield f"  {'the statement' if run.breaks_statement else 'the invariant'}: {run.failure.text}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def clause_lines(clause: tuple[str, str], lemmas: Sequence[Lemma], variants: Sequence[str]) -> Iterator[str]:
    """A clause: its sentence, the time of its proofs, what needs it, and the variants that it refutes."""
    name, sentence = clause
    of_it = [lemma for lemma in lemmas if lemma.obligation[1] == name]
    users = [lemma for lemma in lemmas if name in lemma.uses and lemma.obligation[1] != name]
    yield f"{name}: {sentence}"
    proved = sum(lemma.is_proved for lemma in of_it)
    yield f"  {proved} of {len(of_it)} obligations proved in {sum(lemma.seconds for lemma in of_it):.2f} s"
    lemma_names = sorted({use for lemma in of_it for use in lemma.uses} - {name})
    actions = dict.fromkeys(lemma.obligation[0] for lemma in users)
    followers = dict.fromkeys(lemma.obligation[1] for lemma in users)
    for title, names in (
        ("from", lemma_names), ("used for", followers), ("used by", actions), ("refutes", variants)
    ):  # fmt: skip
        if names:
            yield from textwrap.wrap(
                f"{title} {_listed(names)}", 100, initial_indent="  ", subsequent_indent="    "
            )
