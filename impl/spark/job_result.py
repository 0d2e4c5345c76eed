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
    """The result of a finished job. `records`: rows that its sources have read, each counted once.

    `aborted`: ids, savepoints included, and reasons. `refused`: checkpoints that could not be restored, and
    why; an older one was used (ONCE-04). `seconds`: the time from the start of the first attempt to the end
    of the cleanup, without the start of Spark. `faults`: planned faults that happened, also under earlier
    drivers. `deaths`: in a supervised run, the signals that ended earlier drivers; attempts and checkpoints
    are those of the last driver.
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
    """The savepoints that were taken, with the one that has stopped the job."""
    not_cleaned: str | None = None
    """Why unneeded files are left in the checkpoint folder, a full disk for example; None if none are."""

    @property
    def stopped_with(self) -> Savepoint | None:
        """The savepoint that has ended the job; None if its input has ended."""
        return next((one for one in self.savepoints if one.stopped), None)

    @property
    def recoveries(self) -> tuple[float, ...]:
        """The seconds from each attempt's failure until all tasks of the next attempt ran, if they did."""
        pairs = zip(self.attempts, self.attempts[1:], strict=False)
        return tuple(
            round(after.running - before.failed, 3)
            for before, after in pairs
            if before.failed is not None and after.running is not None
        )
