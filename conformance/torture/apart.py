"""A round whose driver or executors are killed: its driver is a process, and replaced when it dies.

Whatever the killed ones have started has to end by itself: it is known by a token in its environment.
"""

import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from conformance.torture.judge import Outcome, judge
from conformance.torture.leftovers import files, lasting
from conformance.torture.local import job_of
from conformance.torture.rounds import EXECUTOR, KILLS_A_ROUND, Round
from impl.config import ConfigError
from impl.connectors.errors import ConnectorError
from impl.driver import supervise
from impl.spark.errors import SparkRuntimeError
from impl.state import StateError

LOCAL_MASTER = "local[6]"
CLUSTER_MASTER = "local-cluster[2,6,1024]"
"""Two executors, each with room for the whole job: one that is killed is not awaited."""
TOKEN = "BARRIERSPEC_ROUND"
"""The environment variable that tells to which round a process belongs."""
LONGEST_SECONDS = 400.0
_COMMAND_SHOWN = 60


def run_apart(planned: Round, folder: Path) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it."""
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    outcome = Outcome(planned)
    token = os.environ[TOKEN] = secrets.token_hex(8)
    too_long = threading.Timer(LONGEST_SECONDS, kill_alive, (token,))
    too_long.start()
    try:
        result = supervise(
            job_of(planned, folder),
            CLUSTER_MASTER if planned.kind == EXECUTOR else LOCAL_MASTER,
            folder,
            faults=planned.faults,
            event_log=True,
            drivers=KILLS_A_ROUND + 1,
        )
    except (SparkRuntimeError, StateError, ConnectorError, ConfigError) as failed:
        slow = f" (it was ended after {LONGEST_SECONDS:.0f} s)" if too_long.finished.is_set() else ""
        outcome.findings.append(f"the job failed{slow}: {type(failed).__name__}: {failed}")
        return outcome
    finally:
        too_long.cancel()
        del os.environ[TOKEN]
        outcome.findings += [f"left behind: {one}" for one in lasting(lambda: list(alive(token)))]
        kill_alive(token)
        outcome.seconds = time.monotonic() - began
    outcome.drivers = len(result.deaths) + 1
    outcome.took_from(result)
    judge(outcome, folder, [folder / "events"])
    outcome.findings += [f"left behind: {one}" for one in files(folder, planned.retained)]
    outcome.seconds = time.monotonic() - began
    return outcome


def alive(token: str) -> Iterator[str]:
    """Processes that a driver of this round has started and that still live."""
    return (f"process {one.pid} ({_described(one)}) of an ended driver" for one in _processes(token))


def kill_alive(token: str) -> None:
    """End them; they have been reported, or the round has lasted too long."""
    for process in _processes(token):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _described(process: psutil.Process) -> str:
    """What it is and does: its status and the end of its command line."""
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
            continue  # it has just ended, or is somebody else's
    return found
