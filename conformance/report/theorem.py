"""Writes the result of the theorem's proofs as text."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol


class Lemma(Protocol):
    """The result of one obligation."""

    @property
    def obligation(self) -> tuple[str, str]:
        """The action and the clause."""

    @property
    def is_proved(self) -> bool:
        """Whether z3 has refuted the negation of the obligation."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The clauses, axioms and guards that the refutation used."""

    @property
    def seconds(self) -> float:
        """The time of the proof."""


class InWords(Protocol):
    """A step, or the clause that is false after it."""

    @property
    def text(self) -> str:
        """The step or the clause in one line."""


class Run(Protocol):
    """A run of a variant from the start of the job."""

    @property
    def steps(self) -> Sequence[InWords]:
        """The steps, in order."""

    @property
    def failure(self) -> InWords:
        """The clause that is false after the last step."""

    @property
    def breaks_statement(self) -> bool:
        """Whether the false clause is a sentence of the theorem."""


class Part(Protocol):
    """A condition or an effect of an action."""

    @property
    def name(self) -> str:
        """The condition, or the field."""

    @property
    def is_condition(self) -> bool:
        """Whether the part is a condition; else it is an effect."""


class Relaxed(Protocol):
    """An action, with its conditions and effects that no clause needs."""

    @property
    def action(self) -> str:
        """The name of the action."""

    @property
    def unnecessary(self) -> Sequence[Part]:
        """The parts that may be left out one at a time."""

    @property
    def together(self) -> Sequence[Part]:
        """The parts that may be left out together."""

    @property
    def undetermined(self) -> Sequence[Part]:
        """The parts for which it is neither proved nor refuted that they may be left out."""


def lines_of(
    name: str,
    premises: Mapping[str, Sequence[str]],
    theorem: Sequence[tuple[str, str]],
    lemmas: Sequence[Lemma],
) -> Iterator[str]:
    """The lines about a theory: the numbers of proofs, the premises, the theorem, and what is not proved.

    `premises`: the names of clauses, by their origin.
    """
    proved = sum(lemma.is_proved for lemma in lemmas)
    slowest = max(lemma.seconds for lemma in lemmas)
    yield f"{name}: {proved} of {len(lemmas)} obligations proved by z3 without a bound"
    yield f"  {sum(lemma.seconds for lemma in lemmas):.1f} s, the slowest {slowest:.1f} s"
    yield from (f"  {origin} {_listed(names)}" for origin, names in premises.items() if names)
    uses = {lemma.obligation[1]: lemma.uses for lemma in lemmas if lemma.obligation[0] == "theorem"}
    for clause, sentence in theorem:
        yield f"  {clause}: {sentence}"
        if uses.get(clause):
            yield f"    from {_listed(uses[clause])}"
    for lemma in lemmas:
        if not lemma.is_proved:
            yield f"  NOT PROVED: {lemma.obligation[1]} after {lemma.obligation[0]}"
    yield ""


def variant_lines(name: str, clause: str, run: Run | None, bound: str, *, is_refuted: bool) -> Iterator[str]:
    """A broken variant: whether its clause is false in a small scope, and a run from the start.

    `bound`: the bound of the search for a run.
    """
    yield f"{name}: {'refuted' if is_refuted else 'NOT refuted'} by {clause!r}"
    if run is None:
        yield "  not preserved; no run from the start was found that makes it false, within"
        yield from textwrap.wrap(bound, 100, initial_indent="    ", subsequent_indent="    ")
        return
    for number, step in enumerate(run.steps, 1):
        yield f"  {number:>2} {step.text}"
    yield f"  {'the statement' if run.breaks_statement else 'the invariant'}: {run.failure.text}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def clause_lines(clause: tuple[str, str], lemmas: Sequence[Lemma], variants: Sequence[str]) -> Iterator[str]:
    """The lines about a clause: its sentence, its proofs, the clauses that need it, and refuted variants."""
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


def relaxed_lines(actions: Sequence[Relaxed]) -> Iterator[str]:
    """For each action, the conditions and effects that no clause needs."""
    parts = [part for action in actions for part in action.unnecessary]
    conditions = sum(part.is_condition for part in parts)
    effects = len(parts) - conditions
    yield f"unnecessary: every clause is proved without each of {conditions} conditions and {effects} effects"
    for action in actions:
        for kind, is_condition in (("condition", True), ("effect", False)):
            names = [part.name for part in action.unnecessary if part.is_condition is is_condition]
            yield from (f"  {action.action}: {kind} {name!r}" for name in names)
        if len(action.together) < len(action.unnecessary):
            yield f"    together only {_listed(part.name for part in action.together)}"
        for part in action.undetermined:
            yield f"  UNDETERMINED: {action.action}/{part.name}"
    yield ""
