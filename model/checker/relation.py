"""The transition relation as z3 holds it, evaluated on concrete states.

The paths of a step function (see `symbolic`) are z3 terms. Here these terms, not the function they
were read from, are compiled to Python expressions, so that the relation can be compared with a state
graph edge for edge: for each state and event exactly one path must be enabled.
"""

from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any, NamedTuple

import z3

from model.checker.paths import paths, solver_with
from model.checker.prove import Case, assume_invariants
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.checker.terms import Writer
from model.events import Effects, Event, Step
from model.properties import of_component

Values = dict[str, int | bool]


class NotDeterministicError(RuntimeError):
    """For one state and event no path of the relation is enabled, or more than one is."""


class DifferentCaseError(ValueError):
    """A state is not of the shape that a case declares, or differs in what the case fixes."""


def relations_of(cases: Iterable[Case]) -> list["Relation"]:
    """The relation of each case; the invariants of a state are read once."""
    known: dict[str, tuple[z3.BoolRef, ...]] = {}
    relations: list[Relation] = []
    for case in cases:
        shape = f"{case.component} {case.state!r}"
        relations.append(Relation(case, known.get(shape)))
        known[shape] = relations[-1].invariants
    return relations


class CompiledPath(NamedTuple):
    """One path of a step function: its guard, and the result in terms of the symbols."""

    guard: CodeType
    after: Callable[[Values], Any]
    effects: Callable[[Values], Effects]


class Relation:
    """The transition relation of one case, for states that satisfy the component's invariants."""

    def __init__(self, case: Case, invariants: tuple[z3.BoolRef, ...] | None = None) -> None:
        self.case = case
        self.invariants = invariants or assume_invariants(case.state, of_component(case.component))
        """The component's, of the case's state; given where another case has that state too."""
        self.conditions: list[tuple[z3.BoolRef, ...]] = []
        """Of each path: what was decided on it."""
        self.results: list[Step[Any]] = []
        """Of each path: the step, in terms of the symbols."""
        self._paths: list[CompiledPath] = []
        self._bind = binder((case.state, case.event))
        written: dict[int, str] = {}
        """The decisions as Python, by the id of their term, which `conditions` keeps alive."""
        solver = solver_with(*self.invariants, *case.promise)
        for path in paths(lambda: case.step(case.state, case.event), solver):
            condition = path.condition
            self.conditions.append(condition)
            for decided in condition:
                if decided.get_id() not in written:
                    written[decided.get_id()] = source(decided)
            guard = " and ".join(written[decided.get_id()] for decided in condition) or "True"
            step = path.result
            self.results.append(step)
            code = compile(guard, "<guard>", "eval")
            self._paths.append(CompiledPath(code, template(step.state), template(step.effects)))

    def __len__(self) -> int:
        return len(self._paths)

    def enabled(
        self,
        state: Any,  # noqa: ANN401 - any component's state
        event: Event,
        among: Iterable[int] | None = None,
    ) -> list[int]:
        """The numbers of the paths whose guards hold; none if a concrete part of the case differs.

        `among`: only of these.
        """
        values: Values = {}
        try:
            self._bind((state, event), values)
        except DifferentCaseError:
            return []
        asked = range(len(self._paths)) if among is None else among
        return [number for number in asked if evaluate(self._paths[number].guard, values)]

    def step(self, state: Any, event: Event) -> tuple[Any, Effects]:  # noqa: ANN401 - any component's state
        """Where the relation leads from a concrete state with a concrete event."""
        values: Values = {}
        self._bind((state, event), values)
        enabled = [path for path in self._paths if evaluate(path.guard, values)]
        if len(enabled) != 1:
            raise NotDeterministicError(f"{len(enabled)} paths are enabled for {event} in {state}")
        return enabled[0].after(values), enabled[0].effects(values)


class _Values(dict[str, str]):
    """What stands for each symbol: its place in a mapping `v`."""

    def __missing__(self, name: str) -> str:
        return f"v[{name!r}]"


_AS_VALUES = Writer(_Values(), columns=False)


def source(term: z3.ExprRef) -> str:
    """A z3 term over ints and booleans as a Python expression over a mapping `v`."""
    return _AS_VALUES.of(term)


def evaluate(code: CodeType, values: Mapping[str, int | bool]) -> Any:  # noqa: ANN401 - an int or a bool
    """The value of a compiled term."""
    return eval(code, {"__builtins__": {}}, {"v": values})


def template(value: Any) -> Callable[[Values], Any]:  # noqa: ANN401 - any record of the model
    """A record with symbols in it as a function from the symbols' values to the concrete record."""
    if isinstance(value, SymbolicBool | SymbolicInt):
        code = compile(source(value.term), "<term>", "eval")
        return lambda values: evaluate(code, values)
    if isinstance(value, tuple):
        parts = [template(part) for part in value]
        if hasattr(value, "_fields"):
            return lambda values: type(value)(*[part(values) for part in parts])
        return lambda values: tuple(part(values) for part in parts)
    return lambda _values: value


def binder(symbolic: Any) -> Callable[[Any, Values], None]:  # noqa: ANN401 - any record of the model
    """A function that remembers, of a concrete record of the same shape, the value of each symbol.

    It raises DifferentCaseError where the other is of another shape, or differs in a concrete part.
    """
    if isinstance(symbolic, SymbolicBool | SymbolicInt):
        name = symbolic.term.decl().name()

        def bind(concrete: Any, values: Values) -> None:  # noqa: ANN401
            values[name] = concrete

    elif isinstance(symbolic, tuple):
        parts = [binder(part) for part in symbolic]

        def bind(concrete: Any, values: Values) -> None:  # noqa: ANN401
            if len(parts) != len(concrete):
                raise DifferentCaseError(f"the case has {len(parts)} parts, the state has {len(concrete)}")
            for bind_part, part in zip(parts, concrete, strict=True):
                bind_part(part, values)

    else:

        def bind(concrete: Any, values: Values) -> None:  # noqa: ANN401
            if symbolic != concrete:
                raise DifferentCaseError(f"the case fixes {symbolic!r}, the state has {concrete!r}")

    return bind
