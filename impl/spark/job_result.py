"""The result of a finished job."""

from dataclasses import dataclass

from impl.faults import FaultPlan
from impl.savepoints import Savepoint
from impl.spark.coordination.attempt import AttemptReport
from impl.spark.coordination.history import CheckpointReport
from impl.spark.run_settings import JobPaths
from impl.state import Refused


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a finished job.

    `records`: the number of rows that its sources have read, each counted once.

    `aborted`: the ids of aborted checkpoints and savepoints, with the reasons. `refused`: checkpoints that
    could not be restored, with the reasons; an older one was used (ONCE-04). `seconds`: the time from the
    start of the first attempt to the end of the cleanup, without the start of Spark. `faults`: planned faults
    that have happened, also under earlier drivers. `deaths`: in a supervised run, the signals that ended
    earlier drivers. `attempts` and `checkpoints` are those of the last driver.
    """

    name: str
    attempts: tuple[AttemptReport, ...]
    checkpoints: tuple[CheckpointReport, ...]
    aborted: tuple[tuple[int, str], ...]
    refused: tuple[Refused, ...]
    records: int
    seconds: float
    paths: JobPaths
    faults: tuple[FaultPlan, ...] = ()
    deaths: tuple[str, ...] = ()
    savepoints: tuple[Savepoint, ...] = ()
    """The completed savepoints, including the one that has stopped the job."""
    not_cleaned: str | None = None
    """The reason why unneeded files are left in the checkpoint folder, such as a full disk; else None."""

    @property
    def stopped_with(self) -> Savepoint | None:
        """The savepoint that has stopped the job; None if the job ended with its input."""
        return next((one for one in self.savepoints if one.stopped), None)

    @property
    def recoveries(self) -> tuple[float, ...]:
        """For each failed attempt: the seconds until all tasks of the next attempt ran, if they ever did."""
        pairs = zip(self.attempts, self.attempts[1:], strict=False)
        return tuple(
            round(after.running - before.failed, 3)
            for before, after in pairs
            if before.failed is not None and after.running is not None
        )
