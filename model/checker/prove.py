"""Proves every rule for all ids, by an induction over one step.

A `Case` is one shape of a component (numbers of channels, tasks, waiting items) with an event of one class.
Its ints and booleans are symbols. The proof assumes that the state properties of the component hold before
the step. It then follows every path of the step, and evaluates every property on each path: a step property
on the step, and a state property on the state after the step. If all are true on each feasible path, the
rules hold for every id.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import z3

from model.checker.paths import Ground, Path, paths, satisfiable, solver_with
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicWord, concrete, formula
from model.checker.vacuity import Key, Wrong, key_of, matters
from model.events import Event, Step
from model.properties import Property
from model.registry import Start


class Case(NamedTuple):
    """One shape of one component with an event of one class. Ints and booleans are symbols."""

    component: str
    label: str
    state: Any
    event: Event
    step: Callable[[Any, Event], Step[Any]]
    assumptions: tuple[z3.BoolRef, ...]
    """The guarantees of the environment about this event in this state. The proof adds the invariants."""


def start_case(component: str, state: Any, *permitted: z3.BoolRef) -> Case:  # noqa: ANN401 - any component's state
    """The base case of an induction: a component in its initial state. The proof assumes no invariant of it.

    `permitted`: the bounds of its configuration.
    """
    return Case(
        component, f"new {component}", state, Start(), lambda state, _: Step(state, (), ()), permitted
    )


class Refutation(NamedTuple):
    """A property that fails in one step from a state that satisfies the invariants."""

    rule: str
    property: str
    label: str
    state: Any
    event: Event
    after: Any


Pattern = tuple[str, tuple[object, ...]]
"""A shape: its structure as text, and its leaves. A leaf is a constant or, for a symbol, one of `ANY`."""
ANY_INT, ANY_BOOL, ANY_WORD = "any int", "any bool", "any word"
ANY: Mapping[type, str] = {SymbolicInt: ANY_INT, SymbolicBool: ANY_BOOL, SymbolicWord: ANY_WORD}
"""A symbol in a shape, by its class."""
Shapes = frozenset[tuple[str, Pattern]]
"""Components with their shapes."""


class Report(NamedTuple):
    """The result of the proofs."""

    proved: frozenset[str]
    """The rules that were checked and whose properties hold in every case."""
    mattered: frozenset[Key]
    """The properties that reject a wrong result of some step (`vacuity`). Other proofs may be vacuous."""
    refutations: tuple[Refutation, ...]
    cases: int
    """Number of cases, without those that the invariants or the environment exclude."""
    paths: int
    checks: int
    starts: Shapes = frozenset()
    """The shapes in which the cases start."""
    afters: Shapes = frozenset()
    """The shapes in which some step ends, within the sizes of the proof.

    Shapes in which the task has failed are not included, because no step follows.
    """


LARGE = frozenset({"coordinator"})
"""Components whose states have too many parts: `examine` does not try every wrong result on every path."""
TRIES = 4
"""For components in LARGE: the number of paths of each case on which `examine` tries every property."""


class Assumed(dict[str, tuple[z3.BoolRef, ...]]):
    """The invariants of shapes and of their parts, as terms. The key is the text of the shape or part."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: dict[str, Reads] = {}
        """By shape: the fields that its invariants read. Shapes for which this is unknown are missing."""


Reads = dict[Key, frozenset[str]]
"""By state property: the fields that it reads in any state of a shape."""


def prove(
    cases: Iterable[Case],
    properties: tuple[Property, ...],
    *,
    stop_at_first: bool = False,
    assumed: Assumed | None = None,
    within: Mapping[str, Callable[[Any], bool]] = MappingProxyType({}),
    mattered: set[Key] | None = None,
) -> Report:
    """Evaluates every property in every case of its component.

    `assumed`: stores the invariants of each shape, for later calls with the same properties. `within`: by
    component, whether a state is within the sizes of the proof; `Report.afters` leaves out larger states.
    `mattered`: stores the properties that matter (`vacuity`), for later calls. Raises UndecidedError if z3
    gives no answer.
    """
    refutations: list[Refutation] = []
    checked: set[str] = set()
    mattering = mattered if mattered is not None else set()
    case_count = path_count = check_count = 0
    starts: set[tuple[str, Pattern]] = set()
    afters: set[tuple[str, Pattern]] = set()
    invariants = assumed if assumed is not None else Assumed()
    for case in cases:
        known = tuple(found for found in properties if found.component == case.component)
        shape = f"{case.component} {case.state!r}"
        if begins := type(case.event) is Start:
            known = tuple(found for found in known if found.over_starts or not found.over_steps)
        if shape not in invariants and not begins:
            reads = invariants.reads[shape] = {}
            invariants[shape] = assume_invariants(case.state, known, invariants, reads)
        solver = solver_with(*(() if begins else invariants[shape]), *case.assumptions)
        if not satisfiable(solver):
            continue  # no state has this shape, so every property would hold
        case_count += 1
        if not begins:
            starts.add((case.component, pattern_of(case.state)))
        known = tuple(found for found in known if found.concerns(case.event))
        reads = {} if begins else invariants.reads.get(shape, {})
        ground = Ground(solver, solution=solver.model())
        steps = paths(lambda case=case: case.step(case.state, case.event), ground)  # type: ignore[misc]
        for place, path in enumerate(steps):
            path_count += 1
            examine(case, path, ground, known, place < TRIES or case.component not in LARGE, mattering)
            is_small = within.get(case.component, lambda _: True)(path.result.state)
            if is_small and not has_failed(path.result.state):
                afters.add((case.component, pattern_of(path.result.state)))
            ground.go_to(path.decided)
            here = Ground(solver, path.answers, path.solution)
            for found in known:
                check_count += 1
                if not begins:
                    checked.add(found.rule)
                if is_as_before(case.state, path.result.state, reads.get(key_of(found))):
                    continue
                refutation = refute(case, path, found, here)
                if refutation is not None:
                    refutations.append(refutation)
                    if stop_at_first:
                        counts = (case_count, path_count, check_count)
                        return Report(frozenset(), frozenset(mattering), tuple(refutations), *counts)
            here.go_to(())
    failed = {refutation.rule for refutation in refutations}
    proved = frozenset(checked - failed)
    counts = (case_count, path_count, check_count)
    return Report(
        proved, frozenset(mattering), tuple(refutations), *counts, frozenset(starts), frozenset(afters)
    )


def pattern_of(state: Any) -> Pattern:  # noqa: ANN401
    """The shape of a state or an event with symbols."""
    leaves: list[object] = []

    def text(part: Any) -> str:  # noqa: ANN401
        if isinstance(part, tuple):
            return f"{type(part).__name__}({','.join(map(text, part))})"
        if (symbol := ANY.get(type(part))) is not None:
            leaves.append(symbol)
        else:
            leaves.append((type(part).__name__, part))
        return "_"

    return text(state), tuple(leaves)


def has_failed(state: Any) -> bool:  # noqa: ANN401
    """Whether the task of the state, or of a part of the state, has failed."""
    if not isinstance(state, tuple):
        return False
    return getattr(state, "failed", False) is True or any(map(has_failed, state))


def assume_invariants(
    state: Any,  # noqa: ANN401
    known: tuple[Property, ...],
    assumed: Assumed | None = None,
    reads: Reads | None = None,
) -> tuple[z3.BoolRef, ...]:
    """The state properties of a component as terms over one symbolic state.

    Each property assumes the earlier ones. A property of a part assumes none, so that `assumed` can store its
    term for other shapes. For each of the other properties, the function adds to `reads` which fields it
    reads.
    """
    of_parts = assumed if assumed is not None else Assumed()
    solver = solver_with()
    terms: list[z3.BoolRef] = []
    for found in known:
        if found.over_steps:
            continue
        ground = Ground(solver if found.part is None else solver_with())
        text = f"{found.rule} {found.name} {found.part(state)!r}" if found.part is not None else ""
        if (kept := of_parts.get(text)) is None:
            watched = Watched(state)
            kept = (formula(lambda found=found, watched=watched: found.holds(watched), ground),)  # type: ignore[misc]
            ground.go_to(())
            if reads is not None and found.part is None:
                reads[key_of(found)] = fields_read(watched)
        if text:
            of_parts[text] = kept
        (term,) = kept
        solver.add(term)
        terms.append(term)
    return tuple(terms)


class Watched:
    """A wrapper of a state that records which fields of the state are read.

    No field of a state begins with an underscore, so the attributes of this class hide no field.
    """

    def __init__(self, state: Any) -> None:  # noqa: ANN401 - any component's state
        self._state = state
        self._read: set[str] = set()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        self._read.update((name,) if name in self._state._fields else self._state._fields)
        return getattr(self._state, name)

    def __iter__(self) -> Iterator[Any]:
        self._read.update(self._state._fields)
        return iter(self._state)

    def __eq__(self, other: object) -> Any:  # noqa: ANN401
        self._read.update(self._state._fields)
        return self._state == (other._state if isinstance(other, Watched) else other)

    __hash__ = None  # type: ignore[assignment]


def fields_read(watched: Watched) -> frozenset[str]:
    """The fields of a watched state that were read so far."""
    return frozenset(watched._read)


def is_as_before(before: Any, after: Any, read: frozenset[str] | None) -> bool:  # noqa: ANN401
    """Whether all fields that a state property reads are the same objects before and after the step.

    Then the property holds after the step: it is deterministic, and the proof assumes that it holds before.
    """
    return read is not None and all(getattr(before, name) is getattr(after, name) for name in read)


def examine(
    case: Case,
    path: Path[Step[Any]],
    ground: Ground,
    known: tuple[Property, ...],
    every: bool,
    mattering: set[Key],
) -> None:
    """Adds to `mattering` the properties that reject a wrong result of the step (`vacuity`).

    The wrong results are variants of the step in one solution of the path. `every`: whether to try also the
    properties whose rule the step does not name, some of them with fewer wrong results.
    """
    named, solution = path.result.rules, path.solution if path.solution is not None else ground.start.solution
    untried = [found for found in known if (every or found.rule in named) and key_of(found) not in mattering]
    if not untried:
        return
    assert solution is not None  # that of the case at least
    wrong = Wrong(*concrete((case.state, case.event, path.result.effects, path.result.state), solution))
    for found in untried:
        if matters(
            found, wrong, every=not found.over_steps or found.rule in named or case.component not in LARGE
        ):
            mattering.add(key_of(found))


def refute(case: Case, path: Path[Step[Any]], found: Property, here: Ground) -> Refutation | None:
    """A solution at the end of a path for which the property is false after the step, or None."""
    step = path.result

    def holds() -> bool:
        if found.over_steps:
            return bool(found.holds(case.state, case.event, step.effects, step.state))
        return bool(found.holds(step.state))

    for answer in paths(holds, here):
        if not answer.result:
            solution = answer.solution
            assert solution is not None  # that of the case at least
            return Refutation(
                found.rule,
                found.name,
                case.label,
                concrete(case.state, solution),
                concrete(case.event, solution),
                concrete(step.state, solution),
            )
    return None
