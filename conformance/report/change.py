"""The output of `barrierspec diff` and `gate`: each difference, its shortest run, and its meaning."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from conformance.adapters.protocol import canonical
from conformance.divergence import Answer
from conformance.parts.result import Finding
from conformance.report.divergence import phrases
from conformance.report.formats.columns import wrapped

if TYPE_CHECKING:
    from conformance.change.behaviour import Change, Meaning
    from conformance.change.declared import Declared

UNDECLARED = "undeclared"
"""The id in reports for a change that is not declared. It is not a rule of the protocol."""
SHOWN = 12
"""The maximum number of kinds of differences that are shown."""


def paragraphs(changes: Sequence["Change"]) -> Iterator[str]:
    """A paragraph for each kind of difference. The ones with the shortest runs come first."""
    nearest = sorted(changes, key=lambda change: len(change.events))
    for change in nearest[:SHOWN]:
        runs = "in 1 run" if change.runs == 1 else f"in {change.runs:,} runs"
        runs = runs if change.runs else "stated in hello"
        config = phrases.of_config(change.component, change.config)
        yield _wrapped(f"  {change.kind.value:<8} ", f"{config}; {runs}")
        for number, event in enumerate(change.events, 1):
            yield f"      {number:>3}  {phrases.of_event(event)}"
        yield _wrapped("           old  ", _answer(change.old, change.new))
        yield _wrapped("           new  ", _answer(change.new, change.old))
        if change.model is not None:
            other = change.old if change.right == "new" else change.new
            fired = ", ".join(change.rules) or "no rule"
            yield _wrapped("         model  ", f"{_answer(change.model, other)}; as {change.right}; {fired}")
    if len(nearest) > SHOWN:
        yield f"  and {len(nearest) - SHOWN} more differences"


def differences(changes: Sequence["Change"]) -> Iterator[Finding]:
    """Each difference of two implementations, charged to the first rule that fires there."""
    for one in changes:
        rule = one.rules[0] if one.rules else UNDECLARED
        story = "\n".join(paragraphs([one]))
        yield Finding(rule, f"{one.component}: behaviour {one.kind.value}", story, case=_case(one))


def _case(one: "Change") -> dict[str, object]:
    case = {**one._asdict(), "right": one.right or None}
    answers = {"old": one.old, "new": one.new, "model": one.model}
    return {**case, "kind": one.kind.value, **{name: one and one._asdict() for name, one in answers.items()}}


def findings(changes: Sequence["Change"], missing: Sequence[str]) -> Iterator[Finding]:
    """A finding for each difference that is not declared, with its shortest run."""
    todo = "; ".join(missing)
    for one in changes:
        line = f"{one.component}: behaviour {one.kind.value}, and this is not declared; {todo}"
        yield Finding(UNDECLARED, line, "\n".join(paragraphs([one])), "spec/rules.toml")


def _answer(one: Answer, other: Answer) -> str:
    """The effects of one side. If both sides have the same effects: the fields of the state that differ."""
    if one.refused is not None and one.refused.startswith("unsupported"):
        return one.refused
    if canonical(one.effects) != canonical(other.effects) or one.refused or other.refused:
        return phrases.of_answer(one)
    apart = [name for name in one.state if canonical(one.state[name]) != canonical(other.state.get(name))]
    return phrases.of_state(one.state, apart)


def of_rules(declared: "Declared") -> Iterator[str]:
    """Lines with the rules that were added, removed or reworded."""
    parts = {"added": declared.added, "removed": declared.removed, "reworded": declared.reworded}
    for word, names in parts.items():
        if names:
            yield _wrapped(f"  rules {word}: ", ", ".join(names))


def affected(changes: Sequence["Change"], mutated: Collection[str]) -> Iterator[str]:
    """The rules that fire where the sides differ, the vectors that change, and the mutants to test again.

    `mutated`: the rule of each mutant of the catalogue.
    """
    if not changes:
        return
    rules = sorted({rule for change in changes for rule in change.rules})
    mutants = [rule for rule in mutated if rule in rules]
    yield _wrapped("  affected  rules ", ", ".join(rules) or "none")
    yield f"            vectors {sum(change.runs for change in changes):,}"
    if mutants:
        again = " ".join(f"--rule {rule}" for rule in rules if rule in mutants)
        yield _wrapped("            mutants ", f"{len(mutants)}: barrierspec mutants {again}")


def closing(meaning: "Meaning", bound: str) -> str:
    """The last line: the kind of the whole change in one word, and the compared runs."""
    return _wrapped(f"{meaning.value}   ", bound)


def _wrapped(begin: str, text: str) -> str:
    return wrapped(begin + text, len(begin))
