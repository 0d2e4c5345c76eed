"""Draws with Hypothesis: the random numbers of a component's walk, and single events of the vocabulary.

A walk prefers events that can happen in the current state. So most events of a Hypothesis run come from a
walk that takes its random numbers from Hypothesis. Each further event is any event of the vocabulary, with
any values of the types of its fields.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from conformance.adapters.in_process import INJECT
from conformance.adapters.protocol import Wire
from spec.vocabulary import Field, exists, types, vocabulary

_STEPS = 1024
"""The number of values that a random number may have: 0/1024 to 1023/1024.

Hypothesis shrinks the drawn integer to 0, which `random` maps to 0.5.
"""
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "status": ("RUNNING", "FAILED"),
    "reason": ("ASYNC_EXCEPTION",),
    "state": ("handle-a", "handle-b"),
    "shared": ("file-a", "file-b"),
}
"""By field, texts that every generation knows."""


@contextmanager
def without_local_constants() -> Iterator[None]:
    """Keep Hypothesis from drawing the constants that it finds in the source of loaded modules.

    Hypothesis looks only at modules outside site-packages. So the same seed would give different cases in a
    checkout and in an installation, and after each change of the suite.
    """
    with mock.patch.object(providers.HypothesisProvider, "_local_constants", Constants()):
        providers.CONSTANTS_CACHE.cache.clear()
        try:
            yield
        finally:
            providers.CONSTANTS_CACHE.cache.clear()


class DrawnRandom(Random):
    """Random numbers that Hypothesis draws."""

    data: st.DataObject
    """The data object of the rule that Hypothesis's state machine is now running."""

    def random(self) -> float:
        """A number from 0 to below 1."""
        drawn: int = self.data.draw(st.integers(0, _STEPS - 1), "random")
        return (drawn + _STEPS // 2) % _STEPS / _STEPS


def one_of(data: st.DataObject, values: list[Any]) -> Any:  # noqa: ANN401 - any member of the list
    """Draws one of the values, by its position."""
    return values[data.draw(st.integers(0, len(values) - 1), "position")]


def plain_event(data: st.DataObject, component: str, config: Wire, seen: Wire, *, injects: bool) -> Wire:
    """An event of the vocabulary that exists under the configuration, with drawn values for its fields."""
    kinds = [
        one
        for one in vocabulary()[component].events
        if exists(component, one.where, config) and (injects or one.kind != INJECT)
    ]
    kind = one_of(data, kinds)
    event: dict[str, Any] = {"kind": kind.kind}
    for field in kind.fields:
        if not exists(component, field.where, config):
            continue
        is_given = field.required
        if not is_given and field.name == "tasks":  # `tasks` is given exactly if the scope is a region
            is_given = event.get("scope") == "region"
        elif not is_given:
            is_given = data.draw(st.booleans(), "given")
        if is_given:
            event[field.name] = data.draw(_values(field, config, seen), field.name)
    return event


def _values(field: Field, config: Wire, seen: Wire) -> st.SearchStrategy[Any]:
    """Values of a field's type. Numbers are near those of the state or the configuration."""
    schema = types()[field.type]
    if field.type == "channel":
        return st.integers(0, config["channels"] - 1)
    if field.name in _TEXTS and field.type in ("text", "texts"):
        texts = st.sampled_from(_TEXTS[field.name])
        return st.lists(texts, max_size=2, unique=True) if schema.get("type") == "array" else texts
    if field.type in ("name", "names"):
        names = st.sampled_from([*sorted(set(_texts(config))), "stranger-0"])
        return names if field.type == "name" else st.lists(names, max_size=2, unique=True)
    return _of_schema(schema, [*_numbers(config), *_numbers(seen)])


def _of_schema(schema: Mapping[str, Any], known: list[int]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kind = schema.get("type", "integer")
    if isinstance(kind, list):
        return _of_schema({**schema, "type": kind[0]}, known) | st.none()
    if kind == "boolean":
        return st.booleans()
    if kind == "array":
        return st.lists(_of_schema(schema.get("items", {}), known), max_size=2)
    least = schema.get("minimum", 0)
    near = {least, least + 1, *(max(least, one + distance) for one in known for distance in (-1, 0, 1, 2))}
    return st.sampled_from(sorted(near))


def _numbers(part: Any) -> Iterator[int]:  # noqa: ANN401 - any JSON value
    if type(part) is int:
        yield part
    elif isinstance(part, list | tuple | dict):
        for member in part.values() if isinstance(part, dict) else part:
            yield from _numbers(member)


def _texts(config: Wire) -> Iterator[str]:
    yield from (task["id"] for task in config.get("tasks", ()))
    for names in ("operator_coordinators", "hooks"):
        yield from config.get(names, ())
