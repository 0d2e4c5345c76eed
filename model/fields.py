"""Reads and writes the wire's objects: typed fields, kinds, and errors that state the remedy."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from model.events import Effect

Wire = Mapping[str, Any]


class WireError(ValueError):
    """The protocol does not permit this configuration or event here; the state has not changed."""


def kind_of(event: Wire, known: Sequence[str]) -> str:
    """The event's kind, one of `known`. Raises WireError if it is another one."""
    kind = event.get("kind")
    if kind not in known:
        raise WireError(f"unknown kind {kind!r}; expected one of: {', '.join(sorted(known))}")
    return str(kind)


def only(wire: object, known: Sequence[str], what: str) -> Wire:
    """The object, with no fields but the `known` ones. Raises WireError if it has others."""
    if not isinstance(wire, Mapping):
        raise WireError(f"{what}: expected an object with {', '.join(known)}, got {wire!r}")
    strange = [name for name in wire if name not in known]
    if strange:
        raise WireError(f"{what}: unknown fields {strange}; expected some of: {', '.join(known)}")
    return wire


def field(wire: Wire, name: str) -> Any:  # noqa: ANN401 - the value is opaque to the protocol
    """A required field. Raises WireError if it is missing."""
    if name not in wire:
        raise WireError(f"field {name!r} is missing in {dict(wire)}")
    return wire[name]


def integer(wire: Wire, name: str, *, at_least: int, default: int | None = None) -> int:
    """An int of at least `at_least`; `default` if it is absent. Raises WireError."""
    value = wire.get(name, default)
    if type(value) is not int or value < at_least:
        raise WireError(f"{name}: expected an int of at least {at_least}, got {value!r}")
    return value


def index(event: Wire, name: str, size: int) -> int:
    """A position below `size`. Raises WireError if it is out of range."""
    value = field(event, name)
    if type(value) is not int or not 0 <= value < size:
        raise WireError(f"{name}: expected an int from 0 to {size - 1}, got {value!r}")
    return value


def checkpoint(event: Wire) -> int:
    """The event's checkpoint id, at least 0. Raises WireError if it is not."""
    value = field(event, "checkpoint")
    if type(value) is not int or value < 0:
        raise WireError(f"checkpoint: expected an int of at least 0, got {value!r}")
    return value


def boolean(wire: Wire, name: str, *, default: bool | None = None) -> bool:
    """A boolean; `default` if it is absent. Raises WireError."""
    value = wire.get(name, default)
    if type(value) is not bool:
        raise WireError(f"{name}: expected true or false, got {value!r}")
    return value


def text(wire: Wire, name: str) -> str:
    """A required text. Raises WireError if it is missing."""
    value = field(wire, name)
    if type(value) is not str:
        raise WireError(f"{name}: expected a string, got {value!r}")
    return value


def texts(wire: Wire, name: str) -> tuple[str, ...]:
    """A list of texts; empty if it is absent. Raises WireError."""
    value = wire.get(name, [])
    if not isinstance(value, list | tuple) or not all(type(one) is str for one in value):
        raise WireError(f"{name}: expected a list of strings, got {value!r}")
    return tuple(value)


def choice(wire: Wire, name: str, allowed: Sequence[str], *, default: str | None = None) -> str:
    """One of the `allowed` words; `default` if it is absent. Raises WireError."""
    value = wire.get(name, default)
    if value not in allowed:
        raise WireError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}")
    return str(value)


def to_wire(effect: Effect) -> dict[str, object]:
    """The wire object of an effect: its kind, then its fields."""
    names = _fields(type(effect))
    wire: dict[str, object] = {"kind": effect[-1]}
    wire.update(zip(names, effect, strict=False))  # the kind is the last field
    return wire


@cache
def _fields(effect: type) -> tuple[str, ...]:
    return tuple(getattr(effect, "_fields"))[:-1]  # noqa: B009 - mypy: a NamedTuple class
