"""The PostgreSQL sink: failures that only a server can cause."""

import datetime
import threading
from decimal import Decimal
from itertools import count

import psycopg
import pyarrow as pa
import pytest

from conformance.torture.servers.postgres_server import PostgresServer
from impl.batches import rows_of
from impl.connectors import (
    ConnectorError,
    PostgresOutput,
    PreparedTransactionsDisabledError,
    ServerLostError,
    SinkConflictError,
    SinkContext,
    TransactionLostError,
    TwoPhaseSink,
    ValueRefusedError,
)
from impl.connectors.postgres import GlobalId

SCHEMA = pa.schema({"n": pa.int64()})
FRESH = count(1)


@pytest.fixture
def output(postgres):
    made = PostgresOutput(postgres.conninfo, f"numbers_{next(FRESH)}", SCHEMA)
    made.prepare()
    return made


@pytest.fixture
def query(postgres):
    def answer(statement):
        with psycopg.connect(postgres.conninfo, autocommit=True) as session:
            cursor = session.execute(statement)
            return cursor.fetchall() if cursor.description else []

    return answer


def context(attempt=1):
    return SinkContext("job", f"{next(FRESH):016x}", "sink-0", attempt)


def pre_committed(output, at, *numbers):
    sink = TwoPhaseSink(output.open(at))
    sink.write(pa.record_batch({"n": numbers}))
    sink.snapshot(1)
    return sink


def test_a_global_id_names_its_owner_and_other_ids_are_ignored():
    gid = GlobalId("00ff", "sink_a-1", 3, 3_000_001)
    assert str(gid) == "barrierspec:00ff:sink_a-1:3:3000001"
    assert GlobalId.parse(str(gid)) == gid
    assert GlobalId.parse("barrierspec:00ff:sink-1") is None
    assert GlobalId.parse("_pgjdbc_0_1") is None


@pytest.mark.rule("SINK-04")
def test_the_sink_waits_for_a_server_that_crashes_between_prepare_and_commit(output, postgres, query):
    sink = pre_committed(output, context(), 1, 2)
    postgres.crash()
    starting = threading.Thread(target=postgres.start)
    starting.start()
    sink.notify_complete(1)
    starting.join()
    assert query(f"SELECT n FROM {output.table}") == [(1,), (2,)]


@pytest.mark.rule("SINK-06")
def test_a_server_that_stays_away_fails_the_commit_and_the_restore_commits_once(postgres, query):
    output = PostgresOutput(postgres.conninfo, f"numbers_{next(FRESH)}", SCHEMA, patience_seconds=0)
    output.prepare()
    at = context()
    sink = pre_committed(output, at, 1)
    state = sink.state_of(1)
    postgres.crash()
    try:
        with pytest.raises(ServerLostError, match="check that the server runs and can be reached"):
            sink.notify_complete(1)
    finally:
        postgres.start()
    for attempt in (2, 3):
        later = SinkContext(at.job, at.lineage, at.subtask, attempt)
        TwoPhaseSink.restored(output.open(later), state)
    assert query(f"SELECT n FROM {output.table}") == [(1,)]


@pytest.mark.rule("SINK-04")
def test_a_transaction_committed_by_another_session_is_not_committed_again(output, query):
    sink = pre_committed(output, context(), 1)
    [gid] = sink.state_of(1).names
    query(f"COMMIT PREPARED '{gid}'")
    sink.notify_complete(1)
    assert query(f"SELECT n FROM {output.table}") == [(1,)]


@pytest.mark.rule("SINK-08")
def test_a_transaction_rolled_back_by_another_session_does_not_count_as_committed(output, query):
    sink = pre_committed(output, context(), 1)
    [gid] = sink.state_of(1).names
    query(f"ROLLBACK PREPARED '{gid}'")
    with pytest.raises(TransactionLostError, match="got neither: another program"):
        sink.notify_complete(1)


def test_without_prepared_transactions_the_message_states_what_to_set():
    with PostgresServer(prepared=0) as server:
        output = PostgresOutput(server.conninfo, "numbers", SCHEMA)
        with pytest.raises(PreparedTransactionsDisabledError, match="ALTER SYSTEM SET max_prepared_trans"):
            output.prepare()


def test_a_session_that_is_lost_in_an_open_transaction_leaves_nothing(output, query):
    at = context()
    sink = TwoPhaseSink(output.open(at))
    sink.write(pa.record_batch({"n": range(9_000)}))
    query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'barrierspec'")
    with pytest.raises(ServerLostError):
        sink.snapshot(1)
    sink.close()
    assert query(f"SELECT n FROM {output.table}") == []
    assert output.sweep(at.lineage, 9) == ()


def test_a_session_lost_between_two_transactions_has_no_effect(output, query):
    sink = pre_committed(output, context(), 1)
    sink.notify_complete(1)
    query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'barrierspec'")
    sink.write(pa.record_batch({"n": [2]}))
    sink.snapshot(2)
    sink.notify_complete(2)
    assert query(f"SELECT n FROM {output.table}") == [(1,), (2,)]


@pytest.mark.rule("ONCE-03")
def test_no_row_is_taken_back_if_one_was_changed_meanwhile(output, query):
    at = context()
    pre_committed(output, at, 1, 2, 3).notify_complete(1)
    query(f"UPDATE {output.table} SET n = 9 WHERE n = 2")
    with pytest.raises(SinkConflictError, match="expected the 3 rows committed after it, got 2"):
        output.retract(at.lineage, None)
    assert sorted(query(f"SELECT n FROM {output.table}")) == [(1,), (3,), (9,)]


def test_values_of_every_type_are_read_back_unchanged(postgres, query):
    noon = datetime.datetime(2013, 1, 1, 12, 0, 0, 250)
    row = {
        "small": (7, pa.int16()),
        "whole": (8, pa.int32()),
        "big": (2**40, pa.int64()),
        "part": (0.5, pa.float64()),
        "yes": (True, pa.bool_()),
        "said": ("a\tb\\N\n", pa.string()),
        "raw": (b"\x00\xff", pa.binary()),
        "day": (noon.date(), pa.date32()),
        "at": (noon, pa.timestamp("us")),
        "price": (Decimal("12.30"), pa.decimal128(9, 2)),
        "none": (None, pa.string()),
    }
    schema = pa.schema({name: kind for name, (_, kind) in row.items()})
    output = PostgresOutput(postgres.conninfo, f"numbers_{next(FRESH)}", schema)
    output.prepare()
    sink = TwoPhaseSink(output.open(context()))
    sink.write(pa.RecordBatch.from_pylist([{name: value for name, (value, _) in row.items()}], schema))
    sink.snapshot(1)
    sink.notify_complete(1)
    assert query(f"SELECT * FROM {output.table}") == [tuple(value for value, _ in row.values())]


def test_a_type_that_has_no_column_is_refused_before_the_start(postgres):
    output = PostgresOutput(postgres.conninfo, "nothing", pa.schema({"many": pa.list_(pa.int64())}))
    with pytest.raises(ConnectorError, match="column 'many' is list"):
        output.prepare()


def test_a_connection_string_is_not_shown(output):
    assert "host=" not in repr(output)


FIRST = -62_135_596_800_000_000
"""The first microsecond of the year 1, from 1970 on."""
REFUSED = [
    (pa.array(["a", "b\0"]), r"cannot hold 'b\\x00', because PostgreSQL takes no NUL in text.*row 1"),
    (pa.array([b"\xff"]).view(pa.string()), r"cannot hold b'\\xff' as string, which is not UTF-8"),
    (pa.array([1_000, 1], pa.timestamp("ns")), "cannot hold .*, because PostgreSQL has no nanoseconds"),
    (pa.array([FIRST, FIRST - 1], pa.timestamp("us")), "cannot hold .*, outside the years 1 to 9999"),
    (pa.array([0, 10**7], pa.date32()), r"cannot hold 10000000 as date32.*, outside the years 1 to 9999"),
]


@pytest.mark.parametrize(("column", "why"), REFUSED, ids=lambda one: str(one)[-30:])
def test_a_value_that_postgres_cannot_hold_is_refused_by_name(postgres, column, why):
    batch = pa.record_batch({"x": column})
    output = PostgresOutput(postgres.conninfo, f"refusing_{next(FRESH)}", batch.schema)
    output.prepare()
    sink = TwoPhaseSink(output.open(context()))
    with pytest.raises(ValueRefusedError, match=f"column 'x' {why}"):
        sink.write(batch)
    sink.close()


def test_the_values_at_the_ends_of_their_types_come_back_from_postgres(postgres, query):
    batch = pa.record_batch(
        {
            "i": pa.array([2**63 - 1, -(2**63)]),
            "f": [float("inf"), 5e-324],
            "r": pa.array([0.5, -0.25], pa.float32()),
            "d": pa.array([Decimal("9" * 36 + ".99"), Decimal("-0.01")], pa.decimal128(38, 2)),
            "t": pa.array([FIRST, 253_402_300_799_999_999], pa.timestamp("us")),
            "z": pa.array([0, 1], pa.timestamp("us", "UTC")),
            "n": pa.array([1_000, None], pa.timestamp("ns")),
        }
    )
    output = PostgresOutput(postgres.conninfo, f"ends_{next(FRESH)}", batch.schema)
    output.prepare()
    sink = TwoPhaseSink(output.open(context()))
    sink.write(batch)
    sink.snapshot(1)
    sink.notify_complete(1)
    sink.close()
    assert query(f"SELECT i, f, r, d, t, z, n FROM {output.table}") == rows_of(batch)


@pytest.mark.parametrize(
    ("there", "kind"),
    [
        ("x real", pa.float64()),
        ("x numeric(9,2)", pa.decimal128(9, 3)),
        ("x timestamp(0)", pa.timestamp("us")),
        ("x timestamp", pa.timestamp("us", "UTC")),
        ("x text", pa.int64()),
        ("x varchar(3)", pa.string()),
        ("y bigint", pa.int64()),
    ],
)
def test_an_older_table_that_would_convert_the_rows_is_refused(postgres, query, there, kind):
    table = f"older_{next(FRESH)}"
    query(f"CREATE TABLE {table} ({there})")
    with pytest.raises(ConnectorError, match=r"expected a column 'x' of type .*; alter the table"):
        PostgresOutput(postgres.conninfo, table, pa.schema({"x": kind})).prepare()


def test_an_older_table_may_have_wider_columns_and_others(postgres, query):
    table = f"wider_{next(FRESH)}"
    query(f"CREATE TABLE {table} (a bigint, b double precision, c varchar, d numeric, more text)")
    schema = pa.schema({"a": pa.int32(), "b": pa.float32(), "c": pa.string(), "d": pa.int64()})
    PostgresOutput(postgres.conninfo, table, schema).prepare()
