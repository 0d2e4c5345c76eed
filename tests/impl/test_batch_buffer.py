"""Batches that wait for others until a barrier: the function gets every row, in order, before the barrier."""

import operator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from impl.aggregation import rows as aggregates_of_rows
from impl.aggregation.rows import Aggregating, Emit
from impl.batches import rows_of
from impl.spark.worker import batch_buffer
from impl.spark.worker.batch_buffer import BatchBuffer, united
from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend, pack, sections_of

PLAIN, NARROW, WIDE = (
    pa.string(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.string()),
)
LIST = None


class Story:
    """The values of a key, in the order in which they arrived."""

    def create_accumulator(self):
        return ()

    def add(self, row, accumulator):
        return (*accumulator, row[1])

    def get_result(self, row, accumulator):
        return (*row, accumulator)


def batch(rows, kind=PLAIN):
    words, values = zip(*rows, strict=True) if rows else ((), ())
    return pa.RecordBatch.from_arrays([pa.array(words, kind), pa.array(values, pa.int64())], names=["w", "v"])


def operator_of(backend=None):
    backend = backend or HeapKeyedStateBackend()
    return ProcessOperator(Aggregating(Story(), Emit.CHANGED), {0: operator.itemgetter(0)}, backend)


@pytest.fixture
def calls(monkeypatch):
    """The arguments of the calls to a function of batches that gets at least three rows at once."""
    monkeypatch.setattr(batch_buffer, "_ROWS", 3)
    return []


def recorded(calls):
    return BatchBuffer(lambda rows: calls.append(rows) or ())


def test_batches_wait_until_there_are_enough_rows(calls):
    buffer = recorded(calls)
    buffer(batch([("a", 1)]))
    buffer(batch([("b", 2)]))
    assert calls == []

    buffer(batch([("c", 3), ("d", 4)]))
    assert [one.column("v").to_pylist() for one in calls] == [[1, 2, 3, 4]]


def test_few_rows_do_not_wait_if_they_are_large(calls, monkeypatch):
    monkeypatch.setattr(batch_buffer, "_BYTES", 1_000)
    buffer = recorded(calls)
    buffer(batch([("a" * 100, 1)]))
    assert calls == []

    buffer(batch([("a" * 1_000, 2)]))
    assert [one.num_rows for one in calls] == [2]


def test_rows_one_by_one_keep_their_place_behind_batches_that_wait(calls):
    buffer = recorded(calls)
    buffer(batch([("a", 1)]))
    buffer([("b", 2)])

    assert [one.num_rows for one in calls[:1]] == [1]
    assert calls[1:] == [[("b", 2)]]


def test_no_row_waits_beyond_a_barrier():
    backend = HeapKeyedStateBackend()
    stories = operator_of(backend)
    assert stories.inputs[0](batch([("a", 1), ("b", 2)])) == ()
    assert stories.before_barrier() == [("a", 1, (1,)), ("b", 2, (2,))]
    snapshot = sections_of(pack(stories.snapshot(1)()), "stories-0")

    restored = HeapKeyedStateBackend()
    restored.restore([snapshot])
    again = operator_of(restored)
    again.inputs[0](batch([("a", 3)]))
    assert again.finish() == [("a", 3, (1, 3))]


def test_dictionaries_with_narrow_indices_are_united_without_an_overflow():
    parts = [batch([(f"{one}-{number}", number) for number in range(100)], NARROW) for one in range(3)]
    (whole,) = united(parts)
    assert whole.column("w").to_pylist() == [f"{one}-{number}" for one in range(3) for number in range(100)]


def test_batches_of_other_columns_stay_apart_and_in_order():
    other = pa.RecordBatch.from_pydict({"w": ["x"], "v": [0.5]})
    first, second = batch([("a", 1)]), batch([("b", 2)])
    assert [one.num_rows for one in united([first, second, other, first])] == [2, 1, 1]


PARTS = st.lists(
    st.tuples(
        st.sampled_from([PLAIN, NARROW, WIDE, LIST]),
        st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 9)), max_size=8),
        st.booleans(),
    ),
    max_size=6,
)


@given(PARTS, st.integers(1, 12), st.integers(1, 4))
@example([(WIDE, [("a", 1), ("a", 2), ("b", 3)], False), (PLAIN, [("a", 4), ("a", 5)], True)], 12, 1)
def test_the_updates_are_those_of_rows_one_by_one(parts, waiting, at_once):
    """The rows come in parts, and each part may end in a barrier."""
    stories, alone = operator_of(), operator_of()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batch_buffer, "_ROWS", waiting)
        patched.setattr(aggregates_of_rows, "_ROWS_AT_ONCE", at_once)
        for kind, rows, barrier in (*parts, (LIST, [], True)):
            stories.inputs[0](rows if kind is LIST else batch(rows, kind))
            for row in rows:
                alone.inputs[0]([row])
            if barrier:
                emitted, exact = stories.before_barrier(), alone.before_barrier()
                assert sorted(emitted, key=repr) == sorted(exact, key=repr)


@pytest.mark.parametrize(
    "values",
    [pa.array(np.array([1, 2], np.float16)), pa.array([0.0, -0.0]), pa.array([[1], [2, 3]])],
    ids=["half floats", "signs of zero", "lists"],
)
@pytest.mark.parametrize("index", [pa.int8(), pa.int32()])
def test_dictionaries_that_arrow_does_not_unite_exactly_keep_their_values(values, index):
    parts = [
        pa.RecordBatch.from_arrays(
            [pa.DictionaryArray.from_arrays(pa.array([0, 1], index), values.take(pa.array(order)))], ["v"]
        )
        for order in ([0, 1], [1, 0])
    ]
    rows = [row for part in parts for row in rows_of(part)]
    united_rows = [row for one in united(parts) for row in rows_of(one)]
    assert repr(united_rows) == repr(rows)  # 0.0 == -0.0
