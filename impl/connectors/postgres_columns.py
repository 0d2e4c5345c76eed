"""Which columns of an older table take the rows of a sink as they are: PostgreSQL converts what it can.

It rounds a double to a real, or a decimal to the digits of its column, without a word.
"""

from collections.abc import Mapping
from typing import Final

from impl.connectors.errors import ConnectorError

COLUMNS: Final = """
    SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""
"""The columns of a table, and their types as PostgreSQL names them."""
_TAKEN_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "smallint": ("integer", "bigint", "numeric"),
    "integer": ("bigint", "numeric"),
    "bigint": ("numeric",),
    "real": ("double precision",),
    "text": ("character varying",),
    "timestamp": ("timestamp without time zone",),
    "timestamptz": ("timestamp with time zone",),
}
"""By type of a sink's column: others that hold all its values."""


def require_columns(where: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise `ConnectorError` unless the columns of a table hold all values of the types expected."""
    for name, kind in expected.items():
        there = found.get(name)
        if there is None or (there != kind and there not in _TAKEN_BY.get(kind, ())):
            raise ConnectorError(
                f"{where}: expected a column {name!r} of type {kind}, came {there or 'none'}, into which "
                "values may be converted; alter the table, give the sink another one, or declare the schema "
                "of this one"
            )
