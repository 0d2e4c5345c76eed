"""What a user writes: functions over keyed rows. Flink's names, as far as they fit.

State is held by key and belongs to the engine: it is in every snapshot, and a function that keeps
anything else keeps what a restore forgets. A function must be deterministic in its row and its state, or
a replay after a failure tells another story than the one before it.
"""

from collections.abc import Hashable, Iterable
from typing import Any, Protocol, TypeVar

from impl.plan import Row
from impl.state import KeyedStateBackend


class ProcessFunction(Protocol):
    """A function of one row and the state of its key."""

    def open(self, state: KeyedStateBackend) -> None:
        """Take hold of the named states, which hold what was restored; called once, before any row."""

    def process_element(self, key: Hashable, row: Row) -> Iterable[Row]:
        """Handle one row; answers the rows to emit."""


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
        before = self._get(key)
        if before is None:
            before = self._aggregate.create_accumulator()
        accumulator = self._aggregate.add(row, before)
        self._put(key, accumulator)
        return (self._aggregate.get_result(row, accumulator),)
