"""Committed output as a Spark data source, which a stream reads while the job runs, fails and continues."""

import threading

import pytest

from impl.config import CheckpointConfig
from impl.connectors import list_committed
from impl.faults import FaultPlan, Point
from impl.jobs.numbers import KEYS, numbers_job
from impl.spark.datasource import register

ROWS = 6_000
EXACT = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))


@pytest.mark.rule("ONCE-03")
@pytest.mark.rule("ONCE-05")
def test_a_stream_has_a_batch_for_each_checkpoint_and_no_row_twice(spark, tmp_path):
    directory = tmp_path / "committed"
    job = numbers_job(ROWS, directory, 3_000.0).with_checkpoints(
        CheckpointConfig(checkpointing_interval_ms=450)
    )
    batches, seen = {}, threading.Event()
    started = threading.Event()

    def watch(progress):
        started.set()
        if progress.completed:
            seen.wait(120)  # the stream reads before the job ends

    def run():
        fault = FaultPlan(Point.COMPLETION_STORED, action="error")
        job.execute("local[8]", tmp_path, faults=[fault], on_progress=watch, spark=spark)

    def take(frame, number):
        batches[number] = sorted((row["key"], row["number"], row["count"]) for row in frame.collect())
        seen.set()

    def query():
        stream = spark.readStream.format("barrierspec").load(str(directory)).writeStream
        return stream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "stream")).start()

    register(spark)
    running = threading.Thread(target=run)
    running.start()
    assert started.wait(120)
    first = query()
    assert seen.wait(120)
    alive = running.is_alive()
    running.join()
    first.processAllAvailable()
    first.stop()
    again = query()
    again.processAllAvailable()
    again.stop()

    assert alive
    assert sorted(row for rows in batches.values() for row in rows) == EXACT
    manifests = list_committed(directory)
    by_checkpoint = [
        sum(one.rows for one in manifests if one.checkpoint == checkpoint)
        for checkpoint in sorted({one.checkpoint for one in manifests})
    ]
    lengths = [len(batches[number]) for number in sorted(batches)]
    assert [rows for rows in lengths if rows] == [rows for rows in by_checkpoint if rows]

    batch = spark.read.format("barrierspec")
    rows = batch.load(str(directory)).collect()
    assert sorted((row["key"], row["number"], row["count"]) for row in rows) == EXACT
    middle = sorted({one.checkpoint for one in manifests})[1]
    assert batch.option("checkpoint", middle).load(str(directory)).count() == sum(by_checkpoint[:2])
