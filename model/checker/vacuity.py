"""Checks that each property *matters*: it has to reject some wrong result of a step, or some wrong state.

A proved property may still be vacuous: its condition may never hold, or it may accept every result. So this
module takes one step, with concrete values that satisfy a case, and changes one value in its effects or in
the state after it. If a property rejects one of these wrong results, it applies to a step that can occur, and
it forbids something.
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
    """A correct step with concrete values, and its variants with one mistake, each computed once."""

    def __init__(self, before: Any, event: Event, effects: Effects, after: Any) -> None:  # noqa: ANN401
        self.before = before
        self.event = event
        self.effects = effects
        self.after = after

    @cached_property
    def of_effects(self) -> tuple[Effects, ...]:
        """The variants of the effects with one mistake."""
        return tuple(_wrong_effects(self.effects))

    @cached_property
    def of_values(self) -> tuple[Any, ...]:
        """The variants of the state after the step with one mistake, in any of its values."""
        return tuple(_changed(self.after))

    @cached_property
    def of_fields(self) -> tuple[Any, ...]:
        """The variants of the state after the step with one mistake, one variant for each field."""
        return tuple(_one_by_field(self.after))

    @cached_property
    def of_empty(self) -> tuple[Any, ...]:
        """The variants of the state after the step in which one empty sequence has an element.

        A component in its initial state has many empty sequences.
        """
        fields_of = self.after._asdict().items()
        return tuple(self.after._replace(**{name: (0,)}) for name, value in fields_of if value == ())

    @cached_property
    def of_switches(self) -> tuple[Any, ...]:
        """The variants of the state after the step with one changed switch of its generation."""
        return tuple(_with_other_switch(self.after))


def matters(found: Property, wrong: Wrong, *, every: bool = True) -> bool:
    """Whether the property, which accepts the correct step, rejects a variant with one mistake.

    `every`: whether to try each mistake in the state, or only one in each field. If the property raises an
    error for a variant, the variant does not count.
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
    """Yields the effects with one mistake: a missing, repeated or different effect, or the reverse order."""
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
    """Yields the value with one mistake: a changed int, truth value or word, or a part less or more."""
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
    """Yields the value with one changed switch of a generation's profile."""
    if isinstance(value, tuple):
        make = type(value)._make if hasattr(value, "_make") else tuple
        for place, part in enumerate(value):
            for wrong in _with_other_switch(part):
                yield make((*value[:place], wrong, *value[place + 1 :]))
    elif is_dataclass(value) and not isinstance(value, type):
        for switch in fields(value):
            if isinstance(getattr(value, switch.name), bool):
                yield replace(value, **{switch.name: not getattr(value, switch.name)})
