"""Conversion of events and effects to objects of the wire and back.

The wire is the JSON text that an adapter and the suite exchange (docs/adapter-protocol.md). An event or an
effect is a `Word`: a frozen dataclass with a `kind`. On the wire it is a flat object with the fields of the
dataclass in their order, such as `{"kind": "barrier", "channel": 0, "checkpoint": 5}`. A field with a default
may be missing on the wire. `wire` leaves a field out if it has its default. `parse` raises ProtocolError for
a missing, unknown or wrongly typed field.

A lock-step run calls `parse` and `wire` for every step. Both are therefore one loop over the prepared field
names. Only a word with defaults, or with fields that are not JSON scalars, needs a second loop.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

from impl.core.errors import ProtocolError

Wire = dict[str, object]
"""One event or effect on the wire: a mapping from strings to JSON values, with `kind` as the first key."""

_SCALARS: Mapping[object, frozenset[type]] = {
    int: frozenset({int}),  # `parse` compares exact types, so True is no int
    bool: frozenset({bool}),
    str: frozenset({str}),
    int | None: frozenset({int, type(None)}),
}


class Word:
    """An event or an effect. Two words are equal if their kinds and their fields are equal."""

    __slots__ = ()

    kind: ClassVar[str]
    _names: ClassVar[tuple[str, ...]]
    _accepted: ClassVar[tuple[tuple[str, frozenset[type] | None], ...]]
    _declared: ClassVar[Mapping[str, Any]]
    _defaults: ClassVar[Mapping[str, object]]
    _plain: ClassVar[bool]
    _values_of: ClassVar[Callable[[Any], tuple[object, ...]]]

    def values(self) -> tuple[object, ...]:
        """The values of the fields, in the order of their declaration."""
        return type(self)._values_of(self)

    def wire(self) -> Wire:
        """The word as a new object of the wire."""
        word = type(self)
        wire: Wire = {"kind": word.kind}
        for name in word._names:
            wire[name] = getattr(self, name)
        return wire if word._plain else word._flatten(wire)

    @classmethod
    def parse(cls, wire: Mapping[str, object]) -> list[object]:
        """The values of the fields in `wire`, in the order of their declaration.

        Raises ProtocolError if a field is missing, unknown or of a wrong type.
        """
        values = []
        for name, accepted in cls._accepted:
            value = wire[name] if name in wire else cls._default_of(name)
            if accepted is not None and type(value) not in accepted:
                types = " or ".join(sorted(one.__name__ for one in accepted))
                raise cls._wrong(f"{name} must be {types}, got {value!r}")
            values.append(value)
        if len(wire) > len(values) + 1 or not cls._plain:
            unknown = sorted(set(wire) - {"kind", *cls._names})
            if unknown:
                raise cls._wrong(f"has unknown fields {unknown}")
        return values if cls._plain else cls._convert(values)

    @classmethod
    def _default_of(cls, name: str) -> object:
        if name in cls._defaults:
            return cls._defaults[name]
        raise cls._wrong(f"has no field {name}")

    @classmethod
    def _flatten(cls, wire: Wire) -> Wire:
        """Convert the fields that are not JSON scalars, and leave out the fields that have their default."""
        flat: Wire = {}
        for name, value in wire.items():
            if name in cls._defaults and value == cls._defaults[name]:
                continue
            if isinstance(value, StrEnum):
                flat[name] = value.value
            else:
                flat[name] = list(value) if isinstance(value, tuple) else value
        return flat

    @classmethod
    def _convert(cls, values: list[object]) -> list[object]:
        """Convert the fields that are not JSON scalars: enums and lists of strings."""
        converted: list[object] = []
        for name, value in zip(cls._names, values, strict=True):
            declared = cls._declared[name]
            if declared == tuple[str, ...]:
                if not isinstance(value, list | tuple) or any(type(one) is not str for one in value):
                    raise cls._wrong(f"{name} must be a list of strings, got {value!r}")
                converted.append(tuple(value))
            elif isinstance(declared, type) and issubclass(declared, StrEnum):
                offered = [one.value for one in declared]
                if value not in offered:
                    raise cls._wrong(f"{name} must be one of {offered}, got {value!r}")
                converted.append(declared(value))
            else:
                converted.append(value)
        return converted

    @classmethod
    def _wrong(cls, what: str) -> ProtocolError:
        named = ", ".join(cls._names) or "no fields"
        return ProtocolError(f"a {cls.kind!r} has {named}: {what}; docs/adapter-protocol.md defines it")


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[object, ...]]:
    """A function from an object to the values of its attributes `names`."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda one: (getattr(one, names[0]),)) if names else lambda one: ()


W = TypeVar("W", bound=Word)


@dataclass_transform(frozen_default=True)
def word(kind: str) -> Callable[[type[W]], type[W]]:
    """A decorator that makes a class the frozen dataclass of the word `kind`."""

    def declare(bare: type[W]) -> type[W]:
        made = dataclass(frozen=True, slots=True)(bare)
        declared = fields(cast(Any, made))
        made.kind = kind
        made._names = tuple(one.name for one in declared)
        made._values_of = _getter(made._names)
        made._declared = {one.name: one.type for one in declared}
        made._accepted = tuple((one.name, _SCALARS.get(one.type)) for one in declared)
        made._defaults = {one.name: one.default for one in declared if one.default is not MISSING}
        made._plain = not made._defaults and all(
            one.type is object or one.type in _SCALARS for one in declared
        )
        return made

    return declare
