"""Proofs of single cases over ropes: each rule as an induction over one step, for any number of elements.

A case is one class of event at a component whose sequences are ropes. The proof assumes that the state
properties hold before the step, and follows every path of the step. On each path every property must hold.
A further case is a component in its initial state: for it the proof assumes no property.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import z3

from model.checker.any_number import sums
from model.checker.any_number.rope import Rope, cells_of
from model.checker.paths import Ground, Path, UndecidedError, paths, satisfiable
from model.checker.symbolic import formula
from model.events import Event, Step
from model.registry import Property, Start
from model.steps import name_of

EFFORT = 20_000_000
"""The resource limit of z3 for the search of a refutation, in z3's steps. It is the same on every machine."""
PATIENCE = 200_000
"""z3's resource limit for one condition on a path. If z3 does not decide it, both its paths are followed."""


class RopeCase(NamedTuple):
    """One class of event at one component of any size."""

    component: str
    label: str
    state: Any
    event: Event
    step: Callable[[Any, Event], Step[Any]]
    properties: tuple[Property, ...]
    assumptions: tuple[z3.BoolRef, ...] = ()
    """The guarantees of the environment about the event."""


def start_case(
    component: str,
    state: Any,  # noqa: ANN401 - any component's state
    properties: tuple[Property, ...],
    assumptions: tuple[z3.BoolRef, ...],
) -> RopeCase:
    """The base case of an induction: a component of any size in its initial state."""
    label = f"new {component}"
    return RopeCase(
        component, label, state, Start(), lambda one, _: Step(one, (), ()), properties, assumptions
    )


def step_by(steps_of: Callable[[Any], object]) -> Callable[[Any, Event], Step[Any]]:
    """A step function that calls the method of the state's generation. `steps_of`: selects the generation."""

    def step(state: Any, event: Event) -> Step[Any]:  # noqa: ANN401
        done: Step[Any] = getattr(steps_of(state), name_of(type(event)))(state, *event[:-1])
        return done

    return step


class RopeRefutation(NamedTuple):
    """A property that fails in one step, with the values of the symbols for which it fails (`solution`)."""

    rule: str
    property: str
    label: str
    solution: z3.ModelRef
    path: Path[Step[Any]]


class Result(NamedTuple):
    """The result of `prove` for some cases."""

    proved: frozenset[str]
    """The rules whose properties were checked and all hold. Empty if the function searched a refutation."""
    refutations: tuple[RopeRefutation, ...]
    cases: int
    permitted: int
    """Number of cases for which z3 has shown that the assumptions do not contradict each other."""
    paths: int
    checks: int


def prove(cases: Iterable[RopeCase], *, stop_at: Collection[str] = ()) -> Result:
    """Evaluates each property of a case on each path of its step.

    `stop_at`: if not empty, the function searches a refutation of these rules and stops at the first one. It
    then evaluates only their properties, skips queries that z3 cannot decide, and proves nothing.
    Raises UndecidedError if z3 gives no answer, and SymbolicUseError if the model's source uses a rope in a
    way that may treat its members differently.
    """
    checked: set[str] = set()
    refutations: list[RopeRefutation] = []
    case_count = path_count = check_count = permitted = 0
    invariants: Invariants = {}
    for case in cases:
        case_count += 1
        is_permitted, found_on_paths = _outcomes_of(case, invariants, stop_at)
        permitted += is_permitted
        for outcomes in found_on_paths:
            path_count += 1
            check_count += len(outcomes)
            checked.update(found.rule for found, _ in outcomes)
            refutations.extend(refutation for _, refutation in outcomes if refutation is not None)
        if any(refutation.rule in stop_at for refutation in refutations):
            break
    failed = {refutation.rule for refutation in refutations}
    return Result(
        frozenset() if stop_at else frozenset(checked - failed),
        tuple(refutations),
        case_count,
        permitted,
        path_count,
        check_count,
    )


Outcomes = list[tuple[Property, RopeRefutation | None]]


class Invariant(NamedTuple):
    """The state properties of one state as terms, and the sums in them."""

    terms: tuple[z3.BoolRef, ...]
    totals: tuple[sums.Total, ...]


Invariants = dict[str, Invariant]
"""By a text that consists of the component's name and the state's `repr`."""


def _outcomes_of(
    case: RopeCase, invariants: Invariants, stop_at: Collection[str]
) -> tuple[bool, list[Outcomes]]:
    """Whether z3 has a model of the assumptions, and the results of the properties on each path of the step.

    The step itself may make new sums. A proof that did not assume the facts about them stays valid. So the
    loop repeats only if there are such sums and some property failed or z3 did not decide it.
    """
    sums.known.clear()
    while True:
        assumed = invariant_of(case.component, case.state, case.properties, invariants).terms
        before = len(sums.known)
        try:
            solver, is_permitted = _ground_of(case, assumed)
            results = list(_followed(case, solver, stop_at))
        except UndecidedError:
            if len(sums.known) == before:
                raise
            continue
        if len(sums.known) == before:
            return is_permitted, results
        if not any(refutation for outcomes in results for _, refutation in outcomes):
            return _ground_of(case, assumed)[1], results


def is_impossible(case: RopeCase) -> bool:
    """Whether z3 proves that the assumptions of the case contradict each other."""
    sums.known.clear()
    solver = _solver()
    solver.add(*invariant_of(case.component, case.state, case.properties, {}).terms)
    solver.add(*sums.facts(), *case.assumptions)
    return bool(solver.check() == z3.unsat)


def _ground_of(case: RopeCase, assumed: tuple[z3.BoolRef, ...]) -> tuple[z3.Solver, bool]:
    """A solver with the assumptions of the case, and whether z3 has found a model of them.

    Raises ValueError if they contradict each other.
    """
    solver = _solver()
    solver.add(*sums.facts(), *case.assumptions, *(() if type(case.event) is Start else assumed))
    solver.set("rlimit", EFFORT)
    answer = solver.check()
    solver.set("rlimit", PATIENCE)
    if answer == z3.unsat:
        raise ValueError(f"the assumptions of the case {case.label} contradict each other; weaken them")
    return solver, bool(answer == z3.sat)


def _followed(case: RopeCase, solver: z3.Solver, stop_at: Collection[str]) -> Iterator[Outcomes]:
    begins = type(case.event) is Start
    known = tuple(
        found for found in case.properties if not begins or found.over_starts or not found.over_steps
    )
    known = tuple(
        found for found in known if found.concerns(case.event) and (not stop_at or found.rule in stop_at)
    )
    if not known:
        return
    ground = Ground(solver, is_lenient=True)
    for path in paths(lambda: case.step(case.state, case.event), ground):
        ground.go_to(path.decided)
        here = Ground(solver, path.answers, path.solution, is_lenient=True)
        yield [(found, _refutation(case, path, found, here, is_search=bool(stop_at))) for found in known]
        here.go_to(())


def _solver() -> z3.Solver:
    solver = z3.Solver()
    solver.set("rlimit", PATIENCE)
    return solver


def invariant_of(
    component: str,
    state: Any,  # noqa: ANN401 - any component's state
    properties: tuple[Property, ...],
    kept: Invariants,
) -> Invariant:
    """The state properties of a state as terms. The term of each property assumes the earlier properties."""
    key = f"{component} {state!r}"
    if key not in kept:
        solver = _solver()
        terms: list[z3.BoolRef] = []
        before = list(sums.known)
        sums.known.clear()
        for found in properties:
            if not found.over_steps:
                ground = Ground(solver, is_lenient=True)
                term = formula(lambda found=found: found.holds(state), ground)  # type: ignore[misc]
                ground.go_to(())
                solver.add(term)
                terms.append(term)
        kept[key] = Invariant(tuple(terms), tuple(sums.known))
        sums.known[:] = before
    sums.known.extend(one for one in kept[key].totals if not sums.is_known(one))
    return kept[key]


def _refutation(
    case: RopeCase, path: Path[Step[Any]], found: Property, here: Ground, *, is_search: bool
) -> RopeRefutation | None:
    step = path.result
    effects = Rope(cells_of(step.effects))  # a rope even without groups: a property may slice it by a Length

    def holds() -> bool:
        if found.over_steps:
            return bool(found.holds(case.state, case.event, effects, step.state))
        return bool(found.holds(step.state))

    for answer in paths(holds, here):
        if answer.result:
            continue
        try:
            solution = _solution(here.solver, answer.decided)
        except UndecidedError as undecided:
            if is_search:
                continue
            raise UndecidedError(f"{found.rule}, {found.name} in {case.label}: {undecided}") from undecided
        if solution is not None:
            return RopeRefutation(found.rule, found.name, case.label, solution, path)
    return None


def _solution(solver: z3.Solver, decided: Collection[z3.BoolRef]) -> z3.ModelRef | None:
    """A z3 model of the solver's assertions and of these conditions; None if they contradict each other.

    A solver that has answered many queries fails at some queries that a new solver decides at once. So the
    function repeats an undecided query with a new solver. Raises UndecidedError if that fails too.
    """
    solver.set("rlimit", EFFORT)
    try:
        return solver.model() if satisfiable(solver, *decided) else None
    except UndecidedError:
        fresh = z3.Solver()
        fresh.set("rlimit", EFFORT)
        fresh.add(*solver.assertions(), *decided)
        return fresh.model() if satisfiable(fresh) else None
    finally:
        solver.set("rlimit", PATIENCE)
