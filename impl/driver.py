"""Runs a job in a separate driver process, and starts a new driver when that process is killed.

`supervise` starts `python -m impl.driver`, sends it the job over a pipe, and waits. A driver that is not
killed leaves the result of the job, or an error. `supervise` then starts no further driver, because it would
raise the same error. If the driver was killed, `supervise` starts the next one, which restores the newest
checkpoint. The attempts of the next driver have higher ids, so every storage and every sink refuses the
workers of the killed driver (ONCE-06). These workers end when their control connection closes. The working
folder is the last entry of the driver's module path. So the driver finds a job's modules there, but no module
there replaces a module of this package.

The pipe stays open while the supervisor lives. A driver that reads the end of the pipe has lost its
supervisor, and ends itself and all processes that it has started. A supervisor that is interrupted, or gets
SIGTERM, ends these processes itself. A job may contain the password of a database, so no file contains the
job. The folder `driver` has two kinds of files, which only their owner can read. Their names begin with the
supervisor's token:

    TOKEN-faults      the planned faults that have happened, by number
    TOKEN-N-result    the result or the error of the supervisor's N-th driver
"""

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Unpack

from impl.config import ConfigError
from impl.job import Job, JobResult, RunOptions, settings_of
from impl.output_lock import inherit, locked
from impl.process_tree import TOKEN, end, exit_on_sigterm, new_token
from impl.spark.errors import JobFailedError
from impl.spark.run_settings import RunSettings, Start, checkpoints_of
from impl.state import CheckpointStorage

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class DriverJob:
    """The data that the supervisor sends to a driver: a job, its Spark master, output folder and settings."""

    job: Job
    master: str
    output: Path
    settings: RunSettings


class _Supervisor(NamedTuple):
    folder: Path
    """The folder `driver` in the output folder."""
    token: str
    """The token in the environment of every process that the drivers have started (`process_tree`)."""
    lock: int
    """The descriptor of the lock of the output folder."""


def supervise(
    job: Job, master: str, output: Path, *, drivers: int = 4, **options: Unpack[RunOptions]
) -> JobResult:
    """Run `job` in a driver process, which is replaced when it is killed. Returns the result of the job.

    `options`: the options of `Job.execute` except `spark` and `on_progress`, which cannot be sent to another
    process. `drivers`: the maximum number of drivers. Raises `ConfigError` for `spark` or `on_progress`, and
    `JobFailedError` if `drivers` drivers were killed. If a driver ends with an error, raises that error.
    """
    local = [name for name in ("spark", "on_progress") if options.get(name) is not None]
    if local:
        raise ConfigError(
            f"{', '.join(local)}: cannot be sent to another process; leave the option out, or call execute"
        )
    token = new_token()
    folder = output / "driver"
    settings = replace(settings_of(options), fault_record=folder / f"{token}-faults", owner=token)
    resume = settings.start is Start.RESUMED
    with exit_on_sigterm(), locked(output, supersedes=resume) as lock:
        _make_private(folder, empty=not resume)
        supervisor = _Supervisor(folder, token, lock)
        checkpoints = checkpoints_of(output, settings, job.checkpoints)
        follows = CheckpointStorage(checkpoints).newest_attempt()
        settings = replace(settings, follows=follows, checkpoints=checkpoints)
        deaths: list[str] = []
        try:
            while len(deaths) < drivers:
                result = folder / f"{token}-{len(deaths) + 1}-result"
                died = _run(DriverJob(job, master, output, settings), supervisor, result)
                if died is None:
                    return _outcome(result, tuple(deaths))
                deaths.append(died)
                settings = replace(settings, start=Start.TAKEN_OVER)
        finally:
            end(token)  # processes of drivers that were killed, or have failed, may still run
    raise JobFailedError(
        f"job {job.name!r}: {drivers} drivers were killed, the last one by {deaths[-1]}; find out what kills "
        "them, and resume the job"
    )


def _make_private(folder: Path, *, empty: bool) -> None:
    """Make the folder, readable by its owner only. `empty`: whether to remove the files of earlier runs."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for file in folder.iterdir() if empty else ():
        file.unlink(missing_ok=True)


def _run(driver_job: DriverJob, supervisor: _Supervisor, result: Path) -> str | None:
    """Run one driver to its end; returns the name of the signal that killed it, or None."""
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps((driver_job, supervisor.lock, result))
    root = str(Path(__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    driver = subprocess.Popen(
        [sys.executable, "-P", "-m", "impl.driver"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), TOKEN: supervisor.token},
        stdin=subprocess.PIPE,
        pass_fds=(supervisor.lock,),
        start_new_session=True,  # a terminal sends its signals only to the supervisor, which ends the driver
    )
    assert driver.stdin is not None
    try:
        with contextlib.suppress(BrokenPipeError):  # the driver was killed; its exit code has the signal
            driver.stdin.write(_LENGTH.pack(len(packed)) + packed)
            driver.stdin.flush()
        code = driver.wait()
    except BaseException:
        end(supervisor.token)
        driver.wait()
        raise
    finally:
        with contextlib.suppress(BrokenPipeError):
            driver.stdin.close()
    return signal.Signals(-code).name if code < 0 else None


def _outcome(result: Path, deaths: tuple[str, ...]) -> JobResult:
    if not result.exists():
        raise JobFailedError(
            f"the driver ended without a result ({result}); read the reason in its output on the terminal, "
            "and resume the job"
        )
    outcome = pickle.loads(result.read_bytes())
    if isinstance(outcome, Exception):
        raise outcome
    if not isinstance(outcome, JobResult):
        raise JobFailedError(
            f"{result}: expected a job's result, got {type(outcome).__name__}; resume the job"
        )
    return replace(outcome, deaths=deaths)


def main(supervisor: int) -> None:
    """Run the driver's process. `supervisor`: the descriptor of the pipe from which it reads the job."""
    sys.path.append(os.getcwd())
    (length,) = _LENGTH.unpack(_exactly(supervisor, _LENGTH.size))
    driver_job, lock, result = pickle.loads(_exactly(supervisor, length))
    assert isinstance(driver_job, DriverJob)
    inherit(driver_job.output, lock)
    threading.Thread(target=_end_with, args=(supervisor,), name="supervisor", daemon=True).start()
    _write_privately(result, pack_outcome(driver_job))


def pack_outcome(driver_job: DriverJob) -> bytes:
    """Run a job; returns its result or its error, pickled."""
    outcome: JobResult | Exception
    try:
        outcome = driver_job.job.drive(driver_job.master, driver_job.output, driver_job.settings)
    except Exception as failed:  # noqa: BLE001 - the supervisor raises it
        outcome = failed
    try:
        packed = pickle.dumps(outcome)
        pickle.loads(packed)
    except Exception:  # noqa: BLE001 - an error of a library that cannot be pickled
        return pickle.dumps(JobFailedError(f"{type(outcome).__name__}: {outcome}"))
    return packed


def _exactly(supervisor: int, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        part = os.read(supervisor, count - len(got))
        if not part:
            raise SystemExit("the supervisor ended before it had sent the job")
        got += part
    return bytes(got)


def _end_with(supervisor: int) -> None:
    """Wait for the end of the supervisor, then end all processes of this driver.

    It reads the descriptor directly: a thread that waits in a buffered file locks this file, and then the
    interpreter cannot close the file at the normal end of the driver.
    """
    while os.read(supervisor, 1):
        pass  # the supervisor sends nothing after the job
    end(os.environ[TOKEN])
    os._exit(1)


def _write_privately(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read. Readers see the whole file or no file."""
    temporary = path.with_name(f"{path.name}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


if __name__ == "__main__":
    from impl import driver

    driver.main(sys.stdin.fileno())
