"""The transition relation as z3 terms, evaluated on concrete states.

The paths of a step function (see `symbolic`) are z3 terms. This module compiles these terms, and not the
function itself, to Python expressions. So a test can compare the relation with a state graph, edge by edge:
for each state and event exactly one path must be enabled, and its result must be that of the graph.
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
    """A state does not have the shape of a case, or differs from it in a concrete part."""


def relations_of(cases: Iterable[Case]) -> list["Relation"]:
    """The relation of each case. Cases with the same state share the computed invariants."""
    known: dict[str, tuple[z3.BoolRef, ...]] = {}
    relations: list[Relation] = []
    for case in cases:
        shape = f"{case.component} {case.state!r}"
        relations.append(Relation(case, known.get(shape)))
        known[shape] = relations[-1].invariants
    return relations


class CompiledPath(NamedTuple):
    """One path of a step function: its guard as Python text, and its result as functions.

    The functions map the values of the symbols to the state and the effects.
    """

    guard: CodeType
    after: Callable[[Values], Any]
    effects: Callable[[Values], Effects]


class Relation:
    """The transition relation of one case, for states that satisfy the component's invariants."""

    def __init__(self, case: Case, invariants: tuple[z3.BoolRef, ...] | None = None) -> None:
        self.case = case
        self.invariants = invariants or assume_invariants(case.state, of_component(case.component))
        """The invariants of the component on the case's state."""
        self.conditions: list[tuple[z3.BoolRef, ...]] = []
        """By path: its decisions, as terms."""
        self.results: list[Step[Any]] = []
        """By path: the step, as terms over the symbols."""
        self._paths: list[CompiledPath] = []
        self._bind = binder((case.state, case.event))
        written: dict[int, str] = {}
        """The decisions as Python text, by the z3 id of their term.

        `conditions` keeps the terms, so that ids stay.
        """
        solver = solver_with(*self.invariants, *case.assumptions)
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
        """The numbers of the paths whose guards hold. Empty if the state or event does not fit the case.

        `among`: the numbers of the paths to test. None: all.
        """
        values: Values = {}
        try:
            self._bind((state, event), values)
        except DifferentCaseError:
            return []
        candidates = range(len(self._paths)) if among is None else among
        return [number for number in candidates if evaluate(self._paths[number].guard, values)]

    def step(self, state: Any, event: Event) -> tuple[Any, Effects]:  # noqa: ANN401 - any component's state
        """The state and the effects of the relation for a concrete state and event.

        Raises NotDeterministicError if not exactly one path is enabled.
        """
        values: Values = {}
        self._bind((state, event), values)
        enabled = [path for path in self._paths if evaluate(path.guard, values)]
        if len(enabled) != 1:
            raise NotDeterministicError(f"{len(enabled)} paths are enabled for {event} in {state}")
        return enabled[0].after(values), enabled[0].effects(values)


class _Values(dict[str, str]):
    """Maps the name of a symbol to its text: an access to the mapping `v`."""

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
    """A function from the values of the symbols to the record with these values."""
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
    """A function of a concrete record and a mapping, to which it adds the value of each symbol.

    It raises DifferentCaseError if the record has another shape or differs in a concrete part.
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
