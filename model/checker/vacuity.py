"""Checks that each property matters: it has to reject some wrong result of a step, or some wrong state.

A property that no case contradicts may state nothing: its condition may never hold, or it may accept every
result. So this module takes a solution of a case, with the effects and the state after the step, and changes
one value. A property that rejects one of these wrong results applies to a step that can occur, and forbids
something.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import islice
from typing import Any

from model.events import Effects, Event
from model.registry import Property

Key = tuple[str, str, str]
"""The component, the rule and the name of a property."""


def key_of(found: Property) -> Key:
    """The key of a property."""
    return found.component, found.rule, found.name


class Wrong:
    """A step with one mistake. All values are concrete. Several properties try the same mistakes."""

    def __init__(self, before: Any, event: Event, effects: Effects, after: Any) -> None:  # noqa: ANN401
        self.before = before
        self.event = event
        self.effects = effects
        self.after = after

    @cached_property
    def of_effects(self) -> tuple[Effects, ...]:
        """The effects with a mistake."""
        return tuple(_wrong_effects(self.effects))

    @cached_property
    def of_values(self) -> tuple[Any, ...]:
        """The state after the step with a mistake in each of its values."""
        return tuple(_changed(self.after))

    @cached_property
    def of_fields(self) -> tuple[Any, ...]:
        """The state after the step with one mistake in each of its fields."""
        return tuple(_one_by_field(self.after))

    @cached_property
    def of_empty(self) -> tuple[Any, ...]:
        """The state after the step with a part in one of its empty sequences: a new component has many."""
        fields_of = self.after._asdict().items()
        return tuple(self.after._replace(**{name: (0,)}) for name, value in fields_of if value == ())

    @cached_property
    def of_switches(self) -> tuple[Any, ...]:
        """The state after the step with one switch of its generation changed, which no step does."""
        return tuple(_with_other_switch(self.after))


def matters(found: Property, wrong: Wrong, *, every: bool = True) -> bool:
    """Whether the property, which accepts this step, rejects it with one mistake.

    `every`: tries each mistake in the state, and not only one in each field. A mistake for which the property
    raises an error does not count.
    """
    changes = wrong.of_values if every else wrong.of_fields
    if not found.over_steps:
        return any(_rejects(found, state) for state in (*changes, *wrong.of_switches))
    before, event = wrong.before, wrong.event
    if found.over_starts:
        return any(_rejects(found, before, event, (), after) for after in (*changes, *wrong.of_empty))
    if any(_rejects(found, before, event, effects, wrong.after) for effects in wrong.of_effects):
        return True
    return any(_rejects(found, before, event, wrong.effects, after) for after in (before, *changes))


def _rejects(found: Property, *values: Any) -> bool:  # noqa: ANN401
    try:
        return not found.holds(*values)
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError):
        return False


def _wrong_effects(effects: Effects) -> Iterator[Effects]:
    """The effects with one mistake: a missing, repeated or different effect, or the reverse order."""
    for place, effect in enumerate(effects):
        yield (*effects[:place], *effects[place + 1 :])
        yield (*effects[: place + 1], *effects[place:])
        others = (other(*effect[:-1]) for other in _like(type(effect)))
        for wrong in (*_changed(effect), *others):
            yield (*effects[:place], wrong, *effects[place + 1 :])
    yield effects[::-1]


@cache
def _like(effect: type) -> tuple[Any, ...]:
    """The other classes of the effect's module that have the same fields."""
    fields_of = getattr(effect, "_fields", ())
    every = vars(import_module(effect.__module__)).values()
    return tuple(one for one in every if getattr(one, "_fields", None) == fields_of and one is not effect)


def _one_by_field(state: Any) -> Iterator[Any]:  # noqa: ANN401
    for field, part in state._asdict().items():
        for wrong in islice(_changed(part), 1):
            yield state._replace(**{field: wrong})


def _changed(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any record of the model
    """The value with one mistake: an int, a truth value, a word, or a sequence with a part less or more."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        yield value - 1
    elif isinstance(value, str):
        yield f"not {value}"
    elif isinstance(value, tuple):
        make = type(value)._make if hasattr(value, "_make") else tuple
        for place, part in enumerate(value):
            for wrong in _changed(part):
                yield make((*value[:place], wrong, *value[place + 1 :]))
        if make is tuple and value:
            yield value[:-1]
            yield (*value, value[-1])


def _with_other_switch(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any record of the model
    """The value with one switch changed, in itself or in a part."""
    if isinstance(value, tuple):
        make = type(value)._make if hasattr(value, "_make") else tuple
        for place, part in enumerate(value):
            for wrong in _with_other_switch(part):
                yield make((*value[:place], wrong, *value[place + 1 :]))
    elif is_dataclass(value) and not isinstance(value, type):
        for switch in fields(value):
            if isinstance(getattr(value, switch.name), bool):
                yield replace(value, **{switch.name: not getattr(value, switch.name)})
