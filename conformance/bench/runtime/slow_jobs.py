"""A job with a slow sink, to measure backpressure and memory; a killer of workers, to measure recovery."""

import os
import random
import signal
import threading
from pathlib import Path

import psutil
import pyarrow as pa

from impl.config import CheckpointConfig, ExecutionConfig
from impl.connectors import ParquetFiles
from impl.connectors.two_phase import SinkContext
from impl.job import Job, ParquetOutput, Progress, RateInput

SLOTS = 5
NUMBERS = pa.schema({"value": pa.int64()})
BETWEEN_KILLS_SECONDS = 3.0


class SlowFiles(ParquetFiles):
    """Parquet files of a sink that waits `pause` seconds before it writes a batch."""

    pause = 0.0

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Wait, then write."""
        threading.Event().wait(self.pause)
        super().write(transaction, rows)


class SlowOutput(ParquetOutput):
    """A sink that waits `pause_seconds` before it writes a batch."""

    pause_seconds = 0.01

    def open(self, context: SinkContext) -> SlowFiles:
        """Open the files of one sink subtask."""
        files = SlowFiles(
            self.directory, subtask=context.subtask, attempt=context.attempt, parallelism=context.parallelism
        )
        files.pause = self.pause_seconds
        return files


def job(
    output: Path, rows: int, *, batch_rows: int, channel_batches: int, unaligned: bool, interval_ms: int = 500
) -> Job:
    """A job whose sink is slower than its sources, so that backpressure reaches both source subtasks."""
    checkpoints = CheckpointConfig(
        checkpointing_interval_ms=interval_ms, unaligned_checkpoints_enabled=unaligned
    )
    execution = ExecutionConfig(batch_rows=batch_rows, channel_batches=channel_batches)
    return (
        Job("slow")
        .source("numbers", RateInput(rows), 2)
        .rebalance()
        .map_batches("passing", _unchanged, 2)
        .sink("slowly", SlowOutput(output / "committed", NUMBERS))
        .with_checkpoints(checkpoints)
        .with_execution(execution)
    )


def _unchanged(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


class WorkerKiller:
    """Watches a job and kills a random worker, `kills` times.

    Before each kill, all tasks have run for BETWEEN_KILLS_SECONDS. In this time a checkpoint has completed,
    so that the job can restore it.
    """

    def __init__(self, kills: int) -> None:
        self._left = kills
        self._draw = random.Random(kills)
        self._attempt = (0, 0, 0.0)
        self.killed: list[float] = []
        """The time of each kill, in seconds since the start of the job."""
        self.runs = threading.Event()
        """Set when all tasks run."""

    def look(self, progress: Progress) -> None:
        """Kill a worker if the next kill is due. The job calls this method several times a second."""
        if progress.running:
            self.runs.set()
        attempt, completed, since = self._attempt
        if progress.attempt != attempt or not progress.running:
            self._attempt = (progress.attempt, progress.completed, progress.seconds)
            return
        ready = progress.completed > completed and progress.seconds - since > BETWEEN_KILLS_SECONDS
        if not self._left or not ready:
            return
        workers = self._workers()
        if workers:
            self._left -= 1
            self.killed.append(progress.seconds)
            os.kill(self._draw.choice(workers), signal.SIGKILL)
            self._attempt = (0, 0, 0.0)

    def _workers(self) -> list[int]:
        """The processes that Spark's Python daemon has forked."""
        daemons, found = set(), []
        for one in psutil.Process().children(recursive=True):
            try:
                if one.ppid() in daemons and one.status() != psutil.STATUS_ZOMBIE:
                    found.append(one.pid)
                elif "impl.spark.worker.daemon" in one.cmdline():  # Java has it only as a part of an argument
                    daemons.add(one.pid)
            except psutil.Error:  # the process has just ended
                continue
        return found
