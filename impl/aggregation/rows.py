"""Aggregates by key of rows, with functions of the user.

An aggregate emits an update for every row, or before each barrier one for each key that has changed. The
updates leave before the barrier, so no snapshot contains them. In the second case the accumulators of the
keys that have changed since the last barrier are in memory, and the state gets them before the barrier: it is
read and written once for each key and checkpoint, not once for each batch.
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
"""Average number of rows of a key from which sorting by key costs less than a lookup for each row."""


class AggregateFunction(Protocol[Accumulator]):
    """An aggregate for each key."""

    def create_accumulator(self) -> Accumulator:
        """The accumulator of a key without rows; it must not be changed in place."""

    def add(self, row: Row, accumulator: Accumulator) -> Accumulator:
        """The accumulator after one more row."""

    def get_result(self, row: Row, accumulator: Accumulator) -> Row:
        """The row to emit after `row`."""


class Emit(Enum):
    """When an aggregate emits its results."""

    EACH_ROW = "each row"
    """An update for every row, in its order."""
    CHANGED = "changed"
    """Before each barrier and at the end, an update for every key that has changed, after its last row."""


class Aggregating:
    """The process function of an aggregate of rows."""

    def __init__(self, aggregate: AggregateFunction[Any], emit: Emit = Emit.EACH_ROW) -> None:
        self._aggregate = aggregate
        self._changed: dict[Hashable, Row] | None = {} if emit is Emit.CHANGED else None
        """The last row of each key that has changed since the last barrier."""
        self._accumulators: dict[Hashable, Any] = {}
        """Of these keys."""
        if self._changed is not None:
            self.process_keyed_batch = self._by_key

    def open(self, state: KeyedStateBackend) -> None:
        """Open the accumulators."""
        self._state = state.value_state("accumulator", immutable=True)
        self._get, self._put = self._state.get, self._state.put

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Add the row to its key's accumulator."""
        return self.process_keyed_rows((key,), (row,))

    def process_keyed_rows(self, keys: Sequence[Hashable], rows: Sequence[Row]) -> Sequence[Row]:
        """As `process_element` for a whole batch, in the order of its rows."""
        get, put, add = self._get, self._put, self._aggregate.add
        fresh = self._aggregate.create_accumulator()
        if self._changed is not None:
            held = self._accumulators
            for key, row in zip(keys, rows, strict=True):
                held[key] = add(row, held[key] if key in held else get(key, fresh))
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
        """As `process_keyed_rows` for an Arrow batch with `Emit.CHANGED`, key by key."""
        if len(keys.codes) < _WORTH_SORTING * len(keys.distinct):
            return self.process_keyed_rows(keys.by_row(), rows_of(batch))
        add, fresh = self._aggregate.add, self._aggregate.create_accumulator()
        rows = rows_of(batch.take(pa.array(keys.in_order())))
        held, first = self._accumulators, 0
        others = [key for key in keys.distinct if key not in held]
        if others:
            found = (fresh if one is None else one for one in self._state.get_all(others))
            held.update(zip(others, found, strict=True))
        for key, beyond in zip(keys.distinct, keys.ends(), strict=True):
            accumulator = held[key]
            for row in rows[first:beyond]:
                accumulator = add(row, accumulator)
            held[key] = accumulator
            first = beyond
        assert self._changed is not None
        self._changed.update(zip(keys.distinct, (rows[beyond - 1] for beyond in keys.ends()), strict=True))
        return ()

    def before_barrier(self) -> Sequence[Row]:
        """One update for each key that has changed since the last barrier; the state gets its accumulator."""
        if not self._changed:
            return ()
        keys, held = [*self._changed], self._accumulators
        after = [held[key] for key in keys]
        self._state.put_all(keys, after)
        updates = list(map(self._aggregate.get_result, self._changed.values(), after))
        self._changed.clear()
        held.clear()
        return updates
