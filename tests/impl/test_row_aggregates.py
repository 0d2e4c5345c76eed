"""Aggregates of rows with one update a barrier: when their state is read and written."""

import operator

import pyarrow as pa
import pytest

from impl.aggregation.rows import Aggregating, Emit
from impl.batches import KeyColumns
from impl.state.backends.heap import HeapKeyedStateBackend


class Sums:
    """The number of rows and the sum of their values, by word."""

    def create_accumulator(self):
        return 0, 0

    def add(self, row, accumulator):
        return accumulator[0] + 1, accumulator[1] + row[1]

    def get_result(self, row, accumulator):
        return (row[0], *accumulator)


class Recording:
    """A value state that records how it is used."""

    def __init__(self, backend):
        self._backend = backend
        self.used = []

    def value_state(self, name, *, immutable=False):
        self._state = self._backend.value_state(name, immutable=immutable)
        return self

    def get(self, key, default=None):
        self.used.append(("read", [key]))
        return self._state.get(key, default)

    def put(self, key, value):
        self.used.append(("write", [key]))
        self._state.put(key, value)

    def get_all(self, keys):
        self.used.append(("read", sorted(keys)))
        return self._state.get_all(keys)

    def put_all(self, keys, values):
        self.used.append(("write", sorted(keys)))
        self._state.put_all(keys, values)


@pytest.fixture
def state():
    return Recording(HeapKeyedStateBackend())


@pytest.fixture
def sums(state):
    made = Aggregating(Sums(), Emit.CHANGED)
    made.open(state)
    return made


def by_batch(sums, *rows):
    """As Arrow batches arrive; enough rows for each key that they are sorted by key."""
    words, values = zip(*rows, strict=True)
    batch = pa.RecordBatch.from_arrays([pa.array(words), pa.array(values)], names=["word", "value"])
    sums.process_keyed_batch(KeyColumns((0,)).keys_of(batch), batch)


def by_row(sums, *rows):
    sums.process_keyed_rows([operator.itemgetter(0)(row) for row in rows], rows)


FOUR = (("a", 1), ("a", 2), ("a", 3), ("a", 4))


@pytest.mark.parametrize("process", [by_batch, by_row])
def test_the_state_is_read_and_written_once_a_key_and_barrier(sums, state, process):
    process(sums, *FOUR)
    process(sums, *FOUR)

    assert sums.before_barrier() == [("a", 8, 20)]
    assert state.used == [("read", ["a"]), ("write", ["a"])]


def test_rows_and_batches_of_a_key_have_one_accumulator(sums):
    by_row(sums, ("a", 1), ("b", 1))
    by_batch(sums, *FOUR)
    by_row(sums, ("b", 5))

    assert sums.before_barrier() == [("a", 5, 11), ("b", 2, 6)]


@pytest.mark.parametrize("process", [by_batch, by_row])
def test_after_a_barrier_the_state_has_what_was_emitted(sums, state, process):
    process(sums, *FOUR)
    sums.before_barrier()

    assert state.get("a") == (4, 10)
    assert sums.before_barrier() == ()

    process(sums, *FOUR)
    assert sums.before_barrier() == [("a", 8, 20)]


@pytest.mark.parametrize("process", [by_batch, by_row])
def test_another_subtask_continues_from_the_state_of_the_barrier(sums, state, process):
    process(sums, *FOUR)
    sums.before_barrier()
    process(sums, *FOUR)  # lost with the subtask

    restored = Aggregating(Sums(), Emit.CHANGED)
    restored.open(state)
    process(restored, *FOUR)

    assert restored.before_barrier() == [("a", 8, 20)]
