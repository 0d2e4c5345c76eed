"""The partitioners of an edge. They distribute rows over its output channels by hash, rebalance or broadcast.

Lists of rows are partitioned row by row, Arrow batches by their columns. In both cases, hash sends a row to
the subtask that owns the key group of its key. Rebalance sends whole lists or batches in turn (round robin).
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
"""The maximum number of keys in the cache of receivers. A full cache is cleared, to bound the memory."""

Append = Callable[[int, Rows], None]
"""A function that appends rows to the buffer of a channel, given by its number."""
Partitioner = Callable[[Rows], None]
"""A function that distributes rows over the channels of one edge."""


def channel_of(key: object, channels: int, max_parallelism: int = DEFAULT_MAX_PARALLELISM) -> int:
    """The index of the receiver that owns the key group of `key`. `channels`: the number of receivers."""
    return subtask_of(key_group(key, max_parallelism), channels, max_parallelism)


def partitioner(route: Route, channels: Sequence[int], max_parallelism: int, append: Append) -> Partitioner:
    """The partitioner of `route`. `channels`: the channel numbers of its receivers, by subtask index.

    An edge with one receiver needs no partitioning. Raises ValueError for a forward edge with several
    receivers.
    """
    if len(channels) == 1:
        return partial(append, channels[0])
    match route.partitioning:
        case Partitioning.HASH:
            assert route.key_selector is not None
            return KeyPartitioner(channels, route.key_selector, max_parallelism, append)
        case Partitioning.BROADCAST:
            return lambda rows: _broadcast(channels, rows, append)
        case Partitioning.REBALANCE:
            round_robin = cycle(channels)
            return lambda rows: append(next(round_robin), rows)
        case Partitioning.FORWARD:
            raise ValueError(f"expected one channel for a forward edge, got {len(channels)}")
        case _:
            assert_never(route.partitioning)


def _broadcast(channels: Sequence[int], rows: Rows, append: Append) -> None:
    for channel in channels:
        append(channel, rows)


class KeyPartitioner:
    """Sends each row to the receiver that owns the key group of its key."""

    def __init__(
        self, channels: Sequence[int], key_selector: KeySelector, max_parallelism: int, append: Append
    ) -> None:
        self._channels = channels
        self._key_of = key_selector
        self._columns = columns_of(key_selector)
        self._max_parallelism = max_parallelism
        self._append = append
        self._known: dict[Hashable, int] = {}
        self._dictionary: pa.Array | None = None
        self._receivers_by_code: Codes | None = None

    def __call__(self, rows: Rows) -> None:
        """Append each row to its channel. Raises UnsupportedKeyError for a key that has no stable hash."""
        by_columns = isinstance(rows, pa.RecordBatch) and self._columns is not None
        by_channel = self._of_batch(rows) if by_columns else self._of_rows(rows_of(rows))
        for channel, its_rows in by_channel:
            if len(its_rows):
                self._append(channel, its_rows)

    def _of_rows(self, rows: Sequence[Row]) -> Iterator[tuple[int, Rows]]:
        by_receiver: list[list[Row]] = [[] for _ in self._channels]
        known, key_of, key = self._known, self._key_of, None
        try:
            for row in rows:
                key = key_of(row)
                receiver = known.get(key)
                if receiver is None:
                    receiver = self._receiver_of(key)
                by_receiver[receiver].append(row)
        except TypeError:
            require_key(key)  # raises an error for a key without a hash; else the selector has failed
            raise
        return zip(self._channels, by_receiver, strict=True)

    def _of_batch(self, batch: pa.RecordBatch) -> Iterator[tuple[int, Rows]]:
        assert self._columns is not None
        receivers = self._by_dictionary(batch)
        if receivers is None:
            codes, distinct = self._columns.keys_of(batch)
            receivers = self._receivers_of(distinct)[codes]
        for receiver, channel in enumerate(self._channels):
            yield channel, taken(batch, np.flatnonzero(receivers == receiver))

    def _by_dictionary(self, batch: pa.RecordBatch) -> Codes | None:
        """The receiver of every row, if the key column has the same dictionary as the last batch; else None.

        Batches that a source cuts from one block of a file share a dictionary. So the receivers of its keys
        are computed once.
        """
        assert self._columns is not None
        column = batch.column(self._columns.columns[0])
        if len(self._columns.columns) > 1 or not pa.types.is_dictionary(column.type) or column.null_count:
            return None
        before, self._dictionary = self._dictionary, column.dictionary
        if before is None or not _shares_memory(before, self._dictionary):
            self._receivers_by_code = None
            return None
        if self._receivers_by_code is None:
            self._receivers_by_code = self._receivers_of(self._dictionary.to_pylist())
        receivers: Codes = self._receivers_by_code[column.indices.to_numpy()]
        return receivers

    def _receivers_of(self, keys: Sequence[Hashable]) -> Codes:
        known = self._known
        return np.array(
            [self._receiver_of(key) if key not in known else known[key] for key in keys], np.int64
        )

    def _receiver_of(self, key: Hashable) -> int:
        if len(self._known) >= _REMEMBERED_KEYS:
            self._known.clear()
        receiver = self._known[key] = channel_of(key, len(self._channels), self._max_parallelism)
        return receiver


def _shares_memory(one: pa.Array, other: pa.Array) -> bool:
    """Whether both arrays use the same buffers. Equal values alone are not enough."""
    if len(one) != len(other) or one.offset != other.offset:
        return False
    addresses = [[buffer and buffer.address for buffer in array.buffers()] for array in (one, other)]
    return addresses[0] == addresses[1]
