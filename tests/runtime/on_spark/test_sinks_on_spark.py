"""Jobs into databases on Spark: each update is committed once, although sinks and the server are killed."""

import sqlite3
import sys
from contextlib import closing

import psycopg
import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance.observe.validate import validate
from conformance.torture.killed_postgres import KeptServer
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ConfigError, ExecutionConfig
from impl.faults import Action, FaultPlan, Point
from impl.job import Job, PostgresOutput, RateInput, SqliteOutput

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS = 8_000
SCHEMA = pa.schema({"key": pa.int64(), "count": pa.int64()})
EVERY_UPDATE = [(key, count) for key in range(10) for count in range(1, ROWS // 10 + 1)]


class Count:
    def create_accumulator(self):
        return 0

    def add(self, row, accumulator):
        return accumulator + 1

    def get_result(self, row, accumulator):
        return row[0], accumulator


def rows(batch, partition, offset):
    return [(number % 10,) for number in batch.column(0).to_pylist()]


def run(output, folder, spark, **options):
    job = (
        Job("counts")
        .source("in", RateInput(ROWS, rows, rows_per_second=4_000), parallelism=2)
        .key_by(lambda row: row[0])
        .aggregate("count", Count(), parallelism=2)
        .sink("out", output, parallelism=2)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100))
        .with_execution(ExecutionConfig(heartbeat_timeout_ms=60_000))  # a loaded machine is late
    )
    return job.execute("local[8]", folder, spark=spark, event_log=True, **options)


@pytest.mark.rule("ONCE-03")
def test_sqlite_has_each_update_once_although_sinks_are_killed_before_they_commit(spark, tmp_path):
    output = SqliteOutput(tmp_path / "out.db", "counts", SCHEMA)
    result = run(
        output,
        tmp_path,
        spark,
        faults=[FaultPlan(Point.COMPLETION_STORED, occurrence=3, action=Action.SIGKILL)],
    )
    trace = validate(tmp_path / "events")

    with closing(sqlite3.connect(output.database)) as database:
        assert sorted(database.execute("SELECT key, count FROM counts")) == EVERY_UPDATE
    assert len(result.attempts) == 2
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
    assert list((output.staging / "data").iterdir()) == []


def test_a_server_that_no_sink_writes_into_cannot_be_killed(tmp_path):
    output = SqliteOutput(tmp_path / "out.db", "counts", SCHEMA)
    with pytest.raises(ConfigError, match="kill-server needs a PostgresOutput"):
        run(output, tmp_path, None, faults=[FaultPlan(Point.PRE_COMMITTED, action=Action.KILL_SERVER)])


@pytest.mark.rule("ONCE-03")
def test_postgres_has_each_update_once_although_sinks_and_the_server_are_killed(spark, postgres, tmp_path):
    output = PostgresOutput(postgres.conninfo, "updates", SCHEMA)
    faults = [
        FaultPlan(Point.PRE_COMMITTED, "out-0", action=Action.KILL_SERVER),
        FaultPlan(Point.COMPLETION_STORED, action=Action.SIGKILL),
        FaultPlan(Point.RESTORE_DUE, "out-1", action=Action.KILL_SERVER),
    ]
    with KeptServer(postgres) as server:
        result = run(output, tmp_path, spark, faults=faults)
    trace = validate(tmp_path / "events")

    with psycopg.connect(postgres.conninfo) as session:
        assert session.execute("SELECT key, count FROM updates ORDER BY 1, 2").fetchall() == EVERY_UPDATE
        assert session.execute("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE '%:out-%'").fetchall() == []
    assert server.deaths >= 1
    assert set(result.faults) == set(faults)
    assert len(result.attempts) >= 2
    assert trace.rejection is None, trace.describe()
    assert trace.situations["commit on restore"] > 0
