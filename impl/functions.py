"""What a user writes: functions over keyed rows. Flink's names, as far as they fit.

State belongs to the engine, is held by key or by subtask and is in every snapshot; a function that keeps
anything else keeps what a restore forgets. A function must be deterministic in its row and its state, or a
replay after a failure tells another story than the one before it.

Every subtask has a copy of its function, made when an attempt starts. It is called in this order, by one
thread; only `process_element` has to be there.

    initialize_state(store)          the operator state, which holds what was restored (CheckpointedFunction)
    open(state)                      the keyed state, which holds what was restored
    process_element(key, row)        for each row
    snapshot_state(checkpoint)       between two rows: the operator state takes over what it has to hold
    finish()                         the end of the data: answers the last rows
    close()                          the attempt has ended, well or not
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from impl.plan import KeySelector, Row
from impl.state import KeyedStateBackend, OperatorStateStore


class ProcessFunction(Protocol):
    """A function of one row and, on a keyed stream, the state of its key."""

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row; answers the rows to emit. `key` is None where the stream is not keyed."""


class RichFunction(Protocol):
    """What a function has as well if it keeps keyed state, or anything else to be opened and closed."""

    def open(self, state: KeyedStateBackend) -> None:
        """Take hold of the named states."""

    def close(self) -> None:
        """Let go of everything."""


class CheckpointedFunction(Protocol):
    """What a function has as well if it keeps operator state."""

    def initialize_state(self, store: OperatorStateStore) -> None:
        """Take hold of the named lists; `store.restored` tells from which checkpoint, if from any."""

    def snapshot_state(self, checkpoint: int) -> None:
        """A snapshot is taken: what the function holds besides the lists goes into them now."""


class CoProcessFunction(Protocol):
    """A function of two inputs. A key is None for an input that is not keyed, a broadcast one say."""

    def process_element1(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row of the first input; answers the rows to emit."""

    def process_element2(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row of the second input; answers the rows to emit."""


Accumulator = TypeVar("Accumulator")


class AggregateFunction(Protocol[Accumulator]):
    """An aggregate for each key; every row emits the result that it has led to."""

    def create_accumulator(self) -> Accumulator:
        """The accumulator of a key without rows. It must not be changed in place."""

    def add(self, row: Row, accumulator: Accumulator) -> Accumulator:
        """The accumulator after one more row."""

    def get_result(self, row: Row, accumulator: Accumulator) -> Row:
        """What to emit after `row`."""


class Aggregating:
    """The process function that keeps an aggregate."""

    def __init__(self, aggregate: AggregateFunction[Any]) -> None:
        self._aggregate = aggregate

    def open(self, state: KeyedStateBackend) -> None:
        """Take hold of the accumulators."""
        accumulators = state.value_state("accumulator", immutable=True)
        self._get, self._put = accumulators.get, accumulators.put

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Add the row to its key's accumulator and emit the result."""
        return self.process_keyed_rows(lambda _: key, (row,))

    def process_keyed_rows(self, key_of: KeySelector, rows: Sequence[Row]) -> Sequence[Row]:
        """The same for a whole batch, row by row in its order: nothing is looked up twice."""
        get, put, add, result_of = self._get, self._put, self._aggregate.add, self._aggregate.get_result
        out: list[Row] = []
        for row in rows:
            key = key_of(row)
            before = get(key)
            if before is None:
                before = self._aggregate.create_accumulator()
            accumulator = add(row, before)
            put(key, accumulator)
            out.append(result_of(row, accumulator))
        return out


class _Rowwise(ABC):
    """A function without state, over whole batches."""

    def __init__(self, function: Callable[[Row], Any]) -> None:
        self._function = function

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """One row of a batch."""
        return self.process_rows((row,))

    @abstractmethod
    def process_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """What becomes of a batch."""


class Mapping(_Rowwise):
    """One row for each row."""

    def process_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """What becomes of a batch."""
        return [self._function(row) for row in rows]


class FlatMapping(_Rowwise):
    """Any number of rows for each row."""

    def process_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """What becomes of a batch."""
        return [made for row in rows for made in self._function(row)]


class Filtering(_Rowwise):
    """The rows for which the function holds."""

    def process_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """What becomes of a batch."""
        return [row for row in rows if self._function(row)]
