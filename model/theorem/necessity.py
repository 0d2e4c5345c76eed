"""Computes the conditions and effects of each action that no clause needs.

Without a condition, an action has more behaviours. If z3 still proves every clause after the action, then the
invariant and the theorem hold for these behaviours too. An implementation may omit such a condition, and the
theorem still holds. It may need the condition for progress, for speed, or for an answer to its user. An
effect is unnecessary if no clause needs the field that it changes.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from model.theorem.logic import State
from model.theorem.prove import Unbounded, preserved, stated
from model.theorem.theory import Action, Theory, without
from model.theorem.variants import VARIANTS


class Part(NamedTuple):
    """A condition or an effect of an action."""

    action: str
    name: str
    """The name of a guard or of a field."""
    is_condition: bool


class Relaxed(NamedTuple):
    """An action, with its conditions and effects that no clause needs."""

    action: str
    unnecessary: tuple[Part, ...]
    """The parts that may be left out one at a time."""
    together: tuple[Part, ...]
    """A subset of them that may be left out together."""
    undetermined: tuple[Part, ...]
    """The parts without which z3 does not prove the action, and which no broken variant leaves out."""


def parts_of(theory: Theory) -> Iterator[Part]:
    """Every condition and effect of every action; conditions first."""
    domain = Unbounded()
    state = _state(theory, domain)
    for action in theory.actions:
        step = action.step(state, *map(domain.fresh, action.of))
        yield from (Part(action.name, name, is_condition=True) for name in step.guards)
        yield from (Part(action.name, name, is_condition=False) for name in step.changes)


def relaxed(theory: Theory, needed: Collection[tuple[str, str]] = ()) -> Iterator[Relaxed]:
    """Each action with its unnecessary parts. `needed`: actions and parts that are refuted elsewhere.

    `together` is found greedily, in the order of the parts: no further part can be added to it.
    """
    found = tuple(parts_of(theory))
    for action in theory.actions:
        candidates = [part for part in found if part.action == action.name and part[:2] not in needed]
        unnecessary = tuple(part for part in candidates if holds_without(theory, action, [part]))
        together = list(unnecessary)
        if len(unnecessary) > 1 and not holds_without(theory, action, unnecessary):
            together = []
            for part in unnecessary:
                if not together or holds_without(theory, action, [*together, part]):
                    together.append(part)
        undetermined = tuple(part for part in candidates if part not in unnecessary)
        yield Relaxed(action.name, unnecessary, tuple(together), undetermined)


def holds_without(theory: Theory, action: Action, parts: Collection[Part]) -> bool:
    """Whether every clause of the invariant is proved after the action without the parts."""
    domain = Unbounded()
    state = _state(theory, domain)
    known = {found.name: stated(found, state, domain) for found in (*theory.axioms, *theory.invariant)}
    broken = without(action, *(part.name for part in parts))
    return all(lemma.is_proved for lemma in preserved(broken, theory.invariant, known, state, domain))


def refuted_parts() -> frozenset[tuple[str, str]]:
    """The conditions and effects whose absence is one of the broken variants."""
    return frozenset((variant.action, variant.left_out) for variant in VARIANTS)


def _state(theory: Theory, domain: Unbounded) -> State:
    fields = (*theory.constants, *theory.fields)
    return State({field.name: domain.function(field) for field in fields}, domain)
