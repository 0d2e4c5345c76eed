"""Refutes clauses in a small scope: finds a state that satisfies the invariant, and a step to a false clause.

A *scope* bounds the numbers of tasks, channels, ids and positions, so that quantifiers over them are finite.
Histories and values have no bound. z3 chooses the dataflow, the operators and the state within the scope. If
a clause is refuted here, it is false. If it is not refuted, it may still be false in a larger scope.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import count, product
from typing import Any

import z3

from model.theorem.dataflow import CHANNEL, ID, POSITION, TASK
from model.theorem.logic import TRUTH, Formula, Sort, State, both, no
from model.theorem.prove import Obligation
from model.theorem.theory import Clause, Field, Theory

SCOPE = {TASK: 2, CHANNEL: 3, ID: 3, POSITION: 4}
"""Number of elements of each sort. Histories and values have no bound."""


class QuantifiersInScope:
    """Quantifiers over the elements of the scope. Histories and values have no bound."""

    def __init__(self) -> None:
        self._sorts: dict[str, z3.SortRef] = {}
        self._numbers = count()
        self.ranges: list[Formula] = []
        """Formulas: each element and each value of a function lies in the scope."""

    def sort(self, sort: Sort) -> z3.SortRef:
        """The sort of z3."""
        if sort is TRUTH:
            return z3.BoolSort()
        if sort in SCOPE:
            return z3.IntSort()
        return self._sorts.setdefault(sort.name, z3.DeclareSort(sort.name))

    def fresh(self, sort: Sort) -> z3.ExprRef:
        """A symbol for an element of the scope."""
        element = z3.Const(f"{sort.name}-{next(self._numbers)}", self.sort(sort))
        self.bounded(sort, element)
        return element

    def bounded(self, sort: Sort, element: Any) -> None:  # noqa: ANN401
        """Adds the formula that the element lies in the scope."""
        if sort in SCOPE:
            self.ranges.append(z3.And(element >= 0, element < SCOPE[sort]))

    def all(self, sorts: tuple[Sort, ...], holds: Callable[..., Formula]) -> Formula:
        """The formula holds for all elements of the sorts."""
        if any(sort not in SCOPE for sort in sorts):
            elements = [z3.Const(f"{sort.name}-{next(self._numbers)}", self.sort(sort)) for sort in sorts]
            inside = [
                z3.And(x >= 0, x < SCOPE[sort])
                for sort, x in zip(sorts, elements, strict=True)
                if sort in SCOPE
            ]
            return z3.ForAll(elements, z3.Implies(z3.And(*inside), holds(*elements)))
        ranges = (range(SCOPE[sort]) for sort in sorts)
        return both(*(holds(*map(z3.IntVal, elements)) for elements in product(*ranges)))

    def function(self, field: Field) -> Callable[..., Any]:
        """A function symbol with values in the scope."""
        if not field.of:
            constant = z3.Const(field.name, self.sort(field.value))
            self.bounded(field.value, constant)
            return lambda: constant
        declared = z3.Function(field.name, *map(self.sort, field.of), self.sort(field.value))
        if all(sort in SCOPE for sort in field.of):
            for elements in product(*(range(SCOPE[sort]) for sort in field.of)):
                self.bounded(field.value, declared(*elements))
        return lambda *elements: declared(*elements)


def refuted(theory: Theory, obligations: Iterable[Obligation]) -> Iterator[Obligation]:
    """Yields the obligations that z3 refutes in the scope."""
    domain = QuantifiersInScope()
    state = State(
        {field.name: domain.function(field) for field in (*theory.constants, *theory.fields)}, domain
    )

    def stated(found: Clause) -> Formula:
        return domain.all(found.of, lambda *elements: found.holds(state, *elements))

    axioms = [stated(found) for found in theory.axioms]
    invariant = [stated(found) for found in theory.invariant]
    clauses = {found.name: found for found in (*theory.invariant, *theory.theorem)}
    actions = {found.name: found for found in theory.actions}
    solver = z3.Solver()
    solver.set(random_seed=0)
    for formula in axioms:
        solver.add(formula)
    for obligation in obligations:
        solver.push()
        after = state
        if obligation.action == "start":
            after = state.after(theory.start(state))
        else:
            solver.add(*(formula for formula in invariant if not isinstance(formula, bool)))
        if found := actions.get(obligation.action):
            step = found.step(state, *map(domain.fresh, found.of))
            solver.add(*(guard for guard in step.guards.values() if not isinstance(guard, bool)))
            after = state.after(step.changes)
        clause = clauses[obligation.clause]
        solver.add(no(clause.holds(after, *map(domain.fresh, clause.of))), *domain.ranges)
        if solver.check() == z3.sat:
            yield obligation
        solver.pop()
