"""The REST interface of a job on Spark: a subtask fails, and one client does not read."""

import json
import socket
import sys
import threading
from collections import Counter
from urllib.parse import urlsplit
from urllib.request import urlopen

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance.observe.monitor.rest import RestWatch
from impl.config import CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.job import Job, ParquetOutput, RateInput
from tests.waiting import until

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS = 10_000_000
SCHEMA = pa.schema({"number": pa.int64()})
PATIENT = ExecutionConfig(
    batch_rows=20,  # few records are in flight, so that barriers arrive soon
    channel_batches=1,
    socket_buffer_bytes=4_096,
    heartbeat_timeout_ms=60_000,
    startup_timeout_ms=300_000,
)


def numbers(batch, split, offset):
    return [(number,) for number in batch.column(0).to_pylist()]


class Slow:
    """Forwards its rows slowly, so that its sources have to wait."""

    def open(self, state):
        self.pause = threading.Event()

    def process_element(self, key, row):
        self.pause.wait(0.0004)
        return [row]


class Doubling:
    """Emits two rows for each row."""

    def process_element(self, key, row):
        return [row, row]


def slow_job(folder, **checkpoints):
    settings = CheckpointConfig(**{"checkpointing_interval_ms": 200, **checkpoints})
    return (
        Job("<b>slow</b>")
        .source("numbers", RateInput(ROWS, numbers), 2)
        .rebalance()
        .process("slow", Slow(), 2)
        .chained()
        .process("double", Doubling())
        .sink("out", ParquetOutput(folder / "committed", SCHEMA))
        .with_checkpoints(settings)
        .with_execution(PATIENT)
        .with_restarts(RestartConfig(2))
    )


def get(url, path):
    with urlopen(f"{url}{path}", timeout=60) as answer:
        return json.load(answer)


@pytest.mark.parametrize("unaligned", [False, True])
def test_a_job_is_exact_and_watched_without_an_alarm_while_it_fails_and_a_client_never_reads(
    spark, tmp_path, unaligned
):
    job = slow_job(tmp_path, unaligned_checkpoints_enabled=unaligned)
    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "slow-1", occurrence=4)
    running = job.start("local[8]", tmp_path / "run", rest_port=0, faults=[fault], spark=spark)
    until(lambda: running.rest_url, possible=lambda: not running.has_ended)
    url = running.rest_url
    deaf = socket.create_connection(("localhost", urlsplit(url).port))
    deaf.sendall(b"GET /jobs HTTP/1.0\r\n")
    alarms, pressed, records = [], [], []
    watch = RestWatch(url, alarms.append, lambda ended: None)

    pause = threading.Event()

    def look():
        pause.wait(0.2)  # as many requests as of several pages
        watch.poll()
        (known,) = get(url, "jobs")["jobs"] or [None]
        if known is None or watch.unanswered:
            return False
        source, slow, _ = get(url, f"jobs/{known['id']}")["vertices"]
        pressed.append((source["metrics"]["max-backpressuredRatio"], slow["metrics"]["max-busyRatio"]))
        records.append((slow["metrics"]["read-records"], slow["metrics"]["write-records"]))
        attempts = get(url, f"jobs/{known['id']}/attempts")["attempts"]
        return len(attempts) == 2 and attempts[0]["running-time"] is not None and records[-1][0] > 1_000

    until(look, possible=lambda: not running.has_ended)
    known = get(url, "jobs")["jobs"][0]["id"]
    failed = get(url, f"jobs/{known}/attempts")["attempts"][1]
    checkpoints = get(url, f"jobs/{known}/checkpoints")
    restored = checkpoints["latest"]["restored"]["id"]
    details = get(url, f"jobs/{known}/checkpoints/details/{restored}/subtasks/slow")["subtasks"]
    running.stop()
    deaf.close()

    rows = Counter(read_committed(tmp_path / "committed").column("number").to_pylist())
    assert {*rows.values()} == {2}
    assert len(rows) == running.result().records
    assert alarms == []
    assert watch.judged >= {"COORD-02", "COORD-03", "COORD-07", "ONCE-04"}
    assert "slow-1 is gone" in failed["cause"]
    assert max(source for source, _ in pressed) > 0.5
    assert max(slow for _, slow in pressed) > 0.5
    assert records[-1][1] == pytest.approx(2 * records[-1][0], rel=0.2)
    assert [one["status"] for one in details] == ["completed", "completed"]
    assert all(one["unaligned_checkpoint"] is unaligned for one in details)
    assert running.rest_url is None
