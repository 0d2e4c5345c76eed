"""How a word of the protocol, an event or an effect, becomes an object of the wire and back.

A word is a frozen, slotted dataclass named by its `kind`; `events` and `effects` list them all. On the
wire it is a flat object, `{"kind": "barrier", "channel": 0, "checkpoint": 5}`, whose fields are those of
the dataclass in their order. A field with a default may be left out, and is left out when it holds that
default. Reading is strict: a missing, an unknown or a wrongly typed field is a `ProtocolError`, because
an event that is understood by half is answered wrongly.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from impl.core.errors import ProtocolError

Wire = dict[str, object]
"""One event or effect as it travels: JSON values under string keys, `kind` first."""

_SCALARS: Mapping[object, frozenset[type]] = {
    int: frozenset({int}),
    bool: frozenset({bool}),
    str: frozenset({str}),
    int | None: frozenset({int, type(None)}),
}


class Word:
    """An event or an effect. Two words are equal when their kinds and their fields are."""

    __slots__ = ()

    kind: ClassVar[str]
    _names: ClassVar[tuple[str, ...]]
    _keys: ClassVar[tuple[str, ...]]
    _types: ClassVar[tuple[Any, ...]]
    _accepted: ClassVar[tuple[frozenset[type] | None, ...]]
    _defaults: ClassVar[Mapping[str, object]]
    _plain: ClassVar[bool]
    _read: ClassVar[Callable[[Any], tuple[object, ...]]]

    def values(self) -> tuple[object, ...]:
        """The fields in the order of their declaration."""
        return type(self)._read(self)

    def wire(self) -> Wire:
        """The word as a new object of the wire."""
        word = type(self)
        wire: Wire = dict(zip(word._keys, (word.kind, *word._read(self)), strict=False))
        if word._plain:
            return wire
        for name, default in word._defaults.items():
            if wire[name] == default:
                del wire[name]
        for name, value in wire.items():
            if isinstance(value, StrEnum):
                wire[name] = value.value
            elif isinstance(value, tuple):
                wire[name] = list(value)
        return wire

    @classmethod
    def parse(cls, wire: Mapping[str, object]) -> tuple[object, ...]:
        """The fields of `wire` in the order of their declaration; `ProtocolError` if they do not fit."""
        try:
            values = tuple([wire[name] for name in cls._names])
        except KeyError:
            values = tuple([cls._value_or_default(wire, name) for name in cls._names])
        for name, value, accepted in zip(cls._names, values, cls._accepted, strict=False):
            if accepted is not None and type(value) not in accepted:
                types = " or ".join(sorted(one.__name__ for one in accepted))
                raise cls._wrong(f"{name} has to be {types}, came {value!r}")
        if len(wire) > len(values) + 1:
            unknown = sorted(set(wire) - set(cls._keys))
            if unknown:
                raise cls._wrong(f"came with unknown fields {unknown}")
        return values if cls._plain else cls._convert(values)

    @classmethod
    def from_wire(cls, wire: Mapping[str, object]) -> Self:
        """The word that `wire` describes; `ProtocolError` if its fields do not fit."""
        return cls(*cls.parse(wire))

    @classmethod
    def _value_or_default(cls, wire: Mapping[str, object], name: str) -> object:
        if name in wire:
            return wire[name]
        if name in cls._defaults:
            return cls._defaults[name]
        raise cls._wrong(f"came without {name}")

    @classmethod
    def _convert(cls, values: tuple[object, ...]) -> tuple[object, ...]:
        """Read the fields that are no JSON scalars: enums and lists of strings."""
        converted: list[object] = []
        for name, value, declared in zip(cls._names, values, cls._types, strict=True):
            if declared == tuple[str, ...]:
                if not isinstance(value, list | tuple) or any(type(one) is not str for one in value):
                    raise cls._wrong(f"{name} has to be a list of strings, came {value!r}")
                converted.append(tuple(value))
            elif isinstance(declared, type) and issubclass(declared, StrEnum):
                if value not in [one.value for one in declared]:
                    raise cls._wrong(
                        f"{name} has to be one of {[one.value for one in declared]}, came {value!r}"
                    )
                converted.append(declared(value))
            else:
                converted.append(value)
        return tuple(converted)

    @classmethod
    def _wrong(cls, what: str) -> ProtocolError:
        fields_named = ", ".join(cls._names) or "no fields"
        return ProtocolError(
            f"a {cls.kind!r} has {fields_named}: {what}; send it as docs/adapter-protocol.md says"
        )


W = TypeVar("W", bound=Word)


@dataclass_transform(frozen_default=True)
def word(kind: str) -> Callable[[type[W]], type[W]]:
    """Make a class the frozen, slotted dataclass of the wire word `kind`."""

    def declare(bare: type[W]) -> type[W]:
        made = dataclass(frozen=True, slots=True)(bare)
        declared = fields(cast(Any, made))
        made.kind = kind
        made._names = tuple(one.name for one in declared)
        made._keys = ("kind", *made._names)
        made._types = tuple(one.type for one in declared)
        made._accepted = tuple(_SCALARS.get(one.type) for one in declared)
        made._defaults = {one.name: one.default for one in declared if one.default is not MISSING}
        made._plain = not made._defaults and all(
            one.type is object or one.type in _SCALARS for one in declared
        )
        made._read = staticmethod(_reader(made._names))
        return made

    return declare


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[object, ...]]:
    """Reads the named attributes of an object as a tuple, however many there are."""
    if not names:
        return lambda word: ()
    read = attrgetter(*names)
    if len(names) == 1:
        return lambda word: (read(word),)
    return cast(Callable[[Any], tuple[object, ...]], read)
