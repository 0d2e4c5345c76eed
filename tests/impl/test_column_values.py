"""Values in a column of a declared type: they are read back unchanged, or refused by name."""

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from impl.batches import batch_of, rows_of
from impl.column_values import ColumnValueError

NOON = dt.datetime(2020, 1, 1, 12)
IN_BERLIN = dt.datetime(2020, 1, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
SET_BACK = dt.datetime(2020, 11, 1, 1, 30, fold=1, tzinfo=ZoneInfo("America/New_York"))
LOST = [
    (1.5, pa.int64()),
    (2.0**53 + 2, pa.int64()),
    (True, pa.int64()),
    (2**63, pa.int64()),
    (2**64, pa.uint64()),
    (-1, pa.uint64()),
    (2**53 + 1, pa.float64()),
    (1e300, pa.float32()),
    (70000.0, pa.float16()),
    (NOON.replace(microsecond=5), pa.timestamp("s")),
    (IN_BERLIN, pa.timestamp("us")),
    (NOON, pa.timestamp("us", "UTC")),
    (pd.Timestamp(1), pa.timestamp("us")),
    (pd.Timedelta(1), pa.duration("us")),
    (dt.datetime(9999, 1, 1), pa.timestamp("ns")),
    (1.7, pa.timestamp("us")),
    (NOON, pa.date32()),
    (NOON, pa.date64()),
    (1.5, pa.date32()),
    (dt.time(1, 1, 1, 5), pa.time32("s")),
    (dt.time(1, tzinfo=dt.UTC), pa.time64("us")),
    (Decimal("1.005"), pa.decimal128(10, 2)),
    ("\ud800", pa.string()),
    (b"\xff", pa.string()),
    (1, pa.string()),
    (float("nan"), pa.int64()),
    ([1.5], pa.list_(pa.int64())),
    ({"x": 1, "y": 2}, pa.struct({"x": pa.int64()})),
    ({"x": 1.5}, pa.struct({"x": pa.int64()})),
    ([("a", 1.5)], pa.map_(pa.string(), pa.int64())),
]


@pytest.mark.parametrize(("value", "kind"), LOST, ids=repr)
def test_a_value_that_its_column_does_not_hold_is_refused_by_name(value, kind):
    schema = pa.schema({"n": pa.int64(), "x": kind})
    with pytest.raises(
        ColumnValueError, match=r"column 'x' is .* and does not hold .*; convert the value before"
    ):
        batch_of([(1, None), (2, value)], schema)


KEPT = [
    (1, pa.int64()),
    (1.0, pa.int64()),
    (np.int32(7), pa.int8()),
    (2**64 - 1, pa.uint64()),
    (0.1, pa.float64()),
    (float("inf"), pa.float32()),
    (np.float32(0.1), pa.float64()),
    (float("-inf"), pa.float64()),
    (True, pa.bool_()),
    ("\u00e9\0", pa.string()),
    ("a", pa.large_string()),
    (bytearray(b"\xff"), pa.binary()),
    (NOON, pa.timestamp("s")),
    (IN_BERLIN, pa.timestamp("us", "UTC")),
    (SET_BACK, pa.timestamp("us", "UTC")),
    (pd.Timestamp(1), pa.timestamp("ns")),
    (dt.timedelta(1, 2, 3), pa.duration("us")),
    (dt.date(2020, 1, 1), pa.date32()),
    (dt.date(2020, 1, 1), pa.date64()),
    (dt.time(1, 2, 3, 4), pa.time64("us")),
    (Decimal("1.50"), pa.decimal128(10, 2)),
    (5, pa.decimal128(10, 2)),
    ("a", pa.dictionary(pa.int8(), pa.string())),
    ([1, None, 2], pa.list_(pa.int64())),
    ({"x": 1, "y": "a"}, pa.struct({"x": pa.int64(), "y": pa.string()})),
    ([("a", 1)], pa.map_(pa.string(), pa.int64())),
]


@pytest.mark.parametrize(("value", "kind"), KEPT, ids=repr)
def test_a_value_that_its_column_can_hold_is_read_back(value, kind):
    rows = rows_of(batch_of([(None,), (value,)], pa.schema({"x": kind})))
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        assert rows[1][0].astimezone(dt.UTC) == value.astimezone(dt.UTC)
    else:
        assert rows == [(None,), (value,)]


def test_a_float_of_fewer_bits_rounds_and_nan_stays():
    ((rounded,), (nan,)) = rows_of(batch_of([(0.1,), (float("nan"),)], pa.schema({"x": pa.float32()})))
    assert rounded == float(np.float32(0.1))
    assert nan != nan
    with_epochs = batch_of([(5,)], pa.schema({"x": pa.timestamp("us")}))
    assert rows_of(with_epochs) == [(dt.datetime(1970, 1, 1, 0, 0, 0, 5),)]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([1.5]), pa.int64()),
        (pa.array([1e300]), pa.float32()),
        (pa.array([2**53 + 1]), pa.float64()),
        (pa.array([2]), pa.bool_()),
        (pa.array([5], pa.timestamp("us")), pa.timestamp("s")),
        (pa.array([5], pa.timestamp("us")), pa.date32()),
        (pa.array([5], pa.timestamp("us")), pa.timestamp("us", "UTC")),
        (pa.array([5], pa.timestamp("us", "UTC")), pa.timestamp("us")),
        (pa.array([2**62], pa.timestamp("s")), pa.timestamp("us")),
        (pa.array([1], pa.time64("ns")), pa.time64("us")),
        (pa.array([b"\xff"]), pa.string()),
        (pa.array([Decimal("1.5")]), pa.int64()),
    ],
    ids=str,
)
def test_a_column_that_the_declared_type_does_not_hold_is_refused_by_name(column, kind):
    batch = pa.RecordBatch.from_arrays([column], names=["came"])
    with pytest.raises(ColumnValueError, match=r"column 'x' is .* and does not hold"):
        batch_of(batch, pa.schema({"x": kind}))


def test_a_column_is_cast_to_the_declared_type_where_it_holds_its_values():
    columns = [
        (pa.array([1, None], pa.int32()), pa.int64()),
        (pa.array([1.5, float("inf"), None]), pa.float32()),
        (pa.array([86_400_000_000, None], pa.timestamp("us")), pa.date32()),
        (pa.array([1, 0, None]), pa.bool_()),
        (pa.array(["a", None, "a"]).dictionary_encode(), pa.string()),
        (pa.array([0, None], pa.timestamp("us", "UTC")), pa.timestamp("us", "Europe/Berlin")),
    ]
    for column, kind in columns:
        made = batch_of(pa.RecordBatch.from_arrays([column], names=["came"]), pa.schema({"x": kind}))
        assert made.column(0) == column.cast(kind)
