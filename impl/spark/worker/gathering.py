"""Arrow batches that wait for others, so that a function gets many rows at once.

A function that reads and writes its state once for each key of a batch costs less for each row, the more rows
of a key a batch has. Small batches, which let barriers pass soon, are therefore put together again. Rows do
not wait beyond a barrier, so no snapshot lacks them (ONCE-01).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

import pyarrow as pa

from impl.batches import Rows, joined, with_dictionaries, without_dictionaries

_ROWS: Final = 16_384
"""Number of waiting rows from which on the function gets them; a barrier waits until they are processed."""
_BYTES: Final = 16 * 1024 * 1024
"""Size of the waiting rows from which on the function gets them, however few they are."""
_BITS: Final = 32
"""The bits of the indices of a dictionary that cannot overflow when dictionaries are united."""


class GatheredBatches:
    """The batches of one input, for a function that emits nothing before a barrier.

    `process`: the function of the input.
    """

    def __init__(self, process: Callable[[Rows], Rows]) -> None:
        self._process = process
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def __call__(self, rows: Rows) -> Rows:
        """Let a batch wait until there are enough rows. Rows one by one do not wait, and keep their place."""
        if not isinstance(rows, pa.RecordBatch):
            before = self.release()
            made = self._process(rows)
            return joined((before, made)) if len(before) else made
        self._waiting.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        return self.release() if self._rows >= _ROWS or self._bytes >= _BYTES else ()

    def release(self) -> Rows:
        """Process all rows that wait."""
        waiting, self._waiting = self._waiting, []
        self._rows = self._bytes = 0
        return joined([self._process(batch) for batch in united(waiting)])


def united(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of all batches, in order, in as few batches as their schemas allow."""
    if len(batches) > 1 and not all(_can_unite(batches[0].schema, one.schema) for one in batches):
        batches = [without_dictionaries(batch) for batch in batches]
    for _, alike in groupby(batches, key=lambda batch: batch.schema):
        same = list(alike)
        try:
            yield with_dictionaries(pa.concat_batches(same)) if len(same) > 1 else same[0]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # dictionaries within nested values
            yield from same


def _can_unite(first: pa.Schema, schema: pa.Schema) -> bool:
    """Whether Arrow can unite columns of both: the indices of their dictionaries have enough bits for it."""
    dictionaries = (kind for kind in schema.types if pa.types.is_dictionary(kind))
    return schema.equals(first) and all(kind.index_type.bit_width >= _BITS for kind in dictionaries)
