"""A round in a Spark session that outlasts it: the job, its faults, a reader, and the judgement."""

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from conformance.torture.account import Reader
from conformance.torture.judge import JOB_ERRORS, Outcome, judge, timed
from conformance.torture.leftovers import left_behind
from conformance.torture.rounds import Round
from conformance.torture.server import KeptServer
from impl.config import ExecutionConfig, RestartConfig
from impl.connectors.two_phase import Output
from impl.job import Job, Progress
from impl.jobs.numbers import numbers_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[6]"
LONGEST_SECONDS = 120.0
EXECUTION = ExecutionConfig(heartbeat_interval_ms=50, heartbeat_timeout_ms=800, batch_rows=100)
"""A worker that hangs is detected soon; on a slow machine a busy one may be restarted instead."""


class RoundTooLongError(Exception):
    """A round has not ended in time: something in it waits forever."""


def run_local(
    planned: Round,
    folder: Path,
    spark: "SparkSession",
    master: str = MASTER,
    server: KeptServer | None = None,
) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it. `server`: for its output."""
    outcome = Outcome(planned)
    reader = Reader(folder)
    with timed(outcome, folder) as seconds:

        def watch(progress: Progress) -> None:
            if seconds() > LONGEST_SECONDS:
                raise RoundTooLongError(f"it has not ended after {LONGEST_SECONDS:.0f} s")
            if not planned.damages:
                reader.look()

        try:
            result = job_of(planned, folder, server).execute(
                master, folder, faults=planned.faults, event_log=True, on_progress=watch, spark=spark
            )
        except (*JOB_ERRORS, RoundTooLongError) as failed:
            outcome.findings.append(f"the job failed: {type(failed).__name__}: {failed}")
            return outcome
        outcome.took_from(result)
        table = None if server is None else server.rows(planned.table)
        judge(outcome, folder, [folder / "events"], reader.seen(), table)
        left = left_behind(folder, planned.retained, psutil.Process())
        left += [] if server is None else server.left()
        outcome.findings += [f"left behind: {one}" for one in left]
    return outcome


def job_of(planned: Round, folder: Path, server: KeptServer | None = None) -> Job:
    """The round's job."""
    output = folder / "committed" if server is None else server.output(planned.table)
    return job_into(output, planned, EXECUTION, RestartConfig(3 * len(planned.faults) + 10))


def job_into(
    output: Path | Output, planned: Round, execution: ExecutionConfig, restarts: RestartConfig
) -> Job:
    """The round's job, which writes into `output`."""
    job = numbers_job(planned.rows, output, planned.rows_per_second).with_checkpoints(planned.checkpoints())
    return job.with_execution(execution).with_restarts(restarts)
