"""Converts values into a column of a declared type, and raises an error for a value that would change.

Arrow itself refuses many values that a type cannot store. But it drops the fraction of a float in a column of
integers, the microseconds of a datetime in a column of seconds, and a time zone. It also converts a large
number to infinity. This module therefore compares the result with the given values, unless their types
exclude a loss. A declared float of 32 or 16 bits rounds, without an error.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

_MISSING: Final = type(None)
_AMBIGUOUS: Final = 1 << 53
"""2^53: from this float on, several integers may become the same float."""


class ColumnValueError(ValueError):
    """The type of a column cannot store a value. The message names the column and the value."""


def column_of(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """A column of these values. Raises `ColumnValueError` if the column would change a value."""
    try:
        made = pa.array(values, field.type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as cause:
        raise _refused(field, _culprit(values, field.type), cause) from cause
    if not set(map(type, values)) <= _lossless(field.type) and not _keeps_datetimes(field.type, values):
        for value, kept in zip(values, made.to_pylist(), strict=True):
            if not _same(value, kept, field.type):
                raise _refused(field, value, f"it would become {kept!r}")
    return made


def cast_of(column: pa.Array, field: pa.Field) -> pa.Array:
    """A column in the declared type. Raises `ColumnValueError` if the type cannot store a value."""
    if column.type == field.type:
        return column
    both = pa.types.is_timestamp(column.type) and pa.types.is_timestamp(field.type)
    if both and (column.type.tz is None) != (field.type.tz is None):
        raise _refused(field, column.type, "one of the two types has a time zone and the other has none")
    try:
        made = column.cast(field.type)
        if pa.types.is_boolean(field.type) or pa.types.is_date(field.type):
            lost = pc.not_equal(made.cast(column.type), column)
        elif pa.types.is_floating(field.type) and pa.types.is_floating(column.type):
            lost = pc.and_(pc.is_finite(column), pc.is_inf(made))
        else:
            return made
    except (pa.ArrowException, ValueError) as cause:
        raise _refused(field, column.type, cause) from cause
    if pc.any(lost).as_py():
        value = column.filter(lost)[0].as_py()
        raise _refused(field, value, f"it would become {made.filter(lost)[0].as_py()!r}")
    return made


def _refused(field: pa.Field, value: object, why: object) -> ColumnValueError:
    shown = repr(value)
    if len(shown) > 80:
        shown = f"{shown[:77]}..."
    return ColumnValueError(
        f"column {field.name!r} is {field.type} and does not hold {shown}: {why}; convert the value before, "
        "or declare a type that holds it"
    )


def _culprit(values: Sequence[Any], kind: pa.DataType) -> object:
    """The first value that Arrow refuses also alone; all values if Arrow accepts each of them alone."""
    for value in values:
        try:
            pa.array([value], kind)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            return value
    return values  # the array of all values may be too long


def _lossless(kind: pa.DataType) -> frozenset[type]:
    """The Python types whose values never change in a column of `kind`. Arrow stores or refuses them."""
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return frozenset({int, bool, _MISSING})
    if pa.types.is_float64(kind):
        return frozenset({float, int, _MISSING})
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return frozenset({str, bytes, _MISSING})
    if pa.types.is_decimal(kind):
        return frozenset({Decimal, int, _MISSING})
    return frozenset({date, _MISSING}) if pa.types.is_date32(kind) else frozenset({_MISSING})


def _keeps_datetimes(kind: pa.DataType, values: Sequence[Any]) -> bool:
    """Whether `kind` is a datetime with microseconds, and neither `kind` nor a value has a time zone."""
    if not (pa.types.is_timestamp(kind) and kind.tz is None and kind.unit in ("us", "ns")):
        return False
    there = [value for value in values if value is not None]
    return set(map(type, there)) <= {datetime} and all(value.tzinfo is None for value in there)


def _same(value: Any, kept: Any, kind: pa.DataType) -> bool:  # noqa: ANN401 - any value
    """Whether `kept`, which a column of `kind` has stored for `value`, equals `value`."""
    if value is None or kept is None:
        return value is None and kept is None
    if pa.types.is_dictionary(kind):
        return _same(value, kept, kind.value_type)
    if pa.types.is_struct(kind):
        return _same_struct(value, kept, kind)
    if pa.types.is_map(kind):
        pairs = list(value.items()) if isinstance(value, Mapping) else list(value)
        return len(pairs) == len(kept) and all(
            _same(one[0], other[0], kind.key_type) and _same(one[1], other[1], kind.item_type)
            for one, other in zip(pairs, kept, strict=True)
        )
    if pa.types.is_nested(kind):
        parts = list(value)
        return len(parts) == len(kept) and all(
            _same(one, other, kind.value_type) for one, other in zip(parts, kept, strict=True)
        )
    if pa.types.is_floating(kind):
        return _same_float(value, kept, kind)
    return _same_scalar(value, kept, kind)


def _same_struct(value: Any, kept: Mapping[str, Any], kind: pa.StructType) -> bool:  # noqa: ANN401
    if not isinstance(value, Mapping):
        return True  # a struct that is no mapping is given as pairs, and Arrow stores all pairs
    fields = {field.name: field.type for field in kind}
    return value.keys() <= fields.keys() and all(
        _same(value.get(name), kept[name], part) for name, part in fields.items()
    )


def _same_float(value: Any, kept: float, kind: pa.DataType) -> bool:  # noqa: ANN401
    if value != value or kept != kept:
        return bool(value != value and kept != kept)
    if pa.types.is_float64(kind):
        return bool(value == kept)
    return math.isinf(kept) == math.isinf(value)


def _same_scalar(value: Any, kept: Any, kind: pa.DataType) -> bool:  # noqa: ANN401
    if pa.types.is_temporal(kind) and not isinstance(value, float):
        if isinstance(value, int):
            return True  # a number of time units since 1970, which Arrow stores unchanged
        if isinstance(value, datetime) and isinstance(kept, datetime):
            if (value.tzinfo is None) != (kept.tzinfo is None):
                return False
            if value.tzinfo is not None:  # when a clock is set back, Python compares two zones as unequal
                return value.astimezone(UTC) == kept.astimezone(UTC)
        if isinstance(value, datetime) and type(kept) is date:
            return bool(value == datetime.combine(kept, time()))
    if isinstance(value, float) and (pa.types.is_temporal(kind) or abs(value) >= _AMBIGUOUS):
        return False
    if isinstance(value, str) and isinstance(kept, bytes):
        return value.encode() == kept
    return bool(value == kept)
