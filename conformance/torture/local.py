"""A round in a Spark session that stays: the job, its faults, a reader beside it, and the judgement."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from conformance.torture.account import Reader
from conformance.torture.judge import Outcome, judge
from conformance.torture.leftovers import left_behind
from conformance.torture.rounds import Round
from conformance.torture.server import KeptServer
from impl.config import ConfigError, ExecutionConfig, RestartConfig
from impl.connectors.errors import ConnectorError
from impl.job import Job, Progress
from impl.jobs.numbers import numbers_job
from impl.spark.errors import SparkRuntimeError
from impl.state import StateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[6]"
LONGEST_SECONDS = 120.0
EXECUTION = ExecutionConfig(heartbeat_interval_ms=50, heartbeat_timeout_ms=800, batch_rows=100)
"""A worker that hangs is found soon; a slow machine may take a busy one for such, which costs a restart."""


class RoundTooLongError(Exception):
    """A round did not end: something waits for what never comes."""


def run_local(
    planned: Round,
    folder: Path,
    spark: "SparkSession",
    master: str = MASTER,
    server: KeptServer | None = None,
) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it. `server`: where its sinks write."""
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    outcome = Outcome(planned)
    reader = Reader(folder)

    def watch(progress: Progress) -> None:
        if time.monotonic() - began > LONGEST_SECONDS:
            raise RoundTooLongError(f"it has not ended after {LONGEST_SECONDS:.0f} s")
        if not planned.damages:
            reader.look()

    try:
        result = job_of(planned, folder, server).execute(
            master, folder, faults=planned.faults, event_log=True, on_progress=watch, spark=spark
        )
    except (SparkRuntimeError, StateError, ConnectorError, ConfigError, RoundTooLongError) as failed:
        outcome.findings.append(f"the job failed: {type(failed).__name__}: {failed}")
        outcome.seconds = time.monotonic() - began
        return outcome
    outcome.took_from(result)
    table = None if server is None else server.rows(_table(planned))
    judge(outcome, folder, [folder / "events"], reader.seen(), table)
    left = left_behind(folder, planned.retained, psutil.Process())
    left += [] if server is None else server.left()
    outcome.findings += [f"left behind: {one}" for one in left]
    outcome.seconds = time.monotonic() - began
    return outcome


def _table(planned: Round) -> str:
    return planned.name.replace("-", "_")


def job_of(planned: Round, folder: Path, server: KeptServer | None = None) -> Job:
    """The round's job."""
    output = folder / "committed" if server is None else server.output(_table(planned))
    return (
        numbers_job(planned.rows, output, planned.rows_per_second)
        .with_checkpoints(planned.checkpoints())
        .with_execution(EXECUTION)
        .with_restarts(RestartConfig(3 * len(planned.faults) + 10))
    )
