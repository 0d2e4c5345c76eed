"""The SQLite sink: a commit is atomic, and columns have supported types only."""

import pickle
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest

from impl.batches import rows_of
from impl.connectors import (
    ConnectorError,
    OutputCorruptError,
    SinkContext,
    SqliteOutput,
    TwoPhaseSink,
    ValueRefusedError,
)
from impl.connectors.sqlite_sink import StagedRows

SCHEMA = pa.schema({"n": pa.int64(), "said": pa.string(), "part": pa.float64(), "raw": pa.binary()})
ROW = {"n": 1, "said": "it's", "part": 0.5, "raw": b"\x00"}


@pytest.fixture
def output(tmp_path):
    made = SqliteOutput(tmp_path / "out.db", 'all "counts"', SCHEMA)
    made.prepare()
    return made


def pre_committed(output, subtask="sink-0"):
    sink = TwoPhaseSink(output.open(SinkContext("job", "0a", subtask, 1)))
    sink.write(pa.RecordBatch.from_pylist([ROW], SCHEMA))
    sink.snapshot(1)
    return sink


def seen(output):
    with closing(sqlite3.connect(output.database)) as database:
        return database.execute('SELECT n, said, part, raw FROM "all ""counts"""').fetchall()


def test_rows_are_read_back_unchanged_with_their_commit(output):
    pre_committed(output).notify_complete(1)
    pre_committed(output, "sink-1").notify_complete(1)
    assert seen(output) == [tuple(ROW.values())] * 2
    with closing(sqlite3.connect(output.database)) as database:
        shown = database.execute(
            'SELECT subtask, checkpoint, rows FROM barrierspec_commits JOIN "all ""counts""" '
            "ON id = barrierspec_commit ORDER BY 1"
        ).fetchall()
    assert shown == [("sink-0", 1, 1), ("sink-1", 1, 1)]


def test_a_receipt_has_the_same_bytes_as_in_earlier_releases():
    receipt = StagedRows(SinkContext("job", "0a", "sink-0", 3, 2), 7, 5, None)
    written = pickle.dumps(receipt, protocol=5)
    assert written == (
        b"\x80\x05\x95\x85\x00\x00\x00\x00\x00\x00\x00\x8c\x1bimpl.connectors.sqlite_sink\x94\x8c\nStagedRows"
        b"\x94\x93\x94)\x81\x94]\x94(\x8c\x19impl.connectors.two_phase\x94\x8c\tSinkPlace\x94\x93\x94)\x81\x94]\x94("
        b"\x8c\x03job\x94\x8c\x020a\x94\x8c\x06sink-0\x94K\x03K\x02ebK\x07K\x05Neb."
    )
    assert pickle.loads(written) == receipt


@pytest.mark.rule("SINK-08")
def test_a_commit_that_fails_midway_leaves_nothing_and_is_repeated(output):
    sink = pre_committed(output)
    [file] = [output.staging / name for name in sink.state_of(1).names]
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"?")
    with pytest.raises(OutputCorruptError):
        output.open(SinkContext("job", "0a", "sink-0", 2)).commit(
            sink.receipt_of(sink.transactions.pending[0])
        )
    assert seen(output) == []
    file.write_bytes(content)
    sink.notify_complete(1)
    assert seen(output) == [tuple(ROW.values())]


def test_a_file_that_is_no_database_is_reported(tmp_path):
    (tmp_path / "out.db").write_text("no database at all, but long enough to be asked about its header")
    with pytest.raises(ConnectorError, match="table counts: expected a commit, got DatabaseError"):
        SqliteOutput(tmp_path / "out.db", "counts", SCHEMA).prepare()


def test_a_type_that_has_no_column_is_refused_before_the_start(tmp_path):
    output = SqliteOutput(tmp_path / "out.db", "counts", pa.schema({"at": pa.timestamp("us")}))
    with pytest.raises(ConnectorError, match="column 'at' is timestamp"):
        output.prepare()


REFUSED = [
    ({"x": pa.array([0.5, float("nan")])}, r"column 'x' cannot hold nan, which SQLite stores as NULL.*row 1"),
    ({"x": pa.array([None, float("nan")], pa.float32())}, "column 'x' cannot hold nan"),
    (
        {"x": pa.array([1, 2**63], pa.uint64())},
        r".*hold 9223372036854775808, because its integers end at 2\*\*63",
    ),
    ({"x": pa.array([b"a", b"\xff"]).view(pa.string())}, "column 'x' cannot hold .*not UTF-8: correct it"),
]


@pytest.mark.parametrize(("columns", "why"), REFUSED, ids=lambda one: str(one)[:20])
def test_a_value_that_sqlite_cannot_hold_is_refused_before_it_is_pre_committed(tmp_path, columns, why):
    batch = pa.record_batch(columns)
    output = SqliteOutput(tmp_path / "out.db", "counts", batch.schema)
    output.prepare()
    sink = TwoPhaseSink(output.open(SinkContext("job", "0a", "sink-0", 1)))
    with pytest.raises(ValueRefusedError, match=f"table counts: {why}"):
        sink.write(batch)
    assert list((output.staging / "data").iterdir()) == []


def test_the_values_at_the_ends_of_their_types_come_back(tmp_path):
    batch = pa.record_batch(
        {
            "i": pa.array([2**63 - 1, -(2**63)]),
            "u": pa.array([2**63 - 1, 0], pa.uint64()),
            "f": [float("inf"), 5e-324],
            "s": ["a\0b", ""],
            "b": pa.array([True, None]),
            "z": [b"", b"\0"],
        }
    )
    output = SqliteOutput(tmp_path / "out.db", "counts", batch.schema)
    output.prepare()
    sink = TwoPhaseSink(output.open(SinkContext("job", "0a", "sink-0", 1)))
    sink.write(batch)
    sink.snapshot(1)
    sink.notify_complete(1)
    with closing(sqlite3.connect(output.database)) as database:
        assert database.execute("SELECT i, u, f, s, b, z FROM counts").fetchall() == rows_of(batch)


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64()), pa.decimal128(9, 2)]
)
def test_columns_of_other_types_are_refused_before_the_start(tmp_path, kind):
    with pytest.raises(ConnectorError, match=r"column 'x' is .*, and SQLite takes ints"):
        SqliteOutput(tmp_path / "out.db", "counts", pa.schema({"x": kind})).prepare()


@pytest.mark.parametrize("columns", ["n TEXT", "n INTEGER, more TEXT", "m INTEGER"])
def test_a_table_that_would_convert_the_rows_is_refused(tmp_path, columns):
    with closing(sqlite3.connect(tmp_path / "out.db")) as database:
        database.execute(f"CREATE TABLE counts ({columns}, barrierspec_commit INTEGER)")
    with pytest.raises(
        ConnectorError, match=r"table counts: exists with the columns .*; give the sink another"
    ):
        SqliteOutput(tmp_path / "out.db", "counts", pa.schema({"n": pa.int64()})).prepare()
