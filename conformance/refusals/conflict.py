"""The values that exclude an answer: a minimal unsatisfiable core of z3.

The answer is possible if a path through the model gives it. With the values of the state this condition has
no solution. z3 drops values as long as there is no solution; the remaining values are the reason.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import z3

from conformance.refusals.candidates import Candidate, Candidates, equals
from conformance.refusals.guards import plain, short
from model.checker.paths import paths, satisfiable, solver_with
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError, bool_term, int_term
from model.components import COMPONENTS, PARTS


class Conflict(NamedTuple):
    """The reason for which the answer is impossible."""

    facts: tuple[str, ...]
    """Texts such as `current = 2`. If any one of them is left out, the answer is possible."""
    is_answer: bool
    """Whether some state of this shape leads to the answer."""


def conflict(found: Candidates) -> Conflict | None:
    """The values that exclude the answer; None if none do, or if z3 cannot read the observable state."""
    try:
        possible = [term for way in found.ways for term in answers(way, found)]
    except SymbolicUseError:
        return None
    if not possible:
        return Conflict((), False)
    solver = solver_with(z3.Or(*possible))
    if not satisfiable(solver):
        return Conflict((), False)
    held = dict(found.facts)
    if satisfiable(solver, *(equals(*fact) for fact in held.items())):
        return None
    for name in list(held):
        fewer = {other: value for other, value in held.items() if other != name}
        if not satisfiable(solver, *(equals(*fact) for fact in fewer.items())):
            held = fewer
    return Conflict(tuple(f"{short(name)} = {plain(value)}" for name, value in held.items()), True)


def answers(way: Candidate, found: Candidates) -> Iterator[z3.BoolRef]:
    """The conditions under which this path gives the answer. One of them must hold."""
    answer = found.refused
    if way.refused or answer.effects is None:
        if way.refused and answer.effects is None:
            yield z3.And(*way.condition)
        return
    same = same_as(list(way.effects), list(answer.effects))
    if same is None:
        return
    if answer.observed is None:
        yield z3.And(*way.condition, same)
        return
    observe = {**COMPONENTS, **PARTS}[answer.component].observe
    for view in paths(lambda: observe(way.after), solver_with(*way.condition, same)):
        shown = {name: value for name, value in view.result.items() if name in answer.observed}
        alike = same_as(shown, {name: answer.observed[name] for name in shown})
        if alike is not None:
            yield z3.And(*way.condition, same, *view.condition, alike)


def same_as(mine: Any, came: Any) -> z3.BoolRef | None:  # noqa: ANN401 - any JSON value, with symbols
    """The condition under which a symbolic value equals the received one; None if it never does."""
    if isinstance(mine, SymbolicBool):
        return bool_term(mine) == came if type(came) is bool else None
    if isinstance(mine, SymbolicInt):
        return int_term(mine) == came if type(came) is int else None
    parts: list[tuple[Any, Any]]
    if isinstance(mine, Mapping) and isinstance(came, Mapping):
        if any(name.startswith("?") for name in mine):
            raise SymbolicUseError(f"names have symbols in them: {list(mine)}")
        if set(mine) != set(came):
            return None
        parts = [(value, came[name]) for name, value in mine.items()]
    elif isinstance(mine, list | tuple) and isinstance(came, list | tuple):
        if len(mine) != len(came):
            return None
        parts = list(zip(mine, came, strict=True))
    else:
        return z3.BoolVal(True) if type(mine) is type(came) and mine == came else None
    terms = [same_as(*part) for part in parts]
    known = [term for term in terms if term is not None]
    return z3.And(*known) if len(known) == len(terms) else None
