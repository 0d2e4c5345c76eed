"""The values that can be keys, and their canonical form. Keys that are equal for a dict have equal forms.

    key                                              canonical form
    None, str, bytes                                 itself
    bool, int, float, Decimal, Fraction, NumPy's     the number as an int, else as a float of exactly this
    integers, booleans and float64                   value, else as a Fraction
    date, timedelta, UUID                            itself
    datetime without a time zone, time               itself, without `fold`
    datetime with a time zone                        the same instant in UTC
    tuple, named tuple, frozenset                    a tuple or a frozenset
    member of an Enum, frozen dataclass              itself
    a subclass with the equality of its base         that of its base: a `class Colour(str, Enum)` is a str
    Timestamp and Timedelta of pandas                as datetime and timedelta; itself with nanoseconds

The hash of key groups and the bytes in RocksDB are made of this form. So a key has one state on one subtask
in every backend. Any other value raises an UnsupportedKeyError: a value that is not equal to itself, whose
class defines a different equality, or whose class another process cannot import. A form is shallow: it is not
applied to the values in a tuple, a frozenset or a dataclass.
"""

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import chain
from typing import Any, Final, NoReturn
from uuid import UUID

import numpy as np

from impl.state.errors import UnsupportedKeyError

Form = Callable[[Any], Any]
_LARGEST_EXPONENT: Final = 10_000
"""The maximum exponent of a Decimal that can be a key."""
_PLAIN: Final = frozenset({int, str, bytes, bool, type(None)})
"""Types of which every value can be a key."""


def canonical(key: object) -> Any:  # noqa: ANN401 - one of the forms above
    """The canonical form of a key. Raises UnsupportedKeyError if the value cannot be a key."""
    kind = type(key)
    form = _FORMS.get(kind)
    if form is None:
        form = _FORMS[kind] = _form_of(kind)
    return form(key)


def require_key(key: object) -> None:
    """Raise UnsupportedKeyError unless `key` and all values in it can be keys."""
    form = canonical(key)
    if isinstance(form, tuple | frozenset):
        for part in form:
            require_key(part)
    elif dataclasses.is_dataclass(form):
        for part in fields_of(form):
            require_key(part)


def require_keys(keys: Iterable[object]) -> None:
    """Raise UnsupportedKeyError unless all `keys` can be keys. The function iterates over `keys` twice."""
    kinds = set(map(type, keys))
    if kinds <= _PLAIN:
        return
    if kinds == {tuple} and _PLAIN.issuperset(map(type, chain.from_iterable(keys))):  # type: ignore[arg-type]
        return
    for key in keys:
        require_key(key)


def fields_of(key: Any) -> tuple[object, ...]:  # noqa: ANN401 - a dataclass
    """The values of a dataclass, in the order of its fields."""
    return tuple(getattr(key, field.name) for field in dataclasses.fields(key))


def refuse(key: object, why: str, instead: str) -> NoReturn:
    """Raise UnsupportedKeyError for `key`. `why`: the reason; `instead`: what to do."""
    shown = repr(key)
    if len(shown) > 80:
        shown = f"{shown[:77]}..."
    raise UnsupportedKeyError(
        f"{shown} of type {type(key).__module__}.{type(key).__qualname__} is no key: {why}; {instead}"
    )


# ------------------------------------------------------------ numbers


def _itself(key: object) -> object:
    return key


def _float(key: float) -> float:
    if key != key:
        refuse(key, "it is not equal to itself and would never find its state again", "choose another key")
    return int(key) if key.is_integer() else key


def _decimal(key: Decimal) -> float | Fraction:
    if key.is_nan():
        refuse(key, "it is not equal to itself and would never find its state again", "choose another key")
    if key.is_infinite():
        return float(key)
    if key and abs(key.adjusted()) > _LARGEST_EXPONENT:
        refuse(key, f"its exponent is beyond {_LARGEST_EXPONENT}", "use its text as the key")
    return _ratio(*key.as_integer_ratio())


def _fraction(key: Fraction) -> float | Fraction:
    return _ratio(key.numerator, key.denominator)


def _ratio(numerator: int, denominator: int) -> float | Fraction:
    """The number as an int, else as a float that is exactly equal, else as a Fraction."""
    if denominator == 1:
        return numerator
    if denominator & (denominator - 1) == 0:  # only fractions with a power of two below can be floats
        try:
            nearest = numerator / denominator
        except OverflowError:
            nearest = 0.0
        if nearest.as_integer_ratio() == (numerator, denominator):
            return nearest
    return Fraction(numerator, denominator)


# ------------------------------------------------------------ time


def _datetime(key: datetime) -> datetime:
    offset = key.utcoffset()
    plain = datetime(key.year, key.month, key.day, key.hour, key.minute, key.second, key.microsecond)
    if offset is None:
        return plain
    if key.replace(fold=0).utcoffset() != key.replace(fold=1).utcoffset():
        refuse(
            key,
            "its clock is set back or forward at that time, and Python finds it equal to no instant",
            "use the instant as the key: key.astimezone(datetime.timezone.utc)",
        )
    try:
        return (plain - offset).replace(tzinfo=UTC)
    except OverflowError:
        refuse(key, "in UTC it is outside the years 1 to 9999", "use its text as the key")


def _time(key: time) -> time:
    if key.tzinfo is not None:
        refuse(key, "a time of day in a time zone is a different time on other dates", "remove its time zone")
    return time(key.hour, key.minute, key.second, key.microsecond)


def _timedelta(key: timedelta) -> timedelta:
    return timedelta(key.days, key.seconds, key.microseconds)


def _pandas(kind: type) -> Form | None:
    """The form function of pandas' two types that Arrow uses for nanoseconds; None for other types."""
    if not kind.__module__.startswith("pandas."):
        return None
    import pandas as pd

    def timestamp(key: Any) -> object:  # noqa: ANN401
        in_python = _datetime(key.to_pydatetime(warn=False))
        return key if key.nanosecond else in_python

    def duration(key: Any) -> object:  # noqa: ANN401
        return key if key.nanoseconds else _timedelta(key)

    return {pd.Timestamp: timestamp, pd.Timedelta: duration}.get(kind)


# ------------------------------------------------------------ types


def _numpy(kind: type) -> Form | None:
    """The form function of NumPy's scalar types whose equality and hash are Python's; None for others."""
    if issubclass(kind, np.integer) and not issubclass(kind, np.timedelta64):
        return int
    if issubclass(kind, np.bool_):
        return int
    if issubclass(kind, np.float64):
        return lambda key: _float(float(key))
    return None


_FORMS: Final[dict[type, Form]] = {
    type(None): _itself,
    str: _itself,
    bytes: _itself,
    int: _itself,
    bool: int,
    float: _float,
    tuple: _itself,
    frozenset: _itself,
    Decimal: _decimal,
    Fraction: _fraction,
    datetime: _datetime,
    date: _itself,
    time: _time,
    timedelta: _itself,
    UUID: _itself,
}
"""Maps a type to its form function, which computes the form of a value. The first use of a type adds it."""
_BASES: Final[tuple[tuple[type, Form], ...]] = (
    (str, str.__str__),
    (bytes, lambda key: bytes(memoryview(key))),
    (int, int.__index__),
    (float, lambda key: _float(float.__float__(key))),
    (tuple, lambda key: tuple(tuple.__iter__(key))),
    (frozenset, lambda key: frozenset(frozenset.__iter__(key))),
    (Decimal, _decimal),
    (Fraction, _fraction),
    (datetime, _datetime),
    (date, lambda key: date(key.year, key.month, key.day)),
    (time, _time),
    (timedelta, _timedelta),
    (UUID, lambda key: UUID(int=key.int)),
)
"""For subclasses: base classes, each with the function that returns the equal value of the base class."""
_INSTEAD: Final = "select a string, a number or a tuple of them in its place"


def _form_of(kind: type) -> Form:
    """The form function of a type. The function of a type that cannot be a key raises UnsupportedKeyError."""
    special = _numpy(kind) if issubclass(kind, np.generic) else _pandas(kind)
    if special is not None:
        return special
    if issubclass(kind, np.generic):
        return _refused("its equality depends on rounding or padding", "use key.item()")
    for base, form in _BASES:
        if issubclass(kind, base):
            if all(getattr(kind, own) is getattr(base, own) for own in ("__eq__", "__hash__")):
                return form
            return _refused(f"it is a {base.__name__} with an equality of its own", _INSTEAD)
    if issubclass(kind, Enum) and kind.__eq__ is object.__eq__:
        return _itself if importable(kind) else _refused(*_HIDDEN)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind)
    if kind.__hash__ is None:
        return _refused("it can be changed, so it has no hash", "select a tuple of its values")
    return _refused("only one process knows its equality", _INSTEAD)


_HIDDEN: Final = (
    "other processes cannot import its class",
    "define the class at the top of a module that all of them have",
)


def _dataclass(kind: Any) -> Form:  # noqa: ANN401 - a dataclass
    """The form function of a dataclass. It refuses a dataclass whose equality does not compare all fields."""
    own = vars(kind)
    if kind.__hash__ is None or not kind.__dataclass_params__.frozen:
        return _refused("it is a dataclass that can be changed", "declare it with frozen=True")
    if "__dataclass_fields__" not in own or not all(map(_generated, (kind.__eq__, kind.__hash__))):
        return _refused("it is a dataclass with an equality of its own", _INSTEAD)
    fields = dataclasses.fields(kind)
    made_of = inspect.signature(kind.__init__).parameters.keys() - {"self"}
    if made_of != {field.name for field in fields if field.compare}:
        return _refused(
            "it has fields that do not count for its equality, or that it is not made of",
            "select a tuple of the fields that count",
        )
    return _itself if importable(kind) else _refused(*_HIDDEN)


def _generated(method: Any) -> bool:  # noqa: ANN401
    """Whether `dataclass` has generated the method."""
    code = getattr(method, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _refused(why: str, instead: str) -> Form:
    return lambda key: refuse(key, why, instead)


def importable(kind: type) -> bool:
    """Whether another process can import the class by its name."""
    found: object = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind
