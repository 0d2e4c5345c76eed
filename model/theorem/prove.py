"""Proves a theory with z3, without a bound: the start, each action with each clause, and the theorem.

An obligation is a formula. It states that the axioms, the invariant and the guards of the action hold before
a step, and that a clause of the invariant does not hold after the step. If z3 finds no solution, the action
preserves the clause in every dataflow. z3 also names the formulas that it has used.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import NamedTuple

import z3

from model.theorem.logic import TRUTH, Formula, Sort, State, Term, no
from model.theorem.theory import Action, Clause, Field, Theory

SEEDS = range(8)
"""The seeds of z3's searches for one obligation, in order. z3's choice of quantifier instances depends on the
seed. If one search does not end soon, a search with another seed is faster than waiting.
"""
EFFORT = 4_000_000
"""z3's resource limit (`rlimit`) for one seed: about one second on an idle core."""


class Unbounded:
    """Quantifiers over uninterpreted sorts, and over all integers."""

    def __init__(self) -> None:
        self._sorts: dict[str, z3.SortRef] = {}
        self._numbers = count()

    def sort(self, sort: Sort) -> z3.SortRef:
        """The sort of z3."""
        if sort is TRUTH:
            return z3.BoolSort()
        if sort.is_number:
            return z3.IntSort()
        return self._sorts.setdefault(sort.name, z3.DeclareSort(sort.name))

    def fresh(self, sort: Sort) -> z3.ExprRef:
        """An uninterpreted constant."""
        return z3.Const(f"{sort.name}-{next(self._numbers)}", self.sort(sort))

    def all(self, sorts: tuple[Sort, ...], holds: Callable[..., Formula]) -> Formula:
        """The formula holds for all elements of the sorts."""
        elements = [self.fresh(sort) for sort in sorts]
        body = holds(*elements)
        return body if isinstance(body, bool) else z3.ForAll(elements, body)

    def function(self, field: Field) -> Callable[..., Term]:
        """An uninterpreted function."""
        if not field.of:
            constant = z3.Const(field.name, self.sort(field.value))
            return lambda: constant
        declared = z3.Function(field.name, *map(self.sort, field.of), self.sort(field.value))
        return lambda *elements: declared(*elements)


class Obligation(NamedTuple):
    """One clause to prove: after one action, at the start, or as a part of the theorem."""

    action: str
    """The name of the action, or `start`, or `theorem`."""
    clause: str


class Lemma(NamedTuple):
    """The result of an obligation."""

    obligation: Obligation
    is_proved: bool
    uses: tuple[str, ...]
    """The names of the axioms, clauses and guards (`guard: ...`) that the proof used."""
    seconds: float
    formulas: tuple[Formula, ...] = ()
    """The formulas of `uses`, and the negated clause. Together they have no solution."""

    @property
    def smt_lib(self) -> str:
        """The formulas in SMT-LIB 2, for another solver, which must answer `unsat`."""
        solver = z3.Solver()
        solver.add(*self.formulas)
        return f"; {self.obligation.clause} after {self.obligation.action}\n{solver.to_smt2()}"


def prove_theory(theory: Theory) -> Iterator[Lemma]:
    """Yields the result of every obligation of a theory: the start, each action, the theorem."""
    domain = Unbounded()
    state = State(
        {field.name: domain.function(field) for field in (*theory.constants, *theory.fields)}, domain
    )
    axioms = {found.name: stated(found, state, domain) for found in (*theory.axioms, *theory.given)}
    first = state.after(theory.start(state))
    for found in theory.invariant:
        yield proved(Obligation("start", found.name), axioms, found, first, domain)
    known = {**axioms, **{found.name: stated(found, state, domain) for found in theory.invariant}}
    for action in theory.actions:
        yield from preserved(action, theory.invariant, known, state, domain)
    for found in theory.theorem:
        yield proved(Obligation("theorem", found.name), known, found, state, domain)


def preserved(
    action: Action, clauses: Iterable[Clause], known: dict[str, Formula], state: State, domain: Unbounded
) -> Iterator[Lemma]:
    """Yields the result for each clause after a step of the action."""
    step = action.step(state, *map(domain.fresh, action.of))
    guards = {f"guard: {name}": guard for name, guard in step.guards.items()}
    after = state.after(step.changes)
    for found in clauses:
        yield proved(Obligation(action.name, found.name), {**known, **guards}, found, after, domain)


def stated(found: Clause, state: State, domain: Unbounded) -> Formula:
    """The formula: the clause holds for all elements."""
    return domain.all(found.of, lambda *elements: found.holds(state, *elements))


def proved(
    obligation: Obligation, known: dict[str, Formula], found: Clause, state: State, domain: Unbounded
) -> Lemma:
    """Tries to prove that the clause holds in `state`. `known`: the formulas that z3 may use, by name."""
    started = time.perf_counter()
    goal = no(found.holds(state, *map(domain.fresh, found.of)))
    for seed in SEEDS:
        solver = z3.Solver()
        solver.set(rlimit=EFFORT, random_seed=seed)
        for name, formula in known.items():
            if not isinstance(formula, bool):
                solver.assert_and_track(formula, name)
        solver.add(goal)
        if (answer := solver.check()) != z3.unknown:
            break
    is_proved = answer == z3.unsat
    uses = tuple(sorted(map(str, solver.unsat_core()))) if is_proved else ()
    formulas = (*(known[name] for name in uses), goal)
    return Lemma(obligation, is_proved, uses, time.perf_counter() - started, formulas)
