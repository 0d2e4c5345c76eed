"""Proves that no run takes some paths of a step function, by predicate abstraction.

The guard of a path may be true in states that satisfy the invariants and that no run reaches. To exclude such
states, this module computes a set of abstract states. An *abstract state* is the truth of each predicate of a
state. The predicates are the booleans of the state and the conditions of guards that concern the state alone.
The set begins with the abstract states of the explored states. z3 adds each abstract state to which a step
from the set leads, until no step leads out of the set. The set contains the initial state, so every run stays
in the set, for all ids and times. If a guard is true in no state of the set, no run takes its path.

The proof covers the shapes of the cases. If a step leads to a shape that no case has, such as one more
tracked checkpoint, the module proves nothing for the connected shapes.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import Any

import z3

from model.checker.paths import satisfiable, solver_with
from model.checker.relation import DifferentCaseError, Relation, binder, evaluate, source
from model.checker.symbolic import SymbolicBool, SymbolicInt, bool_term, int_term
from model.events import NONE

Abstract = tuple[bool, ...]
"""An abstract state: the truth of each predicate, in the order of the predicates."""
AT_MOST = 20_000
"""Maximum number of abstract states of a shape. With more, the module proves nothing for the shape."""
CONNECTIVES = (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT)


def never_taken(
    relations: Sequence[Relation], states: Iterable[Any], left: Sequence[set[int]]
) -> list[set[int]]:
    """By relation: the numbers of the paths that no run takes, among the paths in `left`.

    `states`: all explored states.
    """
    shapes: dict[str, _Shape] = {}
    for relation in relations:
        shapes.setdefault(repr(relation.case.state), _Shape(relation)).relations.append(relation)
    for shape in shapes.values():
        shape.collect_predicates()
    for state in states:
        for shape in shapes.values():
            shape.see(state)
    every = list(shapes.values())
    needed = {id(shapes[repr(one.case.state)]) for one, paths in zip(relations, left, strict=True) if paths}
    open_ended: set[int] = set()
    grown = True
    while grown and not needed <= open_ended:
        grown = any([shape.grow(every) for shape in every if id(shape) not in open_ended])  # noqa: C419
        open_ended = _tied_to([shape for shape in every if shape.is_left], every)
    proved: list[set[int]] = []
    for relation, paths in zip(relations, left, strict=True):
        shape = shapes[repr(relation.case.state)]
        closed = bool(shape.known) and id(shape) not in open_ended  # no explored state: no proof
        proved.append({path for path in paths if closed and not shape.allows(relation, path)})
    return proved


def _tied_to(left: Sequence["_Shape"], shapes: Sequence["_Shape"]) -> set[int]:
    """The identities of the shapes in `left`, and of all shapes that steps connect with them.

    The direction of the steps does not matter.
    """
    found = {id(shape) for shape in left}
    while True:
        more = {id(shape) for shape in shapes if shape.leads_to & found}
        more |= {target for shape in shapes if id(shape) in found for target in shape.leads_to}
        if more <= found:
            return found
        found |= more


class _Shape:
    """The abstract states of one shape, and the relations that start from it."""

    def __init__(self, relation: Relation) -> None:
        self.state = relation.case.state
        self._bind = binder(self.state)
        self.invariants = relation.invariants
        self.relations: list[Relation] = []
        self.known: set[Abstract] = set()
        self.is_left = False
        """Whether a step leads to a shape that no case has, or the shape has too many abstract states."""
        self.leads_to: set[int] = set()
        self._predicates: list[z3.BoolRef] = []
        self._codes: list[CodeType] = []
        self._solver: z3.Solver | None = None
        self._here: list[z3.BoolRef] = []
        self._there: list[z3.BoolRef] = []
        self._not_there: dict[Abstract, z3.BoolRef] = {}

    def collect_predicates(self) -> None:
        """Collects the predicates: booleans, ints equal to NONE, and conditions of guards on the state."""
        symbols = list(_symbols(self.state))
        own = {symbol.term.decl().name() for symbol in symbols}
        found = {symbol.term.get_id(): symbol.term for symbol in symbols if isinstance(symbol, SymbolicBool)}
        own_fields = self.state if isinstance(self.state, tuple) else ()
        for field in own_fields:
            if isinstance(field, SymbolicInt):
                is_none = z3.simplify(field.term == NONE)
                found.setdefault(is_none.get_id(), is_none)
        for relation in self.relations:
            for condition in relation.conditions:
                for decided in condition:
                    for atom in _atoms(z3.simplify(decided)):
                        if _names(atom) <= own:
                            found.setdefault(atom.get_id(), atom)
        self._predicates = list(found.values())
        self._codes = [compile(source(predicate), "<predicate>", "eval") for predicate in self._predicates]
        self._here = [z3.Bool(f"here.{place}") for place in range(len(self._predicates))]
        self._there = [z3.Bool(f"there.{place}") for place in range(len(self._predicates))]

    def see(self, state: Any) -> None:  # noqa: ANN401 - any component's state
        """Adds the abstract state of `state`, if the state has this shape."""
        values: dict[str, int | bool] = {}
        try:
            self._bind(state, values)
        except DifferentCaseError:
            return
        self.known.add(tuple(bool(evaluate(code, values)) for code in self._codes))

    def grow(self, shapes: Sequence["_Shape"]) -> bool:
        """Adds the successors by one step to their shapes. Returns whether an abstract state is new."""
        if self.is_left or not self.known:
            return False
        grown = False
        inside = self._inside()
        for relation in self.relations:
            for condition, step in zip(relation.conditions, relation.results, strict=True):
                if getattr(step.state, "failed", False) is True:
                    continue  # a failed task accepts no further event
                places = _places(step.state, shapes)
                inside.push()
                inside.add(*relation.case.assumptions, *condition)
                if satisfiable(inside):
                    if not places:
                        self.is_left = True
                        inside.pop()
                        return grown
                    for target, after in places:
                        self.leads_to.add(id(target))
                        inside.push()
                        grown = target.reach(inside, after) or grown
                        inside.pop()
                inside.pop()
        if grown:
            self._solver = None
        return grown

    def reach(self, here: z3.Solver, after: list[tuple[z3.ExprRef, z3.ExprRef]]) -> bool:
        """Adds each abstract state that a solution of the solver `here` leads to.

        `after`: for each symbol of this shape, its value after the step. Returns whether one is new.
        """
        here.add(*_same(self._there, (z3.substitute(predicate, *after) for predicate in self._predicates)))
        here.add(*(self._is_not_there(known) for known in self.known))
        grown = False
        while satisfiable(here):
            model = here.model()
            found = tuple(z3.is_true(model.eval(name, model_completion=True)) for name in self._there)
            self.known.add(found)
            here.add(self._is_not_there(found))
            grown = True
            if len(self.known) > AT_MOST:
                self.is_left = True
                return False
        if grown:
            self._solver = None
        return grown

    def _is_not_there(self, abstract: Abstract) -> z3.BoolRef:
        if abstract not in self._not_there:
            self._not_there[abstract] = z3.Not(_all(self._there, abstract))
        return self._not_there[abstract]

    def allows(self, relation: Relation, path: int) -> bool:
        """Whether the guard of the path is true in some state of the set."""
        return satisfiable(self._inside(), *relation.case.assumptions, *relation.conditions[path])

    def _inside(self) -> z3.Solver:
        if self._solver is None:
            known = z3.Or(*(_all(self._here, abstract) for abstract in self.known))
            self._solver = solver_with(*self.invariants, *_same(self._here, self._predicates), known)
        return self._solver


def _all(names: Sequence[z3.BoolRef], abstract: Abstract) -> z3.BoolRef:
    return z3.And(*(name if true else z3.Not(name) for name, true in zip(names, abstract, strict=True)))


def _same(names: Sequence[z3.BoolRef], terms: Iterable[z3.BoolRef]) -> Iterator[z3.BoolRef]:
    return (name == term for name, term in zip(names, terms, strict=True))


Place = tuple[_Shape, list[tuple[z3.ExprRef, z3.ExprRef]]]
"""A shape of a state after a step, and the value of each symbol of the shape in this state."""


def _places(state: Any, shapes: Sequence[_Shape]) -> list[Place]:  # noqa: ANN401 - any component's state
    """Every shape that a state after a step has."""
    places: list[Place] = []
    for shape in shapes:
        try:
            places.append((shape, list(_stands_for(shape.state, state))))
        except DifferentCaseError:
            continue
    return places


def _stands_for(symbolic: Any, after: Any) -> Iterator[tuple[z3.ExprRef, z3.ExprRef]]:  # noqa: ANN401
    if isinstance(symbolic, SymbolicBool):
        yield symbolic.term, bool_term(after)
    elif isinstance(symbolic, SymbolicInt):
        yield symbolic.term, int_term(after)
    elif isinstance(symbolic, tuple):
        if not isinstance(after, tuple) or len(symbolic) != len(after):
            raise DifferentCaseError("of another length")
        for part, value in zip(symbolic, after, strict=True):
            yield from _stands_for(part, value)
    elif isinstance(after, SymbolicBool | SymbolicInt) or symbolic != after:
        raise DifferentCaseError(f"the case fixes {symbolic!r}, the state has {after!r}")


def _symbols(value: Any) -> Iterator[SymbolicBool | SymbolicInt]:  # noqa: ANN401 - any part of a record
    if isinstance(value, SymbolicBool | SymbolicInt):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _symbols(part)


def _atoms(term: z3.BoolRef) -> Iterator[z3.BoolRef]:
    kind = term.decl().kind()
    of_truths = kind in (z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT, z3.Z3_OP_ITE) and z3.is_bool(term.arg(0))
    if kind in CONNECTIVES or of_truths:
        for part in term.children():
            yield from _atoms(part)
    elif not z3.is_true(term) and not z3.is_false(term):
        yield term


def _names(term: z3.ExprRef) -> frozenset[str]:
    if not term.num_args():
        free = term.decl().kind() == z3.Z3_OP_UNINTERPRETED
        return frozenset([term.decl().name()]) if free else frozenset()
    return frozenset[str]().union(*(_names(part) for part in term.children()))
