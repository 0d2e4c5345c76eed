"""Rows as Arrow batches instead of lists of tuples, and the keys of a batch without a loop over its rows.

A `pyarrow.RecordBatch` may replace any list of rows. Row i has the values of the columns at position i. If
the keys are columns, they are computed for a whole batch: each distinct value of a column gets a number, its
*code*, and only the distinct keys become Python objects. These keys equal the keys that a selector computes
for single rows, so a key has the same key group in both cases.
"""

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from impl.column_values import cast_of, column_of
from impl.graph.plan import KeySelector, Row
from impl.state.errors import UnsupportedKeyError

Rows: TypeAlias = Sequence[Row] | pa.RecordBatch
Codes = npt.NDArray[np.int64]


class Keys(NamedTuple):
    """The keys of a batch. Row i has the key `distinct[codes[i]]`. Each key of `distinct` has a row."""

    codes: Codes
    distinct: list[Hashable]

    def by_row(self) -> list[Hashable]:
        """The key of each row, in the order of the rows."""
        return list(map(self.distinct.__getitem__, self.codes.tolist()))

    def in_order(self) -> Codes:
        """The row numbers sorted by key, in the order of `distinct`. Rows of one key keep their order."""
        small = len(self.distinct) <= np.iinfo(np.int16).max  # NumPy sorts small ints faster, by radix sort
        return np.argsort(self.codes.astype(np.int16) if small else self.codes, kind="stable")

    def ends(self) -> list[int]:
        """For each key, the position in `in_order` after its last row."""
        ends: list[int] = np.cumsum(np.bincount(self.codes, minlength=len(self.distinct))).tolist()
        return ends


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """A key selector by columns, given by name or position.

    The key is the value of one column, or the tuple of the values of several columns.
    """

    columns: tuple[str | int, ...]

    def __call__(self, row: Row) -> Hashable:
        """The key of one row. Raises `TypeError` if a column is given by name."""
        if not all(isinstance(one, int) for one in self.columns):
            raise TypeError(
                f"key_by{self.columns} names columns, which rows without a schema do not have: give their "
                "positions, such as operator.itemgetter(0), or declare a source of batches"
            )
        key: Hashable = operator.itemgetter(*self.columns)(row)
        return key

    def keys_of(self, batch: pa.RecordBatch) -> Keys:
        """The keys of a batch. Raises `KeyError` if the batch does not have a column."""
        each = [_encoded(batch.column(one)) for one in self.columns]
        if len(each) == 1:
            return each[0]
        codes = each[0].codes
        for one in each[1:]:  # pairs are numbered from 0 each time, so the product fits into 64 bits
            pairs = pa.array(codes * len(one.distinct) + one.codes)
            codes = pairs.dictionary_encode().indices.to_numpy().astype(np.int64)
        row_of = np.zeros(int(codes.max()) + 1 if len(codes) else 0, np.int64)  # the last row of each key
        row_of[codes] = np.arange(len(codes))
        parts = [map(one.distinct.__getitem__, one.codes[row_of].tolist()) for one in each]
        return Keys(codes, list(zip(*parts, strict=True)))


def columns_of(selector: KeySelector) -> KeyColumns | None:
    """The columns of a `KeyColumns` or of an `operator.itemgetter` of positions; None for other selectors."""
    if isinstance(selector, KeyColumns):
        return selector
    if isinstance(selector, operator.itemgetter):
        given: Any = selector.__reduce__()[1]  # the arguments of the itemgetter
        if all(type(one) is int and one >= 0 for one in given):
            return KeyColumns(given)
    return None


def _encoded(column: pa.Array) -> Keys:
    """The keys of one column. Nulls have the key None."""
    if not pa.types.is_dictionary(column.type):
        column = key_column(column).dictionary_encode("encode")
    values, indices = column.dictionary, column.indices
    if indices.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        indices = indices.fill_null(len(values) - 1)
    codes = indices.to_numpy().astype(np.int64)
    present = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    if len(present) < len(values):  # a slice keeps the whole dictionary, also values that it does not use
        values = values.take(pa.array(present))
        codes = _renumbered(present, codes)
    distinct = values.to_pylist()
    if len(set(distinct)) == len(distinct):
        return Keys(codes, distinct)
    numbers: dict[Hashable, int] = {}  # Arrow distinguishes values that are equal in Python: 0.0 and -0.0
    again = [numbers.setdefault(value, len(numbers)) for value in distinct]
    return Keys(np.array(again, np.int64)[codes], list(numbers))


def _renumbered(present: Codes, codes: Codes) -> Codes:
    """The position of each code of `codes` in `present`, which has all these codes in ascending order."""
    numbers = np.zeros(int(present[-1]) + 1 if len(present) else 0, np.int64)
    numbers[present] = np.arange(len(present))
    return numbers[codes]


def rows_of(rows: Rows) -> Sequence[Row]:
    """The rows as tuples of Python values."""
    if not isinstance(rows, pa.RecordBatch):
        return rows
    return next(rows_in_slices(rows, [rows.num_rows]))


def rows_in_slices(batch: pa.RecordBatch, ends: Iterable[int]) -> Iterator[list[Row]]:
    """The rows of a batch in slices, as tuples of Python values; a slice ends before each row of `ends`.

    The processor's cache can hold a slice of some thousand rows while the slice is processed.
    """
    values = [*map(_values, batch.columns)]
    first = 0
    for beyond in ends:
        if values:
            yield list(zip(*(of(first, beyond) for of in values), strict=True))
        else:
            yield [()] * (beyond - first)
        first = beyond


def joined(pieces: Sequence[Rows]) -> Rows:
    """The rows of all pieces, as one batch if all pieces are batches of one schema, else as single rows."""
    pieces = [rows for rows in pieces if len(rows)]
    batches = [rows for rows in pieces if isinstance(rows, pa.RecordBatch)]
    if len(batches) == len(pieces) > 0 and all(one.schema.equals(batches[0].schema) for one in batches):
        return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
    return [row for rows in pieces for row in rows_of(rows)]


def batch_of(rows: Rows, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of `rows` with this schema. Columns correspond by position, not by name.

    Raises a `ColumnValueError` for a value that its column cannot store exactly, and another `ValueError` for
    rows that do not fit the schema.
    """
    columns = rows.columns if isinstance(rows, pa.RecordBatch) else [*zip(*rows, strict=True)]
    arrays = [
        cast_of(column, field) if isinstance(column, pa.Array) else column_of(column, field)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def key_column(column: pa.Array) -> pa.Array:
    """The values in a type that Arrow can group. Raises `UnsupportedKeyError` if there is no such type."""
    kind = column.type
    try:
        if pa.types.is_nested(kind) or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            raise pa.ArrowNotImplementedError("Arrow cannot group them")
        return exact(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as cause:
        raise UnsupportedKeyError(
            f"the values of a column of {kind} cannot be keys: {cause}; key by other columns, or cast this "
            "column to another type before"
        ) from cause


def exact(column: pa.Array) -> pa.Array:
    """The values in a type that converts to Python without loss.

    Raises `pa.ArrowInvalid` for a time of day with nanoseconds, which Python would drop.
    """
    return column.cast(pa.time64("us")) if column.type == pa.time64("ns") else column


def _values(column: pa.Array) -> Callable[[int, int], Iterable[Any]]:
    """A function of `first` and `beyond` that returns the values of the rows from `first` to `beyond` - 1."""
    if pa.types.is_dictionary(column.type) and not column.null_count:
        known = column.dictionary.to_pylist()  # one Python object for each distinct value
        codes = column.indices.to_numpy()
        return lambda first, beyond: map(known.__getitem__, codes[first:beyond].tolist())
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        numbers = column.to_numpy()
        return lambda first, beyond: numbers[first:beyond].tolist()
    values = exact(column)
    return lambda first, beyond: values.slice(first, beyond - first).to_pylist()


_ROWS_PER_VALUE: Final = 2
"""A column gets a dictionary if each distinct value has at least this number of rows on average."""


def without_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows in columns without dictionaries."""
    for index, column in enumerate(batch.columns):
        if pa.types.is_dictionary(column.type):
            plain = column.cast(column.type.value_type)
            batch = batch.set_column(index, batch.schema.names[index], plain)
    return batch


def with_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows. Columns of text or bytes become dictionary columns if their values repeat often."""
    for index, column in enumerate(batch.columns):
        if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            encoded = column.dictionary_encode()
            if len(encoded.dictionary) * _ROWS_PER_VALUE <= len(column):
                batch = batch.set_column(index, batch.schema.names[index], encoded)
    return batch


def taken(batch: pa.RecordBatch, rows: Codes) -> pa.RecordBatch:
    """The rows of a batch at the positions `rows`.

    A dictionary column keeps only the values that these rows use, and stays one only if this saves memory.
    """
    part = batch.take(pa.array(rows))
    columns = [_compact(column) if pa.types.is_dictionary(column.type) else column for column in part.columns]
    return pa.RecordBatch.from_arrays(columns, names=part.schema.names)


def _compact(column: pa.Array) -> pa.Array:
    values, indices = column.dictionary, column.indices
    if indices.null_count:
        return column.cast(column.type.value_type)
    codes = indices.to_numpy()
    present = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    if len(present) * _ROWS_PER_VALUE > len(codes):
        return column.cast(column.type.value_type)
    numbers = _renumbered(present, codes).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(numbers), values.take(pa.array(present)))
