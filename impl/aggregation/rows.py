"""Aggregates by key of rows, one by one, with functions of the user's.

An aggregate answers an update for every row; or they are kept back until the next barrier, and then one is
told for each key that has changed. They leave before the barrier does, so no snapshot has to hold them.
"""

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from typing import Any, Final, Protocol, TypeVar

import pyarrow as pa

from impl.batches import Keys, rows_of
from impl.graph.plan import Row
from impl.state import KeyedStateBackend

Accumulator = TypeVar("Accumulator")

_WORTH_SORTING: Final = 4
"""So many rows of a key, on average, and going key by key costs less than looking each row's key up."""


class AggregateFunction(Protocol[Accumulator]):
    """An aggregate for each key."""

    def create_accumulator(self) -> Accumulator:
        """The accumulator of a key without rows. It must not be changed in place."""

    def add(self, row: Row, accumulator: Accumulator) -> Accumulator:
        """The accumulator after one more row."""

    def get_result(self, row: Row, accumulator: Accumulator) -> Row:
        """What to emit after `row`."""


class Emit(Enum):
    """When an aggregate tells its results."""

    EACH_ROW = "each row"
    """An update for every row, in its order."""
    CHANGED = "changed"
    """Before each barrier and at the end, an update for every key that has changed, after its last row."""


class Aggregating:
    """The process function that keeps an aggregate of rows."""

    def __init__(self, aggregate: AggregateFunction[Any], emit: Emit = Emit.EACH_ROW) -> None:
        self._aggregate = aggregate
        self._changed: dict[Hashable, Row] | None = {} if emit is Emit.CHANGED else None
        if self._changed is not None:
            self.process_keyed_batch = self._by_key

    def open(self, state: KeyedStateBackend) -> None:
        """Take hold of the accumulators."""
        self._state = state.value_state("accumulator", immutable=True)
        self._get, self._put = self._state.get, self._state.put

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Add the row to its key's accumulator."""
        return self.process_keyed_rows((key,), (row,))

    def process_keyed_rows(self, keys: Sequence[Hashable], rows: Sequence[Row]) -> Sequence[Row]:
        """The same for a whole batch, row by row in its order: nothing is looked up twice."""
        get, put, add = self._get, self._put, self._aggregate.add
        fresh = self._aggregate.create_accumulator()
        if self._changed is not None:
            for key, row in zip(keys, rows, strict=True):
                put(key, add(row, get(key, fresh)))
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
        """The same for a batch of Arrow whose updates are kept back: key by key, each in its order."""
        if len(keys.codes) < _WORTH_SORTING * len(keys.distinct):
            return self.process_keyed_rows(keys.by_row(), rows_of(batch))
        add, fresh = self._aggregate.add, self._aggregate.create_accumulator()
        rows = rows_of(batch.take(pa.array(keys.in_order())))
        after, first = [], 0
        for before, beyond in zip(self._state.get_all(keys.distinct), keys.ends(), strict=True):
            accumulator = fresh if before is None else before
            for row in rows[first:beyond]:
                accumulator = add(row, accumulator)
            after.append(accumulator)
            first = beyond
        self._state.put_all(keys.distinct, after)
        assert self._changed is not None
        self._changed.update(zip(keys.distinct, (rows[beyond - 1] for beyond in keys.ends()), strict=True))
        return ()

    def before_barrier(self) -> Sequence[Row]:
        """The updates that were kept back."""
        if not self._changed:
            return ()
        result_of, after = self._aggregate.get_result, self._state.get_all([*self._changed])
        kept_back = list(map(result_of, self._changed.values(), after))
        self._changed.clear()
        return kept_back
