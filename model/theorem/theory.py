"""A theory: a state machine in first-order logic, its invariant clause by clause, and what follows."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from model.theorem.logic import Formula, Function, Sort, State, Term


class Field(NamedTuple):
    """One function of the state, or a constant one."""

    name: str
    of: tuple[Sort, ...]
    value: Sort
    sentence: str


class Step(NamedTuple):
    """What an action does with chosen elements."""

    guards: Mapping[str, Formula]
    """When the action may happen: each condition by its name."""
    changes: Mapping[str, Function]
    """The functions after it, by field; the others stay as they are."""


class Action(NamedTuple):
    """An action of the state machine."""

    name: str
    of: tuple[Sort, ...]
    step: Callable[..., Step]
    """From a state and one element of each sort."""
    sentence: str


class Clause(NamedTuple):
    """A sentence about every choice of elements of the sorts `of`."""

    name: str
    of: tuple[Sort, ...]
    holds: Callable[..., Formula]
    """From a state and one element of each sort."""
    sentence: str


class Theory(NamedTuple):
    """A state machine with its invariant and its theorem."""

    name: str
    constants: tuple[Field, ...]
    """What no step changes: the dataflow and its operators."""
    fields: tuple[Field, ...]
    axioms: tuple[Clause, ...]
    """What is assumed of the constants."""
    start: Callable[[State], Mapping[str, Function]]
    """The functions of the initial state; fields that are left out may have any value."""
    actions: tuple[Action, ...]
    invariant: tuple[Clause, ...]
    theorem: tuple[Clause, ...]


Named = TypeVar("Named", Action, Clause)


def action(*of: Sort) -> Callable[[Callable[..., Step]], Action]:
    """Makes an action of a function of a state and elements; its docstring is the sentence."""
    return lambda step: Action(step.__name__.replace("_", " "), of, step, sentence_of(step))


def clause(*of: Sort) -> Callable[[Callable[..., Formula]], Clause]:
    """Makes a clause of a function of a state and elements; its docstring is the sentence."""
    return lambda holds: Clause(holds.__name__.replace("_", " "), of, holds, sentence_of(holds))


def sentence_of(function: Callable[..., object]) -> str:
    """The docstring in one line."""
    return " ".join((function.__doc__ or "").split())


def replaced(parts: Iterable[Named], *others: Named) -> tuple[Named, ...]:
    """The parts, with each of the others in the place of the part of its name, or at the end."""
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
