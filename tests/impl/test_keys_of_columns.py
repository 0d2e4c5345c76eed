"""Keys of columns equal the keys of rows and have the same key groups, for every type of Arrow."""

import operator
from datetime import date
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pytest

from impl.aggregation.arrow_aggregates import AggregatingColumns
from impl.aggregation.arrow_aggregates import count as count_rows
from impl.aggregation.rows import Aggregating
from impl.batches import KeyColumns, columns_of, rows_of
from impl.graph.plan import Partitioning, Route
from impl.jobs.numbers import Totals
from impl.spark.channels.partitioners import channel_of, partitioner
from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend, UnsupportedKeyError
from impl.state.backends.key_bytes import key_bytes

MICROSECONDS = [0, 1, 1_600_000_000_000_000]
COLUMNS = [
    pa.array([None, None], pa.null()),
    pa.array([True, None, False, True]),
    *(pa.array([0, 1, None, 100], kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *(pa.array([0, 1, None, 100], kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32())),
    pa.array([0, 2**63, 2**64 - 1, None], pa.uint64()),
    *(pa.array([0.0, -0.0, 1.5, None], kind) for kind in (pa.float16(), pa.float32(), pa.float64())),
    *(pa.array(["a", "", None, "a\0"], kind) for kind in (pa.string(), pa.large_string())),
    *(pa.array([b"a", b"", None], kind) for kind in (pa.binary(), pa.large_binary())),
    pa.array([b"ab", None, b"cd"], pa.binary(2)),
    pa.array([Decimal("1.50"), Decimal("-0.00"), Decimal("0.10"), None], pa.decimal128(10, 2)),
    pa.array([Decimal("1.50"), Decimal("0.10"), None], pa.decimal256(60, 2)),
    pa.array([date(2020, 1, 1), None, date(1, 1, 1)], pa.date32()),
    pa.array([date(2020, 1, 1), None], pa.date64()),
    pa.array([0, 3600, None], pa.time32("s")),
    pa.array([0, 3600, None], pa.time64("us")),
    pa.array([0, 1000, None], pa.time64("ns")),
    *(pa.array([*MICROSECONDS, None], pa.duration(unit)) for unit in ("us", "ns")),
    *(
        pa.array([*MICROSECONDS, None], pa.timestamp(unit, zone))
        for unit in ("us", "ns")
        for zone in (None, "UTC", "America/New_York", "+02:00")
    ),
    pa.array(["a", "b", None, "a"]).dictionary_encode(),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 1]), pa.array(["a", None, "c"])),
    pa.array([UUID(int=1).bytes, None], pa.binary(16)),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_columns_and_rows_have_the_same_keys_in_the_same_places(column):
    batch = pa.RecordBatch.from_arrays([column, column], names=["a", "b"])
    for positions in [(0,), (0, 1)]:
        select = operator.itemgetter(*positions)
        keys = columns_of(select).keys_of(batch)
        rows = rows_of(batch)
        assert keys.by_row() == list(map(select, rows))
        by_rows = [key_bytes(select(row)) for row in rows]
        assert [key_bytes(key) for key in keys.by_row()] == by_rows
        assert len(keys.distinct) == len(set(by_rows))
        came = {0: [], 1: [], 2: []}
        route = Route(("x-0", "x-1", "x-2"), Partitioning.HASH, select)
        partitioner(route, [0, 1, 2], 128, lambda channel, part: came[channel].extend(rows_of(part)))(batch)  # noqa: B023
        for channel, received in came.items():
            assert received == [row for row in rows if channel_of(select(row), 3) == channel]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0.5, float("nan")]),
        pa.array([[1], [2]]),
        pa.array([{"a": 1}]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array(["a"], pa.string_view()),
        pa.array([1, 2], pa.time64("ns")),
        pa.array([pa.scalar(1604208600, pa.timestamp("s", "America/New_York"))]),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_whose_values_are_no_keys_are_refused(column):
    batch = pa.RecordBatch.from_arrays([column, pa.array([1] * len(column))], names=["a", "n"])
    for keyed in (KeyColumns(("a",)), KeyColumns(("a", "n")), KeyColumns(("n", "a"))):
        for channels in ([0], [0, 1]):
            route = Route(tuple(f"x-{one}" for one in channels), Partitioning.HASH, keyed)
            for function in (
                AggregatingColumns(keyed, {"rows": count_rows()}),
                Aggregating(Totals()),
            ):
                operator_of = ProcessOperator(function, {0: keyed}, HeapKeyedStateBackend())

                def run(route=route, channels=channels, operator_of=operator_of):
                    partitioner(route, channels, 128, lambda channel, part: operator_of.inputs[0](part))(
                        batch
                    )
                    operator_of.before_barrier()

                with pytest.raises(UnsupportedKeyError):
                    run()
