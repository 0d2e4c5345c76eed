"""A theory: a state machine in first-order logic, the clauses of its invariant and of its theorem."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from model.theorem.logic import Formula, Function, Sort, State, Term


class Field(NamedTuple):
    """A function of the state that steps may change, or a constant function."""

    name: str
    of: tuple[Sort, ...]
    """The sorts of its arguments."""
    value: Sort
    """The sort of its values."""
    sentence: str


class Step(NamedTuple):
    """The guards and the changes of an action, for one choice of elements such as a task and an id."""

    guards: Mapping[str, Formula]
    """The conditions of the action, by name. All must hold."""
    changes: Mapping[str, Function]
    """By changed field: its function after the action. Other fields do not change."""


class Action(NamedTuple):
    """A named transition of the state machine.

    There is one for every choice of elements of the sorts `of`.
    """

    name: str
    of: tuple[Sort, ...]
    step: Callable[..., Step]
    """Takes a state and one element of each sort."""
    sentence: str


class Clause(NamedTuple):
    """A formula that holds for every choice of elements of the sorts `of`."""

    name: str
    of: tuple[Sort, ...]
    holds: Callable[..., Formula]
    """Takes a state and one element of each sort."""
    sentence: str


class Theory(NamedTuple):
    """A state machine with its invariant and its theorem."""

    name: str
    constants: tuple[Field, ...]
    """The functions that no step changes: the dataflow and its operators."""
    fields: tuple[Field, ...]
    axioms: tuple[Clause, ...]
    """The assumptions about the constants."""
    start: Callable[[State], Mapping[str, Function]]
    """The functions of the initial state. A field without a function may have any values."""
    actions: tuple[Action, ...]
    invariant: tuple[Clause, ...]
    theorem: tuple[Clause, ...]
    given: tuple[Clause, ...] = ()
    """Further assumptions about the constants: clauses that another theory proves."""
    given_by: str = ""
    """The name of the clause of the other theory's theorem that states them."""


Named = TypeVar("Named", Action, Clause)


def action(*of: Sort) -> Callable[[Callable[..., Step]], Action]:
    """A decorator: turns a function of a state and elements into an action. The docstring is its sentence."""
    return lambda step: Action(step.__name__.replace("_", " "), of, step, sentence_of(step))


def clause(*of: Sort) -> Callable[[Callable[..., Formula]], Clause]:
    """A decorator: turns a function of a state and elements into a clause. The docstring is its sentence."""
    return lambda holds: Clause(holds.__name__.replace("_", " "), of, holds, sentence_of(holds))


def sentence_of(function: Callable[..., object]) -> str:
    """The docstring in one line."""
    return " ".join((function.__doc__ or "").split())


def replaced(parts: Iterable[Named], *others: Named) -> tuple[Named, ...]:
    """The parts and `others`. Each of `others` replaces the part with its name, or is added at the end."""
    by_name = {part.name: part for part in parts}
    return tuple({**by_name, **{other.name: other for other in others}}.values())


def without(found: Action, *names: str) -> Action:
    """The action without these conditions, or without its effect on these fields.

    Its step raises LookupError if the action has no such condition or field.
    """

    def step(s: State, *elements: Term) -> Step:
        guards, changes = dict[str, Formula](), dict[str, Function]()
        whole = found.step(s, *elements)
        guards.update(whole.guards)
        changes.update(whole.changes)
        for name in names:
            if guards.pop(name, None) is None and changes.pop(name, None) is None:
                raise LookupError(f"{found.name!r} has neither guard nor field {name!r}")
        return Step(guards, changes)

    return found._replace(step=step)
