"""Aggregates of the rows of each key, with functions of the user.

An aggregate emits an update for every row (`Emit.EACH_ROW`), or before each barrier one update for each key
that has changed (`Emit.CHANGED`). The updates leave before the barrier, so no snapshot contains them. With
`Emit.CHANGED`, the function holds the accumulators of the changed keys in memory, and writes them into the
state before the barrier. So it reads and writes the state of a key once a checkpoint, not once a batch.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, Protocol, TypeVar

import pyarrow as pa

from impl.batches import Keys, rows_in_slices, rows_of
from impl.graph.plan import Row
from impl.state import KeyedStateBackend

Accumulator = TypeVar("Accumulator")

_WORTH_SORTING: Final = 2
"""If keys have at least this many rows on average, sorting by key costs less than a lookup for each row."""
_ROWS_AT_ONCE: Final = 4_096
"""The number of rows of a sorted batch that become Python objects at once."""


class AggregateFunction(Protocol[Accumulator]):
    """An aggregate for each key."""

    def create_accumulator(self) -> Accumulator:
        """The accumulator of a key without rows. No function may change it in place."""

    def add(self, row: Row, accumulator: Accumulator) -> Accumulator:
        """The accumulator after one more row."""

    def get_result(self, row: Row, accumulator: Accumulator) -> Row:
        """The row to emit after `row`."""


class Emit(Enum):
    """When an aggregate emits its results."""

    EACH_ROW = "each row"
    """An update for every row, in the order of the rows."""
    CHANGED = "changed"
    """Before each barrier and at the end of the data, an update for the last row of each changed key."""


class Aggregating:
    """The process function of an aggregate of rows."""

    def __init__(self, aggregate: AggregateFunction[Any], emit: Emit = Emit.EACH_ROW) -> None:
        self._aggregate = aggregate
        self._changed: dict[Hashable, Row] | None = {} if emit is Emit.CHANGED else None
        """The last row of each key that has changed since the last barrier."""
        self._accumulators: dict[Hashable, Any] = {}
        """The accumulators of the keys that have changed since the last barrier."""
        self.buffers_batches = self._changed is not None
        """Whether the worker may collect several batches before a call (`impl.spark.worker.batch_buffer`)."""
        if self._changed is not None:
            self.process_keyed_batch = self._by_key

    def open(self, state: KeyedStateBackend) -> None:
        """Open the state, which has the accumulator of each key."""
        self._state = state.value_state("accumulator", immutable=True)
        self._get, self._put = self._state.get, self._state.put

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Add the row to its key's accumulator."""
        return self.process_keyed_rows((key,), (row,))

    def process_keyed_rows(self, keys: Sequence[Hashable], rows: Sequence[Row]) -> Sequence[Row]:
        """Do the same as `process_element` for many rows, in their order. `keys`: the key of each row."""
        get, put, add = self._get, self._put, self._aggregate.add
        fresh = self._aggregate.create_accumulator()
        if self._changed is not None:
            accumulators = self._accumulators
            for key, row in zip(keys, rows, strict=True):
                accumulators[key] = add(row, accumulators[key] if key in accumulators else get(key, fresh))
            self._changed.update(zip(keys, rows, strict=True))
            return ()
        result_of = self._aggregate.get_result
        out: list[Row] = []
        for key, row in zip(keys, rows, strict=True):
            accumulator = add(row, get(key, fresh))
            put(key, accumulator)
            out.append(result_of(row, accumulator))
        return out

    def _by_key(self, keys: Keys, batch: pa.RecordBatch) -> Sequence[Row]:
        """Do the same as `process_keyed_rows` for an Arrow batch with `Emit.CHANGED`, key by key."""
        if len(keys.codes) < _WORTH_SORTING * len(keys.distinct):
            return self.process_keyed_rows(keys.by_row(), rows_of(batch))
        assert self._changed is not None
        add, fresh = self._aggregate.add, self._aggregate.create_accumulator()
        accumulators, changed = self._accumulators, self._changed
        others = [key for key in keys.distinct if key not in accumulators]
        if others:
            found = (fresh if one is None else one for one in self._state.get_all(others))
            accumulators.update(zip(others, found, strict=True))
        in_order, ends = batch.take(pa.array(keys.in_order())), keys.ends()
        ranges = [*_key_ranges(ends)]
        rows_of_ranges = rows_in_slices(in_order, [ends[beyond - 1] for _, beyond in ranges])
        first = 0
        for (one, other), rows in zip(ranges, rows_of_ranges, strict=True):
            start = first
            for key, beyond in zip(keys.distinct[one:other], ends[one:other], strict=True):
                accumulator = accumulators[key]
                for row in rows[first - start : beyond - start]:
                    accumulator = add(row, accumulator)
                accumulators[key] = accumulator
                changed[key] = rows[beyond - start - 1]
                first = beyond
        return ()

    def before_barrier(self) -> Sequence[Row]:
        """Store the accumulators of the keys that have changed since the last barrier; return the updates."""
        if not self._changed:
            return ()
        keys, accumulators = [*self._changed], self._accumulators
        after = [accumulators[key] for key in keys]
        self._state.put_all(keys, after)
        updates = list(map(self._aggregate.get_result, self._changed.values(), after))
        self._changed.clear()
        accumulators.clear()
        return updates


def _key_ranges(ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Split keys into ranges (first, last + 1) of about `_ROWS_AT_ONCE` rows. A range has at least one key.

    `ends`: for each key the position after its last row, ascending.
    """
    key = rows = 0
    while key < len(ends):
        beyond = min(bisect_left(ends, rows + _ROWS_AT_ONCE, key) + 1, len(ends))
        yield key, beyond
        key, rows = beyond, ends[beyond - 1]
