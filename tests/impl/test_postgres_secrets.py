"""The password of a connection string is in no message and in no representation of an object."""

import pyarrow as pa
import pytest

from impl.config import ExecutionConfig
from impl.connectors.errors import ConnectorError
from impl.connectors.postgres import connect
from impl.connectors.postgres_sink import PostgresOutput
from impl.job import Job, RateInput
from impl.spark.channels.handshake import Credentials
from impl.spark.worker.launch import Launch

PASSWORD = "correct-horse-battery"
pytest.importorskip("psycopg")


@pytest.mark.parametrize(
    "conninfo",
    [
        f"host=127.0.0.1 port=1 user=me password={PASSWORD} dbname=none",
        f"postgresql://me:{PASSWORD}@127.0.0.1:1/none",
        f"postgresql://me:{PASSWORD}@127.0.0.1:port/none",
        f"host=127.0.0.1 {PASSWORD}",
        f"pasword={PASSWORD}",
        f"postgresql//me:{PASSWORD}@127.0.0.1/none",
        f"host={PASSWORD} port=1 password={PASSWORD}",
    ],
)
def test_no_message_about_a_connection_has_its_password(conninfo):
    with pytest.raises(ConnectorError) as failed:
        connect(conninfo)
    assert PASSWORD not in str(failed.value)
    assert failed.value.__cause__ is None or PASSWORD not in str(failed.value.__cause__)


def test_neither_a_job_nor_the_data_for_its_workers_shows_a_secret():
    output = PostgresOutput(f"password={PASSWORD}", "numbers", pa.schema({"value": pa.int64()}))
    job = Job("numbers").source("in", RateInput(1)).sink("out", output)
    launch = Launch(
        plan=job.plan(),
        lineage="",
        credentials=Credentials(PASSWORD.encode(), 1),
        driver=("127.0.0.1", 1),
        execution=ExecutionConfig(),
        max_concurrent=1,
        mode="exactly-once",
        alignment_timeout_ms=0,
        checkpoints=None,
        inline_bytes=0,
        events=None,
    )
    for shown in (output, job, job.plan(), launch):
        assert PASSWORD not in repr(shown)
        assert PASSWORD not in str(shown)
