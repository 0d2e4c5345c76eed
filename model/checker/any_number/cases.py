"""Proofs of single cases over ropes: each rule as an induction over one step, for any number of elements.

A case is one class of event at a component whose sequences are ropes. The state properties hold before; every
path of the step is followed, and on each path every property must be true. A state property of a new component
is a case of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import z3

from model.checker.any_number import sums
from model.checker.any_number.rope import Many, Rope, joined
from model.checker.paths import Ground, Path, paths, satisfiable
from model.checker.symbolic import formula
from model.events import Effects, Event, Step
from model.registry import Property, Start

EFFORT = 20_000_000
"""The resources that z3 may use for one question, as it counts them: a question ends alike on any machine."""


class Case(NamedTuple):
    """One class of event at one component of any size."""

    component: str
    label: str
    state: Any
    event: Event
    step: Callable[[Any, Event], Step[Any]]
    properties: tuple[Property, ...]
    assumptions: tuple[z3.BoolRef, ...] = ()
    """What the environment guarantees about the event."""


def start_case(
    component: str,
    state: Any,  # noqa: ANN401 - any component's state
    properties: tuple[Property, ...],
    assumptions: tuple[z3.BoolRef, ...],
) -> Case:
    """The base of an induction: a new component of any size."""
    label = f"new {component}"
    return Case(
        component, label, state, Start(), lambda one, _: Step(one, (), ()), properties, assumptions
    )


class Refutation(NamedTuple):
    """A property that fails in one step, with a solution of the symbols."""

    rule: str
    property: str
    label: str
    solution: z3.ModelRef
    path: Path[Step[Any]]


class Result(NamedTuple):
    """The result of some cases."""

    proved: frozenset[str]
    """Rules of which no property failed."""
    refutations: tuple[Refutation, ...]
    cases: int
    paths: int
    checks: int


def prove(cases: Iterable[Case], *, stop_at_first: bool = False) -> Result:
    """Evaluates each property of a case on each path of its step."""
    checked: set[str] = set()
    refutations: list[Refutation] = []
    case_count = path_count = check_count = 0
    for case in cases:
        case_count += 1
        for path, outcome in _paths_of(case):
            path_count += 1
            for found, refutation in outcome:
                check_count += 1
                checked.add(found.rule)
                if refutation is not None:
                    refutations.append(refutation)
                    if stop_at_first:
                        counts = (case_count, path_count, check_count)
                        return Result(frozenset(), tuple(refutations), *counts)
            del path
    failed = {refutation.rule for refutation in refutations}
    return Result(frozenset(checked - failed), tuple(refutations), case_count, path_count, check_count)


Outcomes = list[tuple[Property, Refutation | None]]


def _paths_of(case: Case) -> list[tuple[Path[Step[Any]], Outcomes]]:
    """The paths of the step with the properties on each; again while it meets sums without facts."""
    sums.known.clear()
    while True:
        before = len(sums.known)
        results = list(_followed(case))
        if len(sums.known) == before:
            return results


def _followed(case: Case) -> Iterator[tuple[Path[Step[Any]], Outcomes]]:
    begins = type(case.event) is Start
    known = tuple(
        found for found in case.properties if not begins or found.over_starts or not found.over_steps
    )
    known = tuple(found for found in known if found.concerns(case.event))
    solver = _solver()
    solver.add(*sums.facts(), *case.assumptions)
    if not begins:
        solver.add(*invariants_of(case.state, case.properties))
    if not satisfiable(solver):
        return
    ground = Ground(solver, solution=solver.model())
    for path in paths(lambda: _with_ropes(case.step(case.state, case.event)), ground):
        ground.go_to(path.decided)
        here = Ground(solver, path.answers, path.solution)
        yield path, [(found, _refutation(case, path, found, here)) for found in known]
        here.go_to(())


def _solver() -> z3.Solver:
    solver = z3.Solver()
    solver.set("rlimit", EFFORT)
    return solver


def invariants_of(state: Any, properties: tuple[Property, ...]) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401
    """The state properties as terms; each assumes those before it."""
    solver = _solver()
    terms: list[z3.BoolRef] = []
    for found in properties:
        if not found.over_steps:
            term = formula(lambda found=found: found.holds(state), Ground(solver))  # type: ignore[misc]
            solver.add(term)
            terms.append(term)
    return tuple(terms)


def _with_ropes(step: Step[Any]) -> Step[Any]:
    """The step with its effects as a rope even if each is named: properties walk over it alike."""
    return step._replace(effects=as_rope(step.effects))


def as_rope(effects: Effects) -> Effects:
    """The effects as a rope if some are not named."""
    return joined(effects.cells) if isinstance(effects, Rope) else effects


def _refutation(case: Case, path: Path[Step[Any]], found: Property, here: Ground) -> Refutation | None:
    step = path.result

    def holds() -> bool:
        if found.over_steps:
            return bool(found.holds(case.state, case.event, step.effects, step.state))
        return bool(found.holds(step.state))

    for answer in paths(holds, here):
        if not answer.result:
            assert answer.solution is not None
            return Refutation(found.rule, found.name, case.label, answer.solution, path)
    return None


_ = Many
