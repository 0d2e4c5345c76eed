"""Runs a round whose driver, executors or hosts are killed.

A supervisor replaces the driver process when it dies. Each process that a killed process has started must end
by itself. A token in the environment identifies the processes of a round.
"""

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from conformance.torture.brokers.faulty_broker import FaultyBroker
from conformance.torture.faulty_store import KeptStore
from conformance.torture.judge import JOB_ERRORS, Outcome, judge, timed
from conformance.torture.leftovers import files, lasting
from conformance.torture.local_round import checkpoints_in, faults_of, job_of
from conformance.torture.rounds import EXECUTOR, KILLS_A_ROUND, Round
from conformance.torture.servers.spark_cluster import SparkCluster
from impl.driver import supervise
from impl.job import Job, JobResult

LOCAL_MASTER = "local[6]"
CLUSTER_MASTER = "local-cluster[2,6,1024]"
"""Two executors, each large enough for the whole job, so that the job need not wait for a new executor."""
TOKEN = "BARRIERSPEC_ROUND"
"""The environment variable with the token of the round to which a process belongs."""
LONGEST_SECONDS = 400.0
TO_LEAVE_SECONDS = 60.0
"""Maximum time from the end of the job until an executor, or the Java process of a driver, has ended."""
_COMMAND_SHOWN = 60


def run_with_separate_driver(
    planned: Round,
    folder: Path,
    store: KeptStore | None = None,
    broker: FaultyBroker | None = None,
    cluster: SparkCluster | None = None,
) -> Outcome:
    """Empty `folder`, run a round there, and judge it. Other arguments as in `run_local`.

    `cluster`: the cluster that runs the executors; its hosts share no disk.
    """
    outcome = Outcome(planned)
    with timed(outcome, folder):
        place = None if store is None else store.begin(planned.name)
        job = job_of(planned, folder, place=place, topic=None if broker is None else broker.begin(planned))
        result = _supervised(job, folder, outcome, place, cluster)
        outcome.store = faults_of(store, broker)
        if result is not None:
            outcome.drivers = len(result.deaths) + 1
            outcome.took_from(result)
            if cluster is not None:
                cluster.collect(folder)
            judge(outcome, folder, [folder / "events"])
            outcome.findings += [f"left behind: {one}" for one in files(folder, planned.retained)]
        if cluster is not None:
            outcome.findings += [f"left behind: {one}" for one in _left_on_hosts(cluster, folder)]
    return outcome


def _left_on_hosts(cluster: SparkCluster, folder: Path) -> Iterator[str]:
    """Yield processes and files that remain on hosts, and the driver's folders that belong in the store."""
    yield from lasting(cluster.processes, TO_LEAVE_SECONDS)
    yield from cluster.files()
    yield from (
        f"the driver's host has {one}" for one in ("checkpoints", "committed") if (folder / one).exists()
    )


def _supervised(
    job: Job, folder: Path, outcome: Outcome, place: str | None, cluster: SparkCluster | None
) -> JobResult | None:
    planned = outcome.round
    assert isinstance(planned, Round)
    local = CLUSTER_MASTER if planned.kind == EXECUTOR else LOCAL_MASTER
    with processes_of(outcome) as token:
        os.environ[TOKEN] = token
        too_long = threading.Timer(LONGEST_SECONDS, kill_alive, (token,))
        too_long.start()
        try:
            return supervise(
                job,
                local if cluster is None else cluster.master,
                folder,
                faults=planned.faults,
                event_log=True,
                drivers=KILLS_A_ROUND + 1,
                checkpoints=checkpoints_in(place),
            )
        except JOB_ERRORS as failed:
            slow = f" (it was ended after {LONGEST_SECONDS:.0f} s)" if too_long.finished.is_set() else ""
            outcome.findings.append(f"the job failed{slow}: {type(failed).__name__}: {failed}")
            return None
        finally:
            too_long.cancel()
            del os.environ[TOKEN]


@contextmanager
def processes_of(outcome: Outcome) -> Iterator[str]:
    """Yield a token for the environment of a round's processes.

    At the end, a process with this token that still runs is a finding, and is killed.
    """
    token = secrets.token_hex(8)
    try:
        yield token
    finally:
        outcome.findings += [f"left behind: {one}" for one in lasting(lambda: list(alive(token)))]
        kill_alive(token)


def alive(token: str) -> Iterator[str]:
    """Describe each living process with this token."""
    return (f"process {one.pid} ({_described(one)}) of an ended driver" for one in _processes(token))


def kill_alive(token: str) -> None:
    """Kill each living process with this token."""
    for process in _processes(token):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _described(process: psutil.Process) -> str:
    """The status of a process and the end of its command line."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return f"{process.status()}: {' '.join(process.cmdline())[-_COMMAND_SHOWN:]}"
    return "ended since"


def _processes(token: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get(TOKEN) == token and process.pid != os.getpid()
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # the process has just ended, or belongs to another user
    return found
