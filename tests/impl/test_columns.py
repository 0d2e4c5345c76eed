"""Arrow batches in place of rows: the same keys, the same results, the same target subtasks."""

import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.aggregation.arrow_aggregates import AggregatingColumns, count, greatest, least, sum_of
from impl.aggregation.rows import Aggregating, Emit
from impl.aggregation.sums import AggregateOverflowError
from impl.batches import KeyColumns, columns_of, rows_of
from impl.config import ConfigError
from impl.graph.plan import Partitioning, Route
from impl.job import Job, RateInput
from impl.spark.channels.frames import pack_rows, unpack_rows
from impl.spark.channels.partitioners import channel_of, partitioner
from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend, StateError

WORDS = st.none() | st.sampled_from(["", "a", "b", "the", "\u00e9", "word"])
NUMBERS = st.none() | st.integers(-(2**40), 2**40) | st.sampled_from([0, 1, 2])
FLOATS = st.none() | st.sampled_from([0.0, -0.0, 1.0, 2.5])
ROWS = st.lists(st.tuples(WORDS, NUMBERS, FLOATS), max_size=40)
SCHEMA = pa.schema({"word": pa.string(), "number": pa.int64(), "size": pa.float64()})


def batch_of(rows, *, dictionary=False, around=0):
    """The rows as a batch, or as a slice of a larger batch whose dictionary has more values."""
    filled = [("other", 7, 7.0)] * around + rows + [("another", 8, 8.0)] * around
    columns = [[row[number] for row in filled] for number in range(3)]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    if dictionary:
        arrays[0] = arrays[0].dictionary_encode()
    return pa.RecordBatch.from_arrays(arrays, names=SCHEMA.names).slice(around, len(rows))


@given(ROWS, st.booleans(), st.integers(0, 2), st.sampled_from([(0,), (1,), (2,), (0, 1), (2, 0, 1)]))
def test_keys_of_columns_are_those_of_the_rows(rows, dictionary, around, positions):
    batch = batch_of(rows, dictionary=dictionary, around=around)
    selector = operator.itemgetter(*positions)

    keys = columns_of(selector).keys_of(batch)

    assert rows_of(batch) == rows
    assert keys.by_row() == [selector(row) for row in rows]
    assert len(set(keys.distinct)) == len(keys.distinct)
    assert set(keys.distinct) == {selector(row) for row in rows}
    in_order = [keys.by_row()[row] for row in keys.in_order()]
    assert in_order == [
        key
        for key, first, beyond in zip(keys.distinct, [0, *keys.ends()], keys.ends(), strict=False)
        for _ in range(beyond - first)
    ]


@given(ROWS, ROWS, st.integers(1, 7))
def test_batches_with_one_dictionary_reach_the_subtasks_of_their_rows(rows, others, size):
    route = Route(("x-0", "x-1", "x-2"), Partitioning.HASH, operator.itemgetter(0))
    came = {0: [], 1: [], 2: []}
    partition = partitioner(route, [0, 1, 2], 16, lambda channel, part: came[channel].extend(rows_of(part)))

    for part in (rows, others, rows):
        whole = batch_of(part * 3, dictionary=True)
        for first in range(0, whole.num_rows, size):
            partition(whole.slice(first, size))

    everything = rows * 3 + others * 3 + rows * 3
    for channel, received in came.items():
        assert received == [row for row in everything if channel_of(row[0], 3, 16) == channel]


@pytest.mark.parametrize("columns", [2, 5, 7, 16])
def test_keys_of_many_columns_with_many_values_are_those_of_the_rows(columns):
    rows = 10_000  # 10,000 distinct values to the power of 5 are more than 64 bits hold
    numbers = np.arange(rows)
    arrays = [pa.array((numbers * (number + 1) + number) % rows) for number in range(columns)]
    batch = pa.RecordBatch.from_arrays(arrays, names=[f"c{number}" for number in range(columns)])

    keys = KeyColumns(tuple(range(columns))).keys_of(batch)

    assert keys.by_row() == rows_of(batch)
    assert len(set(keys.distinct)) == len(keys.distinct) == len(set(rows_of(batch)))


def test_columns_have_names_or_positions():
    batch = batch_of([("a", 1, 1.0), ("b", 1, 2.0)])
    assert KeyColumns(("number", "word")).keys_of(batch).by_row() == [(1, "a"), (1, "b")]
    assert columns_of(lambda row: row[0]) is None
    assert columns_of(operator.itemgetter(-1)) is None
    with pytest.raises(TypeError, match="names columns, which rows without a schema do not have"):
        KeyColumns(("word",))(("a", 1))


@given(ROWS, st.booleans())
def test_a_batch_reaches_the_subtasks_of_its_rows(rows, dictionary):
    route = Route(("x-0", "x-1", "x-2"), Partitioning.HASH, operator.itemgetter(0, 1))
    came = {0: [], 1: [], 2: []}
    partition = partitioner(route, [0, 1, 2], 16, lambda channel, part: came[channel].append(part))

    partition(batch_of(rows * 3, dictionary=dictionary))

    parts = {
        channel: [rows_of(unpack_rows(pack_rows(part))) for part in parts] for channel, parts in came.items()
    }
    for channel, received in parts.items():
        expected = [row for row in rows * 3 if channel_of(row[:2], 3, 16) == channel]
        assert [row for part in received for row in part] == expected


def aggregated(rows, cut):
    """The results of the aggregate of columns for the rows in two batches, with a barrier between them."""
    requests = {
        "rows": count(),
        "sum": sum_of("number"),
        "least": least("number"),
        "most": greatest("number"),
    }
    function = AggregatingColumns(KeyColumns(("word", "size")), requests)
    operators = ProcessOperator(function, {0: KeyColumns(("word", "size"))}, HeapKeyedStateBackend())
    known = {}
    for part in (rows[:cut], rows[cut:]):
        operators.inputs[0](batch_of(part, dictionary=bool(cut % 2)))
        shown = rows_of(operators.before_barrier())
        assert {row[:2] for row in shown} == {(row[0], row[2]) for row in part}
        known |= {row[:2]: row[2:] for row in shown}
    return known


@given(ROWS, st.integers(0, 40))
def test_aggregates_of_columns_are_those_of_the_rows(rows, cut):
    exact = {}
    for word, number, size in rows:
        before = exact.get((word, size), (0, []))
        exact[word, size] = before[0] + 1, before[1] + [number] * (number is not None)
    assert aggregated(rows, cut) == {
        key: (rows, sum(numbers) if numbers else None, min(numbers, default=None), max(numbers, default=None))
        for key, (rows, numbers) in exact.items()
    }


class Newest:
    """The list of the rows of a key, in the order in which they arrived."""

    def create_accumulator(self):
        return ()

    def add(self, row, accumulator):
        return (*accumulator, row[1])

    def get_result(self, row, accumulator):
        return (row[0], row[1], accumulator)


@given(ROWS, st.booleans())
def test_updates_that_are_kept_back_are_emitted_once_after_the_last_row_of_their_key(rows, in_batches):
    function = ProcessOperator(
        Aggregating(Newest(), Emit.CHANGED), {0: operator.itemgetter(0)}, HeapKeyedStateBackend()
    )
    half = len(rows) // 2
    for part in (rows[:half], rows[half:]):
        assert function.inputs[0](batch_of(part) if in_batches else part) == ()
    shown = function.before_barrier()
    of_key = {word: tuple(row[1] for row in rows if row[0] == word) for word, _, _ in rows}
    assert sorted(shown, key=repr) == sorted(
        ((word, numbers[-1], numbers) for word, numbers in of_key.items()), key=repr
    )
    assert function.before_barrier() == ()


def test_functions_of_whole_batches_refuse_rows():
    key = KeyColumns((0,))
    function = ProcessOperator(AggregatingColumns(key, {"rows": count()}), {0: key}, HeapKeyedStateBackend())
    with pytest.raises(StateError, match="takes whole batches, keyed by columns if at all, and 1 rows came"):
        function.inputs[0]([("a", 1, 1.0)])


def test_columns_are_aggregated_by_columns():
    numbers = Job("numbers").source("numbers", RateInput(10))
    with pytest.raises(ConfigError, match="'sums': aggregate_columns takes at least one aggregate"):
        numbers.key_by(lambda row: row[0]).aggregate_columns("sums", {"rows": count()})
    with pytest.raises(ConfigError, match="takes at least one aggregate"):
        numbers.key_by("value").aggregate_columns("sums", {})


def sums(parts, **aggregates):
    """The last results of the aggregate of columns for batches of k and v; each part ends in a barrier."""
    requested = aggregates or {"sum": sum_of("v"), "least": least("v"), "most": greatest("v")}
    function = AggregatingColumns(KeyColumns(("k",)), requested)
    operators = ProcessOperator(function, {0: KeyColumns(("k",))}, HeapKeyedStateBackend())
    for batches in parts:
        for values in batches:
            arrays = [pa.array([1] * len(values)), values]
            operators.inputs[0](pa.RecordBatch.from_arrays(arrays, names=["k", "v"]))
        emitted = operators.before_barrier()
    return emitted


LARGE = [
    *((pa.int64(), one) for one in (2**62, -(2**62), 2**63 - 1, -(2**63), 1, -1)),
    *((pa.uint64(), one) for one in (2**63, 2**64 - 1, 1)),
    *((pa.decimal128(38, 2), Decimal(one)) for one in ("9" * 36 + ".99", "-" + "9" * 36 + ".99", "0.01")),
    *((pa.decimal128(30, 5), Decimal(one)) for one in ("1234567890123456789012345.12345", "0.00001")),
    *((pa.decimal256(76, 0), Decimal(one)) for one in ("9" * 74, "1")),
]


@given(st.data(), st.sampled_from(sorted({kind for kind, _ in LARGE}, key=str)))
def test_sums_are_exact_or_refused(data, kind):
    numbers = st.lists(
        st.sampled_from([one for there, one in LARGE if there == kind]), min_size=1, max_size=5
    )
    parts = data.draw(st.lists(st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=3))
    of_part = [sum(map(Fraction, (one for batch in part for one in batch))) for part in parts]
    exact = [sum(of_part[: number + 1]) for number in range(len(of_part))]
    limit = {pa.int64(): 2**63 - 1, pa.uint64(): 2**64 - 1}.get(kind)
    if limit is None:
        limit = Fraction(10**76 - 1 if kind.bit_width > 128 else 10**38 - 1, 10**kind.scale)
    lowest = 0 if kind == pa.uint64() else -limit - (kind == pa.int64())
    columns = [[pa.array(batch, kind) for batch in part] for part in parts]
    if all(lowest <= one <= limit for one in exact):
        row = rows_of(sums(columns))[0]
        assert row[0] == 1
        assert Fraction(row[1]) == exact[-1]
    else:
        with pytest.raises(AggregateOverflowError, match=r"cannot store|more than 76 digits"):
            sums(columns)


def test_an_intermediate_sum_may_exceed_64_bits():
    column = pa.array([2**62, 2**62, -(2**62), -(2**62), 5])
    (row,) = rows_of(sums([[column, column.slice(0, 2), column.slice(2, 2)]]))
    assert row == (1, 5, -(2**62), 2**62)
    with pytest.raises(AggregateOverflowError, match=r"'sum' of the result is int64.* 9223372036854775808"):
        sums([[column.slice(0, 2)]])


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_the_least_and_the_greatest_are_numbers_wherever_the_batches_end(kind, cut):
    column = pa.array([float("nan"), 2.0, 1.0, float("nan"), None], kind)
    for parts in ([[column]], [[column[:cut], column[cut:]]], [[column[:cut]], [column[cut:]]]):
        (row,) = rows_of(sums(parts, least=least("v"), most=greatest("v")))
        assert row == (1, 1.0, 2.0)
    (row,) = rows_of(sums([[column[:1]], [column[3:]]], least=least("v")))
    assert row[1] != row[1]
