"""A round whose first driver is frozen, replaced by a second driver, and thawed while the second one runs.

In most rounds, SIGSTOP stops the driver and all its children (`freeze`) at a point drawn from the seed. In
the other rounds only a sink is stopped (`hang`), and its driver is killed. A second driver takes over the job
and completes three checkpoints. Then the frozen processes continue. They must not change the output any more,
and the first driver must end with `SupersededError`.
"""

import os
import pickle
import secrets
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from conformance.observe.guarantees.guarantee import Row
from conformance.torture.faulty_store import KeptStore
from conformance.torture.frozen_drivers.processes import ON_SPARK, PROGRAM, ProcessSession
from conformance.torture.judge import Outcome, judge
from conformance.torture.killed_postgres import KeptServer
from conformance.torture.leftovers import lasting
from conformance.torture.local_round import MASTER, checkpoints_in, job_into, job_of
from conformance.torture.rounds import PARQUET, POSTGRES, SQLITE, Round
from conformance.torture.separate_driver_round import LOCAL_MASTER, TO_LEAVE_SECONDS, TOKEN, alive, kill_alive
from impl.config import ExecutionConfig, RestartConfig
from impl.connectors.errors import DatabaseLockedError
from impl.connectors.two_phase import Output
from impl.driver import DriverJob
from impl.faults import Action
from impl.job import Job, JobResult, Progress, SqliteOutput
from impl.jobs.numbers import UPDATES
from impl.spark.run_settings import RunSettings, Start
from impl.state import SupersededError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CHECKPOINTS_BEFORE_THE_THAW = 3
_TO_FREEZE_SECONDS, _TO_END_SECONDS, _LONGEST_SECONDS = 180.0, 120.0, 300.0
_PATIENT_MS = 120_000
_EXECUTION = ExecutionConfig(heartbeat_interval_ms=50, heartbeat_timeout_ms=4_000, batch_rows=100)


class _FirstDriver:
    """The driver that is frozen: a separate process, with all processes that it has started."""

    def __init__(
        self, job: Job, planned: Round, folder: Path, token: str, place: str | None, *, on_spark: bool
    ) -> None:
        from pyspark import cloudpickle

        self._folder = folder / "first-driver"
        self._folder.mkdir(parents=True)
        self._whole = planned.faults[0].action == Action.FREEZE
        record = self._folder / "faults"
        checkpoints = checkpoints_in(place)
        settings = RunSettings(faults=planned.faults, fault_record=record, checkpoints=checkpoints)
        driver_job = DriverJob(job, LOCAL_MASTER, folder, settings)
        (self._folder / "job").write_bytes(cloudpickle.dumps(driver_job))
        root = str(Path(__file__).resolve().parents[3])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = psutil.Popen(
            [sys.executable, "-P", "-m", PROGRAM, *([ON_SPARK] if on_spark else []), str(self._folder)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), TOKEN: token},
            stdin=subprocess.DEVNULL,
        )
        self._family = ProcessFamily(self._process)

    def wait_until_frozen(self) -> bool:
        """Wait until the fault has frozen it. Returns False if it ends before, or takes too long.

        For the action `freeze`, all descendants of the driver must be stopped too.
        """
        until = time.monotonic() + _TO_FREEZE_SECONDS
        while time.monotonic() < until:
            if self._family.all_stopped() if self._whole else self._family.stopped():
                return True
            if self._process.poll() is not None:
                return False
            time.sleep(0.01)
        return False

    def runs(self) -> bool:
        """Whether the driver has not ended."""
        return self._process.poll() is None

    def fault_occurred(self) -> bool:
        """Whether the driver has recorded that its fault occurs."""
        return (self._folder / "faults").is_file()

    def kill(self) -> None:
        """Kill the driver process itself, which is not frozen."""
        self._process.kill()
        self._process.wait()

    def thaw(self, *, driver_first: bool) -> None:
        """Let every frozen process continue."""
        self._family.thaw(root_first=driver_first)

    def ended(self) -> JobResult | Exception | None:
        """Wait for the driver's end. Returns its result or its error; None if it does not end in time."""
        try:
            self._process.wait(_TO_END_SECONDS)
        except psutil.TimeoutExpired:
            return None
        file = self._folder / "result"
        if not file.is_file():
            return None
        result: JobResult | Exception = pickle.loads(file.read_bytes())
        return result


def run_frozen(
    planned: Round,
    folder: Path,
    server: KeptServer | None,
    spark: "SparkSession | None" = None,
    store: KeptStore | None = None,
) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it.

    `server`: for a PostgreSQL sink. `spark`: the session of the second driver; the first driver then starts
    another one. None: both run without Spark, as in `processes`. `store`: as in `run_local`.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    outcome = Outcome(planned, drivers=2)
    token = secrets.token_hex(8)
    place = None if store is None else store.begin(planned.name)
    job = _job(planned, folder, server, place)
    whole = planned.faults[0].action == Action.FREEZE
    hidden = replace(job.execution, heartbeat_timeout_ms=_PATIENT_MS)  # the driver must not notice the hang
    patient = job if whole else job.with_execution(hidden)
    first = _FirstDriver(patient, planned, folder, token, place, on_spark=spark is not None)
    session = ProcessSession().as_spark() if spark is None else spark
    try:
        thawed = False

        def watch(progress: Progress) -> None:
            nonlocal thawed
            if not thawed and progress.completed >= CHECKPOINTS_BEFORE_THE_THAW:
                thawed = True
                first.thaw(driver_first=planned.driver_first)
            if progress.seconds > _LONGEST_SECONDS:
                raise TimeoutError(f"the second driver has not ended after {_LONGEST_SECONDS:.0f} s")

        injected = planned.faults if first.wait_until_frozen() else ()
        if injected:
            outcome.injected = injected
            if not whole:
                first.kill()
        elif first.runs():  # the first driver is far too slow: the second one completes the input
            if first.fault_occurred():
                outcome.findings.append("its fault has occurred, and not every process of the driver stopped")
            kill_alive(token)
        else:
            outcome.drivers = 1  # the first driver had read all its input before the fault was due
            if not isinstance(ended := first.ended(), JobResult):
                outcome.findings.append(f"the first driver ended by itself, with {ended!r:.400}")
        if outcome.drivers > 1:
            second = RunSettings(
                Start.TAKEN_OVER, checkpoints=checkpoints_in(place), on_progress=watch, spark=session
            )
            try:
                result = job.drive(MASTER, folder, second)
            except DatabaseLockedError:  # a frozen sink holds the lock until it is thawed
                thawed = True
                first.thaw(driver_first=planned.driver_first)
                result = job.drive(MASTER, folder, second)
            outcome.took_from(replace(result, faults=injected))
            if not thawed:
                first.thaw(driver_first=planned.driver_first)
            if whole and injected:
                outcome.findings += _first_ended(first.ended())
    except Exception as failed:  # noqa: BLE001 - a round that fails does not end the campaign
        outcome.findings.append(f"the second driver failed: {type(failed).__name__}: {failed}")
    finally:
        first.thaw(driver_first=True)
        left = lasting(lambda: list(alive(token)), TO_LEAVE_SECONDS)
        outcome.findings += [f"left behind: {one}" for one in left]
        kill_alive(token)
        outcome.store = store.judging() if store else {}
    rows = _committed(planned, folder, server)
    judge(outcome, folder, (), (), rows)
    outcome.seconds = time.monotonic() - began
    return outcome


def _first_ended(ended: JobResult | Exception | None) -> list[str]:
    if isinstance(ended, SupersededError):
        return []
    got = "nothing" if ended is None else f"{type(ended).__name__}: {str(ended)[:400]}"
    return [f"the first driver was superseded; expected it to end with SupersededError, got {got}"]


def _job(planned: Round, folder: Path, server: KeptServer | None, place: str | None) -> Job:
    if place is not None:
        job = job_of(planned, folder, place=place)
        return job.with_execution(_EXECUTION)
    output: Path | Output = folder / "committed"
    if planned.sink == SQLITE:
        output = SqliteOutput(folder / "committed.db", "updates", UPDATES)
    elif planned.sink == POSTGRES:
        assert server is not None
        output = server.output(planned.table)
    return job_into(output, planned, _EXECUTION, RestartConfig(10))


def _committed(planned: Round, folder: Path, server: KeptServer | None) -> list[Row] | None:
    """The rows of the output table; None for Parquet output, which is in the folder."""
    if planned.sink == PARQUET:
        return None
    if planned.sink == SQLITE:
        with closing(sqlite3.connect(folder / "committed.db")) as session:
            if not session.execute("SELECT 1 FROM sqlite_master WHERE name = 'updates'").fetchall():
                return []  # no driver has made the table yet
            found = session.execute("SELECT key, number, count, total FROM updates")
            return [Row(*row) for row in found.fetchall()]
    assert server is not None
    return server.rows(planned.table)


_ENDED = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class ProcessFamily:
    """A root process and its descendants, which a fault freezes (SIGSTOP) and this object thaws (SIGCONT).

    A process stops when the kernel next schedules it, on a busy machine some time after the signal.
    """

    def __init__(self, root: psutil.Process) -> None:
        self._root = root
        self._known: list[psutil.Process] = [root]

    def stopped(self) -> list[psutil.Process]:
        """The members that are stopped now, parents first."""
        return [one for one in self._members() if _status(one) == psutil.STATUS_STOPPED]

    def all_stopped(self) -> bool:
        """Whether the root and all its living descendants are stopped."""
        members = [*self._members()]
        alive = [status for one in members if (status := _status(one)) not in (None, *_ENDED)]
        if not alive or set(alive) != {psutil.STATUS_STOPPED}:
            return False
        return self._members() == members  # no process was started during this check

    def thaw(self, *, root_first: bool) -> None:
        """Let every member continue, also each member that was started since the last call.

        Members stay known after the root is killed. A member that has not stopped yet loses its pending
        SIGSTOP.
        """
        members = self._members()
        for one in members if root_first else reversed(members):
            with suppress(psutil.NoSuchProcess):
                one.resume()

    def _members(self) -> list[psutil.Process]:
        for one in list(self._known):
            with suppress(psutil.NoSuchProcess):
                self._known += [child for child in one.children(recursive=True) if child not in self._known]
        return self._known


def _status(process: psutil.Process) -> str | None:
    """The status of the process; None if it has ended."""
    try:
        return str(process.status())
    except psutil.NoSuchProcess:
        return None
