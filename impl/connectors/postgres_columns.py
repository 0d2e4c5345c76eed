"""The columns of an older table that hold the values of a sink unchanged.

PostgreSQL rounds a double to a real, or a decimal to the digits of its column, without an error.
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
"""From the type of a sink's column to other types that hold all its values."""


def require_columns(where: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise ConnectorError unless the columns `found` hold all values of the types `expected`."""
    for name, kind in expected.items():
        there = found.get(name)
        if there is None or (there != kind and there not in _TAKEN_BY.get(kind, ())):
            raise ConnectorError(
                f"{where}: expected a column {name!r} of type {kind}, came {there or 'none'}, into which "
                "values may be converted; alter the table, give the sink another one, or declare the schema "
                "of this one"
            )
