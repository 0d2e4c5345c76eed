"""Exact sums. Arrow's sum kernel overflows at 64 and at 128 bits without an error.

Before the sum of a column, its least and greatest value show whether the sum of its rows may exceed the type.
If so, the column is cast to a wider decimal. The accumulators are Python's integers, which have no bounds,
and decimals with all their digits. The result has the type of Arrow's sum. A sum that does not fit into this
type raises an error when the function emits it.
"""

from collections.abc import Sequence
from decimal import Context, Decimal, Inexact
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

_NARROW, _WIDE = 38, 76
"""The numbers of digits of Arrow's decimals with 128 and with 256 bits."""
_EXACT: Final = Context(prec=1_000, traps=[Inexact])


class AggregateOverflowError(ArithmeticError):
    """The sum of a column is too large for the type of the result. The message states what to do."""


def plus(one: Any, other: Any) -> Any:  # noqa: ANN401 - two numbers of one type
    """The sum of two numbers. A sum of decimals keeps all digits."""
    return _EXACT.add(one, other) if isinstance(one, Decimal) else one + other


def safe_to_sum(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """The column in a type that Arrow can sum without an overflow.

    Raises AggregateOverflowError if there is no such type.
    """
    kind = column.type
    if pa.types.is_integer(kind):
        most = (1 << (64 if pa.types.is_unsigned_integer(kind) else 63)) - 1
        fits = kind.bit_width < 64 and len(column) < 1 << 31
        if fits or _largest(column) * len(column) <= most:
            return column
        return column.cast(pa.decimal128(_NARROW, 0))
    if not pa.types.is_decimal(kind):
        return column
    digits = _WIDE if kind.bit_width > 128 else _NARROW
    if kind.precision + len(str(len(column))) <= digits:
        return column
    unscaled = _largest(column) * 10**kind.scale * len(column)
    if unscaled < 10**digits:
        return column
    if unscaled < 10**_WIDE:
        return column.cast(pa.decimal256(_WIDE, kind.scale))
    raise AggregateOverflowError(
        f"column {name!r} is {kind}, and the sum of its {len(column)} rows may have more than {_WIDE} "
        "digits; cast it to a floating-point type before it is summed"
    )


def _largest(column: pa.ChunkedArray) -> int:
    """An integer that is not less than the absolute value of any value of the column."""
    least, most = pc.min_max(column).as_py().values()
    return 0 if least is None else int(max(abs(least), abs(most))) + (not isinstance(most, int))


def one_type(tables: Sequence[pa.Table], keyed: int) -> list[pa.Table]:
    """The tables with equal types: each column after the first `keyed` has its widest type of all tables."""
    widest = list(tables[0].schema.types)
    for table in tables[1:]:
        for index in range(keyed, len(widest)):
            if _width(table.schema.types[index]) > _width(widest[index]):
                widest[index] = table.schema.types[index]
    cast = []
    for table in tables:
        for index in range(keyed, len(widest)):
            column = table.column(index)
            if _width(column.type) < _width(widest[index]):
                table = table.set_column(index, table.column_names[index], column.cast(widest[index]))
        cast.append(table)
    return cast


def _width(kind: pa.DataType) -> int:
    """The bits of an integer or decimal type; 0 for any other type, which is not cast."""
    return kind.bit_width if pa.types.is_integer(kind) or pa.types.is_decimal(kind) else 0


def in_python(column: pa.ChunkedArray, kind: pa.DataType) -> list[Any]:
    """The values of a column as Python objects: ints if the type of the result, `kind`, is integral."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_integer(kind) and pa.types.is_decimal(column.type):
        return [None if value is None else int(value) for value in values]
    return values


def declared(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """A column of the result. Raises AggregateOverflowError for a value that does not fit into its type."""
    try:
        return pa.array(values, field.type)
    except (OverflowError, pa.ArrowInvalid) as cause:
        numbers: list[Any] = [one for one in values if isinstance(one, int | Decimal)]
        largest = max(numbers, key=abs, default=None)
        raise AggregateOverflowError(
            f"the column {field.name!r} of the result is {field.type}, which cannot store {largest}; cast "
            "the summed column to decimal128(38, 0), or to a floating-point type, before the aggregation"
        ) from cause
