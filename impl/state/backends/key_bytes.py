"""Keys as bytes. Equal keys have equal bytes, different keys have different bytes, and bytes can be decoded.

    kind (1 byte)  length (4 bytes)  payload

The bytes encode the canonical form of the key (`key_values`). The decoded key equals the key, and has the
type of the form. The kinds: `n` None, `s` string, `b` bytes, `i` int in digits, `I` a longer int in binary,
`f` float, `r` Fraction, `t` tuple, `z` frozenset, `y` date, `l` datetime without a time zone, `a` datetime
with a time zone, `c` time of day, `w` timedelta, `u` UUID, `e` member of an enum, `d` dataclass. Values of
pandas with nanoseconds: `N` Timestamp without a time zone, `A` Timestamp with a time zone, `W` Timedelta.
Encoding 1 has the kinds `n` to `z` of this list, and `p` for a pickle of any other key.
"""

import dataclasses
import importlib
import struct
from collections.abc import Callable, Hashable
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from fractions import Fraction
from typing import Any, Final
from uuid import UUID

from impl.state.backends.key_values import canonical, fields_of
from impl.state.errors import KeyEncodingError

_LENGTH: Final = struct.Struct(">I")
_DOUBLE: Final = struct.Struct(">d")
_IN_DIGITS: Final = 14_000
"""The maximum number of bits of an int that is written in digits. Python converts at most 4,300 digits."""
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1, 1, 1)


def key_bytes(key: object) -> bytes:
    """The bytes of a key. They are not a prefix of the bytes of another key.

    Raises UnsupportedKeyError for a value that cannot be a key.
    """
    if type(key) is str:
        text = key.encode("utf-8", "surrogatepass")
        return b"s" + _LENGTH.pack(len(text)) + text
    form = key if type(key) is int else canonical(key)
    code, payload = _WRITERS.get(type(form), _write_other)(form)
    return code + _LENGTH.pack(len(payload)) + payload


def key_of(data: bytes) -> tuple[Hashable, bytes]:
    """The key at the beginning of `data`, and the rest. Raises KeyEncodingError for an unknown kind."""
    (length,) = _LENGTH.unpack_from(data, 1)
    beyond = 1 + _LENGTH.size + length
    kind = data[:1].decode("latin-1")
    if kind not in _READERS:
        raise KeyEncodingError(
            f"expected a key of a kind in {''.join(_READERS)}, got {kind!r}: it was written by another "
            "release; restore it with the release that wrote it"
        )
    return _READERS[kind](data[1 + _LENGTH.size : beyond]), data[beyond:]


# ------------------------------------------------------------ writing


def _write_int(form: int) -> tuple[bytes, bytes]:
    if form.bit_length() <= _IN_DIGITS:
        return b"i", b"%d" % form
    return b"I", form.to_bytes(form.bit_length() // 8 + 1, "big", signed=True)


def _write_datetime(form: datetime) -> tuple[bytes, bytes]:
    kind = b"l" if form.tzinfo is None else b"a"
    return kind, b"%d" % ((form.replace(tzinfo=None) - _EPOCH) // _MICROSECOND)


def _write_other(form: Any) -> tuple[bytes, bytes]:  # noqa: ANN401 - a form of any other type
    kind = type(form)
    name = key_bytes(f"{kind.__module__}:{kind.__qualname__}")
    if isinstance(form, Enum):
        known = kind.__members__.get(form.name) is form if form.name else False
        return b"e", name + key_bytes(form.name if known else form.value)  # combined flags have no name
    if isinstance(form, datetime):
        return (b"N" if form.tzinfo is None else b"A"), b"%d" % form.value  # type: ignore[attr-defined]
    if isinstance(form, timedelta):
        return b"W", b"%d" % form.value  # type: ignore[attr-defined]
    return b"d", name + b"".join(map(key_bytes, fields_of(form)))


_WRITERS: Final[dict[type, Callable[[Any], tuple[bytes, bytes]]]] = {
    type(None): lambda form: (b"n", b""),
    str: lambda form: (b"s", form.encode("utf-8", "surrogatepass")),
    bytes: lambda form: (b"b", form),
    int: _write_int,
    float: lambda form: (b"f", _DOUBLE.pack(form)),
    Fraction: lambda form: (b"r", key_bytes(form.numerator) + key_bytes(form.denominator)),
    tuple: lambda form: (b"t", b"".join(map(key_bytes, form))),
    frozenset: lambda form: (b"z", b"".join(sorted(map(key_bytes, form)))),
    date: lambda form: (b"y", b"%d" % form.toordinal()),
    datetime: _write_datetime,
    time: lambda form: (b"c", b"%d" % ((datetime.combine(date.min, form) - _EPOCH) // _MICROSECOND)),
    timedelta: lambda form: (b"w", b"%d" % (form // _MICROSECOND)),
    UUID: lambda form: (b"u", form.bytes),
}


# ------------------------------------------------------------ reading


def _keys_in(payload: bytes) -> list[Hashable]:
    keys = []
    while payload:
        key, payload = key_of(payload)
        keys.append(key)
    return keys


def _datetime(payload: bytes) -> datetime:
    return _EPOCH + int(payload) * _MICROSECOND


def _ratio(payload: bytes) -> Fraction:
    parts: list[Any] = _keys_in(payload)
    return Fraction(*parts)


def _class(name: Hashable) -> Any:  # noqa: ANN401 - an enum or a dataclass
    module, _, path = str(name).partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _member(payload: bytes) -> Hashable:
    name, member = _keys_in(payload)
    kind = _class(name)
    found: Hashable = kind[member] if isinstance(member, str) else kind(member)
    return found


def _dataclass(payload: bytes) -> Hashable:
    name, *values = _keys_in(payload)
    kind = _class(name)
    fields = dict(zip((field.name for field in dataclasses.fields(kind)), values, strict=True))
    made: Hashable = kind(**fields)
    for field, value in fields.items():
        if getattr(made, field) != value:  # `__post_init__` has converted the value a second time
            object.__setattr__(made, field, value)
    return made


def _nanoseconds(payload: bytes, kind: str) -> Hashable:
    import pandas as pd

    if kind == "W":
        return pd.Timedelta(int(payload), unit="ns")
    return pd.Timestamp(int(payload), unit="ns", tz=None if kind == "N" else "UTC")


_READERS: Final[dict[str, Callable[[bytes], Hashable]]] = {
    "n": lambda payload: None,
    "s": lambda payload: payload.decode("utf-8", "surrogatepass"),
    "b": lambda payload: payload,
    "i": int,
    "I": lambda payload: int.from_bytes(payload, "big", signed=True),
    "f": lambda payload: float(_DOUBLE.unpack(payload)[0]),
    "r": _ratio,
    "t": lambda payload: tuple(_keys_in(payload)),
    "z": lambda payload: frozenset(_keys_in(payload)),
    "y": lambda payload: date.fromordinal(int(payload)),
    "l": _datetime,
    "a": lambda payload: _datetime(payload).replace(tzinfo=UTC),
    "c": lambda payload: _datetime(payload).time(),
    "w": lambda payload: int(payload) * _MICROSECOND,
    "u": lambda payload: UUID(bytes=payload),
    "e": _member,
    "d": _dataclass,
    "N": lambda payload: _nanoseconds(payload, "N"),
    "A": lambda payload: _nanoseconds(payload, "A"),
    "W": lambda payload: _nanoseconds(payload, "W"),
}
