"""What a database cannot hold of a batch: refused before it is pre-committed, with column and value.

Behind a pre-commit it would be too late: the checkpoint is complete, and every commit would fail, or the
database would silently hold something else.
"""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from impl.connectors.errors import ValueRefusedError

Check = Callable[[pa.Array], tuple[pa.BooleanArray, str] | None]
"""Which values of a column are refused, and why and what to do; None: none of them."""
_LARGEST_SQLITE_INTEGER: Final = (1 << 63) - 1
_LARGEST_SQLITE_VALUE: Final = 1_000_000_000 - 1
"""In bytes, of a row; SQLite is built with that limit."""


def require_values(batch: pa.RecordBatch, checks: tuple[Check, ...], where: str) -> None:
    """Raise `ValueRefusedError` for the first value that a check refuses. `where`: the table."""
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


def _shown(value: Any) -> str:  # noqa: ANN401 - a scalar of Arrow
    """A value for a message; some have no value in Python."""
    try:
        shown = repr(value.as_py())
    except (ValueError, OverflowError):
        plain = value.as_buffer().to_pybytes() if pa.types.is_string(value.type) else value.value
        shown = f"{plain!r} as {value.type}"
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


# ------------------------------------------------------------ checks


def not_nan(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """SQLite stores NaN as NULL."""
    if not pa.types.is_floating(column.type):
        return None
    return pc.is_nan(column), "which SQLite stores as NULL: make it null or filter it before the sink"


def within_63_bits(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """SQLite's integers have a sign."""
    if column.type != pa.uint64():
        return None
    largest = pa.scalar(_LARGEST_SQLITE_INTEGER, pa.uint64())
    return pc.greater(column, largest), "because its integers end at 2**63 - 1: declare a column of text"


def utf_8(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Text that is none comes from files that nobody has checked."""
    if not pa.types.is_string(column.type):
        return None
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        whole = pa.array([_is_text(value) for value in column.cast(pa.binary())])
        return pc.invert(whole), "which is no UTF-8: correct it at its source, or declare a column of bytes"
    return None


def _is_text(value: pa.Scalar) -> bool:
    try:
        (value.as_py() or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def not_too_long(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """SQLite's rows have a limit."""
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return None
    if column.nbytes <= _LARGEST_SQLITE_VALUE:
        return None
    long = pc.greater(pc.binary_length(column), _LARGEST_SQLITE_VALUE)
    return long, f"because SQLite takes {_LARGEST_SQLITE_VALUE} bytes: cut it, or write it elsewhere"


def no_nul(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """PostgreSQL's text ends where C's does."""
    if not pa.types.is_string(column.type):
        return None
    nul = pc.match_substring(column, "\0")
    return nul, "because PostgreSQL takes no NUL in text: remove it, or declare a column of bytes"


def whole_microseconds(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """PostgreSQL counts microseconds."""
    if not (pa.types.is_timestamp(column.type) and column.type.unit == "ns"):
        return None
    numbers = column.cast(pa.int64())
    whole = pc.multiply(pc.divide(numbers, 1_000), 1_000)
    return pc.not_equal(numbers, whole), "because PostgreSQL has no nanoseconds: round it before the sink"


def within_years_1_to_9999(column: pa.Array) -> tuple[pa.BooleanArray, str] | None:
    """Python, which hands the values over, has no other years."""
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
