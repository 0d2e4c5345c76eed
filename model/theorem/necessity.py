"""Computes the conditions and effects of each action that the theorem does not need.

An action without one of its conditions is possible in more states. If z3 still proves every clause after the
action, the theorem does not need the condition: an implementation may omit it. The implementation may need
the condition for another reason: for progress, for speed, or for an answer to its user. An effect is
unnecessary if z3 proves every clause although the action leaves the field unchanged.
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
    """The parts of which each may be left out alone."""
    together: tuple[Part, ...]
    """A subset of `alone` that may be left out together."""
    undetermined: tuple[Part, ...]
    """The parts that z3 needs for the proof, although no broken variant shows that they are necessary."""


def parts_of(theory: Theory) -> Iterator[Part]:
    """Every condition and effect of every action; conditions first."""
    domain = Unbounded()
    state = _state(theory, domain)
    for action in theory.actions:
        step = action.step(state, *map(domain.fresh, action.of))
        yield from (Part(action.name, name, is_condition=True) for name in step.guards)
        yield from (Part(action.name, name, is_condition=False) for name in step.changes)


def relaxed(theory: Theory, needed: Collection[tuple[str, str]] = ()) -> Iterator[Relaxed]:
    """Yields each action with its unnecessary parts.

    `needed`: parts that broken variants show to be necessary.

    `together` is the result of a greedy search in the order of the parts: no further part can be added.
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
