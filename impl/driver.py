"""A job whose driver is a process of its own, and is started again when it dies.

`supervise` starts `python -m impl.driver FOLDER`, hands it the job over a pipe, and waits. A driver that ends
by itself has a result, or an error that no driver would escape. One that was killed is followed by another,
which goes on from the newest checkpoint: it draws a higher attempt id, so that what is left of the dead
one's workers is refused everywhere (ONCE-06), and those end when their control connection does. The folder
it is started in comes last on its path: a job's own modules are found there, none that is called like ours.

The pipe stays open for as long as the supervisor lives: a driver that reads its end has lost its supervisor,
however that died, and ends itself with all that it has started. A supervisor that is interrupted, or gets
SIGTERM, ends them itself. A job may hold a database's password, so it is in no file; what is in the folder
can be read by its owner only.

    FOLDER/struck     the planned faults that have struck, by number
    FOLDER/result     how it ended
"""

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from impl.faults import FaultPlan
from impl.job import Job, JobResult, start_of
from impl.output_lock import inherit, locked
from impl.process_tree import TOKEN, end, exit_on_sigterm, new_token
from impl.spark.errors import JobFailedError
from impl.spark.results import Start

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Errand:
    """What a driver is given."""

    job: Job
    master: str
    output: Path
    start: Start
    faults: tuple[FaultPlan, ...]
    event_log: bool
    from_savepoint: Path | None = None


def supervise(
    job: Job,
    master: str,
    output: Path,
    *,
    faults: Sequence[FaultPlan] = (),
    event_log: bool = False,
    resume: bool = False,
    from_savepoint: Path | None = None,
    drivers: int = 4,
) -> JobResult:
    """Run `job` as `Job.execute` does, in a driver that is replaced when it is killed.

    At most `drivers` of them, the first among them: then `JobFailedError`. Everything else that a driver
    raises is raised here. The folder of the driver is `output / "driver"`.
    """
    start = start_of(resume=resume, from_savepoint=from_savepoint)
    errand = Errand(job, master, output, start, tuple(faults), event_log, from_savepoint)
    token = new_token()
    with exit_on_sigterm(), locked(output, supersedes=resume) as lock:
        folder = _emptied(output / "driver")
        deaths: list[str] = []
        try:
            while len(deaths) < drivers:
                died = _run(folder, errand, token, lock)
                if died is None:
                    return _outcome(folder, tuple(deaths))
                deaths.append(died)
                errand = replace(errand, start=Start.TAKEN_OVER)
        finally:
            end(token)  # of drivers that were killed, or have failed, something may still run
    raise JobFailedError(
        f"job {job.name!r}: {drivers} drivers died, the last by {deaths[-1]}; see who kills them, and "
        "resume the job"
    )


def _emptied(folder: Path) -> Path:
    """The folder of the driver, for its owner only, without what an earlier run has left."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name in ("job", "struck", "result"):  # an older version has left the job itself
        (folder / name).unlink(missing_ok=True)
    return folder


def _run(folder: Path, errand: Errand, token: str, lock: int) -> str | None:
    """One driver, to its end; by which signal it was killed, None if it ended by itself."""
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps((errand, lock))
    root = str(Path(__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    driver = subprocess.Popen(
        [sys.executable, "-P", "-m", "impl.driver", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), TOKEN: token},
        stdin=subprocess.PIPE,
        pass_fds=(lock,),
        start_new_session=True,  # what is typed at a terminal reaches the supervisor, which ends the driver
    )
    assert driver.stdin is not None
    try:
        with contextlib.suppress(BrokenPipeError):  # it has died; its code tells how
            driver.stdin.write(_LENGTH.pack(len(packed)) + packed)
            driver.stdin.flush()
        code = driver.wait()
    except BaseException:
        end(token)
        driver.wait()
        raise
    finally:
        with contextlib.suppress(BrokenPipeError):
            driver.stdin.close()
    return signal.Signals(-code).name if code < 0 else None


def _outcome(folder: Path, deaths: tuple[str, ...]) -> JobResult:
    path = folder / "result"
    if not path.exists():
        raise JobFailedError(f"the driver ended without a result; what it printed tells why ({folder})")
    outcome = pickle.loads(path.read_bytes())
    if isinstance(outcome, Exception):
        raise outcome
    if not isinstance(outcome, JobResult):
        raise JobFailedError(f"{path}: expected a job's result, came {type(outcome).__name__}")
    return replace(outcome, deaths=deaths)


def main(folder: Path, supervisor: int) -> None:
    """The driver's process. `supervisor`: the descriptor of the pipe that the job comes by."""
    sys.path.append(os.getcwd())
    (length,) = _LENGTH.unpack(_exactly(supervisor, _LENGTH.size))
    errand, lock = pickle.loads(_exactly(supervisor, length))
    assert isinstance(errand, Errand)
    inherit(errand.output, lock)
    threading.Thread(target=_end_with, args=(supervisor,), name="supervisor", daemon=True).start()
    outcome: JobResult | Exception
    try:
        outcome = errand.job.drive(
            errand.master,
            errand.output,
            errand.start,
            errand.faults,
            errand.event_log,
            struck=folder / "struck",
            from_savepoint=errand.from_savepoint,
        )
    except Exception as failed:  # noqa: BLE001 - whatever it is, the supervisor raises it
        outcome = failed
    _write_privately(folder / "result", _pickled(outcome))


def _exactly(supervisor: int, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        part = os.read(supervisor, count - len(got))
        if not part:
            raise SystemExit("the supervisor ended before it had handed over the job")
        got += part
    return bytes(got)


def _end_with(supervisor: int) -> None:
    """Wait for the end of the supervisor, then end everything that this driver has started, and itself.

    It still waits when the driver ends by itself, so it holds no lock of a buffered file then.
    """
    while os.read(supervisor, 1):
        pass  # nothing more is sent
    end(os.environ[TOKEN])
    os._exit(1)


def _write_privately(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)


def _pickled(outcome: JobResult | Exception) -> bytes:
    try:
        packed = pickle.dumps(outcome)
        pickle.loads(packed)
    except Exception:  # noqa: BLE001 - an error of a library that does not come back as it went
        return pickle.dumps(JobFailedError(f"{type(outcome).__name__}: {outcome}"))
    return packed


if __name__ == "__main__":
    from impl import driver

    driver.main(Path(sys.argv[1]), sys.stdin.fileno())
