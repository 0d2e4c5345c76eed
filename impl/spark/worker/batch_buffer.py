"""A buffer that joins small Arrow batches, so that a function gets many rows at once.

A function may read and write its state once for each key of a batch. The more rows of a key a batch has, the
less each row costs. Channels have small batches, so that barriers pass soon. This buffer joins them again. It
is empty at each barrier, so every snapshot contains the effect of the rows before its barrier (ONCE-01).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

import pyarrow as pa

from impl.batches import Rows, joined, with_dictionaries, without_dictionaries

_ROWS: Final = 16_384
"""When this number of rows waits, the function gets them. A barrier waits until they are processed."""
_BYTES: Final = 16 * 1024 * 1024
"""When the waiting rows have this size in bytes, the function gets them."""
_EXACT: Final = (pa.types.is_string, pa.types.is_binary, pa.types.is_integer)
"""Types whose dictionaries Arrow joins without a change. It alters half floats, and merges 0.0 and -0.0."""
_BITS: Final = 32
"""Indices of a dictionary with this number of bits cannot overflow when dictionaries are joined."""


class BatchBuffer:
    """The buffer of one input. `process`: the function of the input, which emits its rows at barriers."""

    def __init__(self, process: Callable[[Rows], Rows]) -> None:
        self._process = process
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def __call__(self, rows: Rows) -> Rows:
        """Let a batch wait until enough rows wait. Process a list of rows at once, after the waiting rows."""
        if not isinstance(rows, pa.RecordBatch):
            before = self.release()
            made = self._process(rows)
            return joined((before, made)) if len(before) else made
        self._waiting.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        return self.release() if self._rows >= _ROWS or self._bytes >= _BYTES else ()

    def release(self) -> Rows:
        """Process all rows that wait; returns the emitted rows."""
        waiting, self._waiting = self._waiting, []
        self._rows = self._bytes = 0
        return joined([self._process(batch) for batch in united(waiting)])


def united(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of all batches, in order, in as few batches as their schemas allow."""
    if len(batches) > 1 and not all(_can_unite(batches[0].schema, one.schema) for one in batches):
        try:
            batches = [without_dictionaries(batch) for batch in batches]
        except pa.ArrowNotImplementedError:  # for dictionaries of nested values
            yield from batches
            return
    for schema, alike in groupby(batches, key=lambda batch: batch.schema):
        same = list(alike)
        if len(same) == 1 or any(map(_has_dictionary_within, schema.types)):
            yield from same
            continue
        try:
            whole = with_dictionaries(pa.concat_batches(same))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # for dictionaries that contain a null
            yield from same
        else:
            yield whole


def _can_unite(first: pa.Schema, schema: pa.Schema) -> bool:
    """Whether Arrow joins columns of both schemas without a change and without an overflow of indices."""
    dictionaries = (kind for kind in schema.types if pa.types.is_dictionary(kind))
    return schema.equals(first) and all(
        kind.index_type.bit_width >= _BITS and any(is_exact(kind.value_type) for is_exact in _EXACT)
        for kind in dictionaries
    )


def _has_dictionary_within(kind: pa.DataType) -> bool:
    """Whether values of this type contain dictionaries, which Arrow may change when it joins them."""
    within = [kind.field(index).type for index in range(kind.num_fields)]
    return any(pa.types.is_dictionary(one) or _has_dictionary_within(one) for one in within)
