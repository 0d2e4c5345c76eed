"""Checks for values and column types that a database cannot store. A sink runs them before it pre-commits.

A check after the pre-commit would be too late. When the checkpoint is complete, every commit would fail, or
the database would store another value without an error.
"""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from impl.connectors.errors import ConnectorError, ValueRefusedError

Check = Callable[[pa.Array], tuple[pa.BooleanArray, str] | None]
"""Maps a column to a mask of its refused values, the reason and the remedy; None if no value is refused."""
_LARGEST_SQLITE_INTEGER: Final = (1 << 63) - 1
_LARGEST_SQLITE_VALUE: Final = 1_000_000_000 - 1
"""The maximum number of bytes in a row, a limit of SQLite's build."""


def require_values(batch: pa.RecordBatch, checks: tuple[Check, ...], where: str) -> None:
    """Raise ValueRefusedError for the first value that a check refuses. `where`: the table, for messages."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        for check in checks:
            found = check(column)
            if found is None:
                continue
            refused, why = found
            if pc.any(refused).as_py():
                row = pc.index(refused, True).as_py()
                raise ValueRefusedError(
                    f"{where}: column {name!r} cannot hold {_shown(column[row])}, {why}; it is in row {row} "
                    "of a batch"
                )


def column_type(
    field: pa.Field, types: tuple[tuple[Callable[[pa.DataType], bool], str], ...], takes: str
) -> str:
    """The database type of a column: the first of `types` that fits.

    `takes`: the end of the message, with the types of the database and what to do. Raises ConnectorError if
    no type fits.
    """
    for fits, name in types:
        if fits(field.type):
            return name
    raise ConnectorError(f"column {field.name!r} is {field.type}, and {takes}")


def _shown(value: Any) -> str:  # noqa: ANN401 - a scalar of Arrow
    """The text of a value for a message, also of a value that no Python object represents."""
    try:
        shown = repr(value.as_py())
    except (ValueError, OverflowError):
        plain = value.as_buffer().to_pybytes() if pa.types.is_string(value.type) else value.value
        shown = f"{plain!r} as {value.type}"
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


# ------------------------------------------------------------ checks


def not_nan(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse NaN, which SQLite stores as NULL."""
    if not pa.types.is_floating(column.type):
        return None
    return pc.is_nan(column), "which SQLite stores as NULL: make it null or filter it before the sink"


def within_63_bits(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse integers from 2**63 on, because SQLite's integers are signed."""
    if column.type != pa.uint64():
        return None
    largest = pa.scalar(_LARGEST_SQLITE_INTEGER, pa.uint64())
    return pc.greater(column, largest), "because its integers end at 2**63 - 1: declare a column of text"


def utf_8(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse text that is not UTF-8, which an unchecked file may contain."""
    if not pa.types.is_string(column.type):
        return None
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        whole = pa.array([_is_text(value) for value in column.cast(pa.binary())])
        return pc.invert(whole), "which is not UTF-8: correct it at its source, or declare a column of bytes"
    return None


def _is_text(value: pa.Scalar) -> bool:
    try:
        (value.as_py() or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def not_too_long(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse values with more bytes than SQLite's limit for a row."""
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return None
    if column.nbytes <= _LARGEST_SQLITE_VALUE:
        return None
    long = pc.greater(pc.binary_length(column), _LARGEST_SQLITE_VALUE)
    return long, f"because SQLite takes {_LARGEST_SQLITE_VALUE} bytes: cut it, or write it elsewhere"


def no_nul(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse text with NUL, which PostgreSQL does not store."""
    if not pa.types.is_string(column.type):
        return None
    nul = pc.match_substring(column, "\0")
    return nul, "because PostgreSQL takes no NUL in text: remove it, or declare a column of bytes"


def whole_microseconds(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse timestamps with nanoseconds, because PostgreSQL stores microseconds."""
    if not (pa.types.is_timestamp(column.type) and column.type.unit == "ns"):
        return None
    numbers = column.cast(pa.int64())
    whole = pc.multiply(pc.divide(numbers, 1_000), 1_000)
    return pc.not_equal(numbers, whole), "because PostgreSQL has no nanoseconds: round it before the sink"


def within_years_1_to_9999(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Refuse years below 1 or above 9999, because the sink converts values to Python objects."""
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        return None
    try:
        for bound in pc.min_max(column).values():
            bound.as_py()
    except (ValueError, OverflowError):
        return pa.array([_is_outside(value) for value in column]), "outside the years 1 to 9999: correct it"
    return None


def _is_outside(value: pa.Scalar) -> bool:
    try:
        value.as_py()
    except (ValueError, OverflowError):
        return True
    return False


SQLITE: Final[tuple[Check, ...]] = (not_nan, within_63_bits, utf_8, not_too_long)
POSTGRES: Final[tuple[Check, ...]] = (utf_8, no_nul, whole_microseconds, within_years_1_to_9999)
