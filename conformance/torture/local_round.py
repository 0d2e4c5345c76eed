"""Runs a round in a shared Spark session: runs a job with faults, reads its output, and judges the result."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from conformance.torture.account import Reader
from conformance.torture.brokers.faulty_broker import FaultyBroker
from conformance.torture.clock_jumps import PATIENT_MS, clock_findings
from conformance.torture.faulty_store import KeptStore
from conformance.torture.judge import JOB_ERRORS, Outcome, judge, timed
from conformance.torture.killed_postgres import KeptServer
from conformance.torture.leftovers import left_behind
from conformance.torture.rounds import JUMPING, STANDALONE, Round
from impl.config import ExecutionConfig, RestartConfig
from impl.connectors.two_phase import Output
from impl.job import Job, KafkaInput, ParquetOutput, Progress
from impl.jobs.numbers import UPDATES, numbers_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[6]"
LONGEST_SECONDS, LONGEST_IN_STORE_SECONDS = 120.0, 400.0
EXECUTION = ExecutionConfig(heartbeat_interval_ms=50, heartbeat_timeout_ms=800, batch_rows=100)
"""The driver notices a hanging worker within a second. On a slow machine it may restart a busy worker."""


PATIENT = replace(EXECUTION, heartbeat_timeout_ms=PATIENT_MS)
"""With this time-out, only a jump of a clock can make a task seem to hang."""
IN_STORE = replace(EXECUTION, heartbeat_timeout_ms=4_000)
"""For a round in an object store: a request that fails takes seconds."""
ON_HOSTS = replace(IN_STORE, startup_timeout_ms=300_000)
"""For a cluster: a host starts two Java processes, one after the other, in a minute on a busy machine."""


class RoundTooLongError(Exception):
    """A round has not ended in time, so one of its processes probably waits forever."""


def run_local(
    planned: Round,
    folder: Path,
    spark: "SparkSession",
    master: str = MASTER,
    server: KeptServer | None = None,
    store: KeptStore | None = None,
    broker: FaultyBroker | None = None,
) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it.

    `server`: the database for its output, or None. `store`: the object store for its checkpoints and its
    output, which is then read only at the end, or None. `broker`: the origin of its input, or None.
    """
    outcome = Outcome(planned)
    reader = Reader(folder)
    longest = LONGEST_SECONDS if store is None else LONGEST_IN_STORE_SECONDS
    with timed(outcome, folder) as seconds:

        def watch(progress: Progress) -> None:
            if seconds() > longest:
                raise RoundTooLongError(f"it has not ended after {longest:.0f} s")
            if not planned.damages and store is None:
                reader.look()

        place = None if store is None else store.begin(planned.name)
        topic = None if broker is None else broker.begin(planned)
        try:
            result = job_of(planned, folder, server, place, topic).execute(
                master,
                folder,
                faults=planned.faults,
                event_log=True,
                on_progress=watch,
                spark=spark,
                checkpoints=checkpoints_in(place),
            )
        except (*JOB_ERRORS, RoundTooLongError) as failed:
            outcome.findings.append(f"the job failed: {type(failed).__name__}: {failed}")
            return outcome
        finally:
            outcome.store = faults_of(store, broker)
        outcome.took_from(result)
        table = None if server is None else server.rows(planned.table)
        judge(outcome, folder, [folder / "events"], reader.seen(), table)
        outcome.findings += clock_findings(result, folder / "events") if planned.kind == JUMPING else ()
        kept = ((store.server.pid,) if store else ()) + (broker.pids if broker else ())
        left = left_behind(folder, planned.retained, psutil.Process(), *kept)
        left += [] if server is None else server.left()
        outcome.findings += [f"left behind: {one}" for one in left]
    return outcome


def checkpoints_in(place: str | None) -> str | None:
    """The location of the checkpoints of a job whose files are in an object store; None for a folder."""
    return None if place is None else f"{place}/checkpoints"


def faults_of(store: KeptStore | None, broker: FaultyBroker | None) -> Counter[str]:
    """End the faults of the round in store and broker. Returns their number by kind."""
    return (store.judging() if store else Counter()) + (broker.judging() if broker else Counter())


def job_of(
    planned: Round,
    folder: Path,
    server: KeptServer | None = None,
    place: str | None = None,
    topic: KafkaInput | None = None,
) -> Job:
    """The round's job. `place`: the URI for its files in a store, which gives checkpoints more time."""
    restarts = RestartConfig(3 * len(planned.faults) + 10)
    if place is not None:
        execution = ON_HOSTS if planned.kind == STANDALONE else IN_STORE
        job = job_into(ParquetOutput(f"{place}/committed", UPDATES), planned, execution, restarts, topic)
        return job.with_checkpoints(replace(job.checkpoints, checkpoint_timeout_ms=60_000))
    output = folder / "committed" if server is None else server.output(planned.table)
    execution = PATIENT if planned.kind == JUMPING else EXECUTION
    return job_into(output, planned, execution, restarts, topic)


def job_into(
    output: Path | Output,
    planned: Round,
    execution: ExecutionConfig,
    restarts: RestartConfig,
    topic: KafkaInput | None = None,
) -> Job:
    """The round's job, which writes into `output`. `topic`: its input, if it reads from a broker."""
    job = numbers_job(planned.rows, output, planned.rows_per_second, topic)
    return job.with_checkpoints(planned.checkpoints()).with_execution(execution).with_restarts(restarts)
