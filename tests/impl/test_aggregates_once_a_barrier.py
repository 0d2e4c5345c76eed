"""Aggregates of rows and of columns that emit one update a barrier: when they read and write their state."""

import operator

import pyarrow as pa
import pytest

from impl.aggregation import arrow_aggregates
from impl.aggregation.arrow_aggregates import AggregatingColumns, count, sum_of
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
    """Passes the rows as Arrow batches; each key has so many rows that the rows are sorted by key."""
    words, values = zip(*rows, strict=True)
    batch = pa.RecordBatch.from_arrays([pa.array(words), pa.array(values)], names=["word", "value"])
    sums.process_keyed_batch(KeyColumns((0,)).keys_of(batch), batch)


def by_row(sums, *rows):
    sums.process_keyed_rows([operator.itemgetter(0)(row) for row in rows], rows)


FOUR = (("a", 1), ("a", 2), ("a", 3), ("a", 4))


@pytest.mark.parametrize("process", [by_batch, by_row])
def test_the_state_is_read_and_written_once_per_key_and_barrier(sums, state, process):
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


def column_sums(state):
    made = AggregatingColumns(KeyColumns(("word",)), {"count": count(), "total": sum_of("value")})
    made.open(state)
    return made


def columns(*rows):
    words, values = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(words), pa.array(values)], names=["word", "value"])


def test_columns_read_and_write_the_state_once_a_key_and_barrier(state, monkeypatch):
    monkeypatch.setattr(arrow_aggregates, "_GROUPS", 1)  # every batch is merged at once
    sums = column_sums(state)
    sums.process_batch(columns(("a", 1), ("a", 2)))
    sums.process_batch(columns(("a", 3), ("b", 4)))

    assert sums.before_barrier().to_pydict() == {"word": ["a", "b"], "count": [3, 1], "total": [6, 4]}
    assert state.used == [("read", ["a"]), ("read", ["b"]), ("write", ["a", "b"])]
    assert state.get_all(["a", "b"]) == [(3, 6), (1, 4)]


def test_columns_continue_from_the_state_of_the_barrier(state):
    sums = column_sums(state)
    sums.process_batch(columns(("a", 1)))
    sums.before_barrier()
    sums.process_batch(columns(("a", 5)))  # lost with the subtask

    restored = column_sums(state)
    restored.process_batch(columns(("a", 2)))

    assert restored.before_barrier().to_pydict() == {"word": ["a"], "count": [2], "total": [3]}
