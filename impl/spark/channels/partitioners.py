"""Distributes rows over the channels of one edge: by key, in turn, or to all of them.

Lists of rows are distributed row by row, batches of Arrow by their columns. In both, a row reaches the
subtask that owns the key group of its key.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import cycle
from typing import assert_never

import numpy as np
import pyarrow as pa

from impl.batches import Codes, Rows, columns_of, rows_of, taken
from impl.graph.plan import KeySelector, Partitioning, Route, Row
from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM, key_group, subtask_of
from impl.state.backends.key_values import require_key

_REMEMBERED_KEYS = 100_000

Fill = Callable[[int, Rows], None]
"""Adds rows to a channel."""
Spread = Callable[[Rows], None]


def channel_of(key: object, channels: int, max_parallelism: int = DEFAULT_MAX_PARALLELISM) -> int:
    """The channel of a key: that of the subtask which owns its key group."""
    return subtask_of(key_group(key, max_parallelism), channels, max_parallelism)


def spread_of(route: Route, channels: Sequence[int], max_parallelism: int, fill: Fill) -> Spread:
    """The function that distributes the rows of one edge. `channels`: of its receivers, in their order."""
    if len(channels) == 1:
        return partial(fill, channels[0])
    match route.partitioning:
        case Partitioning.HASH:
            assert route.key_selector is not None
            return ByKey(channels, route.key_selector, max_parallelism, fill)
        case Partitioning.BROADCAST:
            return lambda rows: _to_all(channels, rows, fill)
        case Partitioning.REBALANCE:
            turns = cycle(channels)
            return lambda rows: fill(next(turns), rows)
        case Partitioning.FORWARD:
            raise ValueError(f"expected one channel of an edge that forwards, got {len(channels)}")
        case _:
            assert_never(route.partitioning)


def _to_all(channels: Sequence[int], rows: Rows, fill: Fill) -> None:
    for channel in channels:
        fill(channel, rows)


class ByKey:
    """Every row to the channel of its key."""

    def __init__(
        self, channels: Sequence[int], key_selector: KeySelector, max_parallelism: int, fill: Fill
    ) -> None:
        self._channels = channels
        self._key_of = key_selector
        self._columns = columns_of(key_selector)
        self._every = max_parallelism
        self._fill = fill
        self._known: dict[Hashable, int] = {}
        self._dictionary: pa.Array | None = None
        self._part_of: Codes | None = None

    def __call__(self, rows: Rows) -> None:
        """Distribute rows."""
        by_columns = isinstance(rows, pa.RecordBatch) and self._columns is not None
        parts = self._of_batch(rows) if by_columns else self._of_rows(rows_of(rows))
        for channel, part in parts:
            if len(part):
                self._fill(channel, part)

    def _of_rows(self, rows: Sequence[Row]) -> Iterator[tuple[int, Rows]]:
        parts: list[list[Row]] = [[] for _ in self._channels]
        known, key_of, key = self._known, self._key_of, None
        try:
            for row in rows:
                key = key_of(row)
                part = known.get(key)
                if part is None:
                    part = self._learnt(key)
                parts[part].append(row)
        except TypeError:
            require_key(key)  # raises for a key without a hash; otherwise the selector has failed
            raise
        return zip(self._channels, parts, strict=True)

    def _of_batch(self, batch: pa.RecordBatch) -> Iterator[tuple[int, Rows]]:
        assert self._columns is not None
        parts = self._by_dictionary(batch)
        if parts is None:
            codes, distinct = self._columns.keys_of(batch)
            parts = self._parts(distinct)[codes]
        for part, channel in enumerate(self._channels):
            yield channel, taken(batch, np.flatnonzero(parts == part))

    def _by_dictionary(self, batch: pa.RecordBatch) -> Codes | None:
        """The channel of every row, if the keys have the dictionary of the previous batch; else None.

        Batches of one part of a file share a dictionary, whose channels are computed once.
        """
        assert self._columns is not None
        column = batch.column(self._columns.columns[0])
        if len(self._columns.columns) > 1 or not pa.types.is_dictionary(column.type) or column.null_count:
            return None
        before, self._dictionary = self._dictionary, column.dictionary
        if before is None or not _is_same(before, self._dictionary):
            self._part_of = None
            return None
        if self._part_of is None:
            self._part_of = self._parts(self._dictionary.to_pylist())
        parts: Codes = self._part_of[column.indices.to_numpy()]
        return parts

    def _parts(self, keys: Sequence[Hashable]) -> Codes:
        known = self._known
        return np.array([self._learnt(key) if key not in known else known[key] for key in keys], np.int64)

    def _learnt(self, key: Hashable) -> int:
        if len(self._known) >= _REMEMBERED_KEYS:
            self._known.clear()
        part = self._known[key] = channel_of(key, len(self._channels), self._every)
        return part


def _is_same(one: pa.Array, other: pa.Array) -> bool:
    """Whether both have the same memory, and not only equal values."""
    if len(one) != len(other) or one.offset != other.offset:
        return False
    places = [[part and part.address for part in array.buffers()] for array in (one, other)]
    return places[0] == places[1]
