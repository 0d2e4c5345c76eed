"""A job whose driver is a process of its own, and is started again when it dies.

`supervise` writes the job down, starts `python -m impl.driver FOLDER`, and waits. A driver that ends by
itself has a result, or an error that no driver would escape. One that was killed is followed by another,
which goes on from the newest checkpoint: it draws a higher attempt id, so that what is left of the dead
one's workers is refused everywhere (ONCE-06), and those end when their control connection does. The folder
it is started in comes last on its path: a job's own modules are found there, none that is called like ours.

    FOLDER/job        what is to be run
    FOLDER/struck     the planned faults that have struck, by number
    FOLDER/result     how it ended
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from impl.faults import FaultPlan
from impl.job import Job, JobResult, start_of
from impl.spark.errors import JobFailedError
from impl.spark.results import Start


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
    from pyspark import cloudpickle

    folder = output / "driver"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("struck", "result"):
        (folder / name).unlink(missing_ok=True)
    start = start_of(resume=resume, from_savepoint=from_savepoint)
    errand = Errand(job, master, output, start, tuple(faults), event_log, from_savepoint)
    deaths: list[str] = []
    while len(deaths) < drivers:
        (folder / "job").write_bytes(cloudpickle.dumps(errand))
        died = _run(folder)
        if died is None:
            return _outcome(folder, tuple(deaths))
        deaths.append(died)
        errand = replace(errand, start=Start.TAKEN_OVER)
    raise JobFailedError(
        f"job {job.name!r}: {drivers} drivers died, the last by {deaths[-1]}; see who kills them, and "
        "resume the job"
    )


def _run(folder: Path) -> str | None:
    """One driver, to its end; by which signal it was killed, None if it ended by itself."""
    root = str(Path(__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    driver = subprocess.Popen(
        [sys.executable, "-P", "-m", "impl.driver", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.DEVNULL,
    )
    try:
        code = driver.wait()
    except BaseException:
        driver.kill()  # its workers notice
        driver.wait()
        raise
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


def main(folder: Path) -> None:
    """The driver's process."""
    sys.path.append(os.getcwd())
    errand: Errand = pickle.loads((folder / "job").read_bytes())
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
    (folder / "result").write_bytes(_pickled(outcome))


def _pickled(outcome: JobResult | Exception) -> bytes:
    try:
        packed = pickle.dumps(outcome)
        pickle.loads(packed)
    except Exception:  # noqa: BLE001 - an error of a library that does not come back as it went
        return pickle.dumps(JobFailedError(f"{type(outcome).__name__}: {outcome}"))
    return packed


if __name__ == "__main__":
    from impl import driver

    driver.main(Path(sys.argv[1]))
