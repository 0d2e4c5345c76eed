"""Follows a small function along all its paths, and makes one z3 term of its results.

`model.checker.paths` uses z3 to leave out infeasible paths; this module does not. It follows only functions
with few decisions, such as the body of a generator expression or the comparison of two values. An infeasible
path only adds a case whose condition is false.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import z3

from model.checker.paths import Question, running
from model.checker.symbolic import SymbolicBool


class Walk:
    """One execution of the function. It first repeats the given decisions, then it makes new ones."""

    def __init__(self, prefix: tuple[bool, ...] = ()) -> None:
        self.known: dict[int, bool] = {}
        self.decided: list[z3.BoolRef] = []
        self.open: list[tuple[bool, ...]] = []
        """For each execution that has not run yet: the decisions that it repeats first."""
        self._prefix = prefix
        self._decisions: list[bool] = []
        self._terms: list[z3.BoolRef] = []

    def decide(self, tested: Question) -> bool:
        """The truth of the condition on this path. The decisions of an outer execution hold here too."""
        term, key, truth = tested
        for run in reversed(running):
            if key in run.known:
                return run.known[key] is truth
        step = len(self._decisions)
        if step < len(self._prefix):
            choice = self._prefix[step]
        else:
            choice = truth
            self.open.append((*self._decisions, not truth))
        self._decisions.append(choice)
        self._terms.append(term)  # keeps the term: z3 reuses the id of a released term
        self.decided.append(term if choice else negation(term))
        self.known[key] = choice
        return choice is truth


class Outcome(NamedTuple):
    """One path through a function: the condition under which it is taken, and its result."""

    condition: z3.BoolRef
    result: Any


def outcomes(function: Callable[[], Any]) -> Iterator[Outcome]:
    """Yields every path through the function."""
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        walk = Walk(waiting.pop())
        running.append(walk)  # type: ignore[arg-type]
        try:
            result = function()
        finally:
            running.pop()
        waiting.extend(walk.open)
        yield Outcome(conjunction(walk.decided), result)


def truth(function: Callable[[], Any]) -> z3.BoolRef:
    """The term that holds exactly when the function returns a true value."""

    def as_term() -> z3.BoolRef:
        result = function()
        return result.term if isinstance(result, SymbolicBool) else z3.BoolVal(bool(result))

    return disjunction([conjunction([path.condition, path.result]) for path in outcomes(as_term)])


TRUE, FALSE = z3.BoolVal(True), z3.BoolVal(False)


def truth_of(term: z3.BoolRef) -> int:
    """1 for the term `true`, -1 for `false`, 0 for any other."""
    return int(z3.Z3_get_bool_value(term.ctx_ref(), term.as_ast()))


def conjunction(terms: list[z3.BoolRef]) -> z3.BoolRef:
    """The conjunction of the terms, without the terms `true`."""
    kept = []
    for term in terms:
        known = truth_of(term)
        if known < 0:
            return FALSE
        if not known:
            kept.append(term)
    return _joined(z3.Z3_mk_and, kept) if len(kept) > 1 else kept[0] if kept else TRUE


def disjunction(terms: list[z3.BoolRef]) -> z3.BoolRef:
    """The disjunction of the terms, without the terms `false`."""
    kept = []
    for term in terms:
        known = truth_of(term)
        if known > 0:
            return TRUE
        if not known:
            kept.append(term)
    return _joined(z3.Z3_mk_or, kept) if len(kept) > 1 else kept[0] if kept else FALSE


def negation(term: z3.BoolRef) -> z3.BoolRef:
    """The negation of the term. A cache returns the same object for the same term, until it is full."""
    known = truth_of(term)
    if known:
        return FALSE if known > 0 else TRUE
    key = term.get_id()
    found = _negations.get(key)
    if found is None:
        if len(_negations) > REMEMBERED:
            _negations.clear()
        found = _negations[key] = (term, z3.BoolRef(z3.Z3_mk_not(term.ctx_ref(), term.as_ast()), term.ctx))
    return found[1]


REMEMBERED = 100_000
_negations: dict[int, tuple[z3.BoolRef, z3.BoolRef]] = {}


def _joined(connective: Callable[..., Any], terms: list[z3.BoolRef]) -> z3.BoolRef:
    """The terms joined by z3's C interface. The Python interface is slow, because it checks all sorts."""
    asts = (z3.Ast * len(terms))(*(term.as_ast() for term in terms))
    return z3.BoolRef(connective(terms[0].ctx_ref(), len(terms), asts), terms[0].ctx)
