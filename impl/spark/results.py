"""What a job is begun with, and what it tells: while it runs, and when it has ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from impl.faults import FaultPlan
from impl.metrics import FILE, TaskMeasures
from impl.savepoints import Savepoint
from impl.spark.coordination.attempt import AttemptReport
from impl.spark.coordination.history import CheckpointReport
from impl.state import Refused


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job is: what `on_progress` is called with, several times a second.

    `records`: source records read in this attempt; `records_per_second`: since the call before;
    `pending`: the checkpoint in progress, None between two.
    """

    seconds: float
    attempt: int
    running: bool
    records: int
    records_per_second: float
    pending: int | None
    completed: int
    restarts: int
    tasks: Mapping[str, TaskMeasures] = field(default_factory=dict)
    """What each task has told last."""


class Start(Enum):
    """What a run begins with."""

    ANEW = "anew"
    """The beginning, in fresh folders."""
    RESUMED = "resumed"
    """The newest checkpoint that is left there; there has to be one."""
    SAVEPOINT = "savepoint"
    """A savepoint, which was brought into the checkpoint folder."""
    TAKEN_OVER = "taken over"
    """What a driver that died has left: its newest checkpoint, or the beginning if it had none."""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class JobPaths:
    """Where a job leaves what it makes. `events`: None for a run without an event log."""

    checkpoints: Path
    events: Path | None
    spark_log: Path

    @property
    def savepoints(self) -> Path:
        """Where savepoints go if nobody names another place, beside the checkpoints."""
        return self.checkpoints.parent / "savepoints"

    @property
    def metrics(self) -> Path:
        """A line for every completed checkpoint, beside the checkpoints."""
        return self.checkpoints.parent / FILE


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a finished job went. `records`: rows its sources have read, rows read again after a failure once.

    `refused`: checkpoints that could not be gone on from, and why; an older one was used instead (ONCE-04).
    `seconds`: from the first attempt's start to the end of the last, without the start of Spark.
    `deaths`: how drivers died before the one that finished, in a supervised run; what is told of attempts
    and checkpoints is of that one.
    """

    name: str
    attempts: tuple[AttemptReport, ...]
    checkpoints: tuple[CheckpointReport, ...]
    aborted: tuple[tuple[int, str], ...]
    refused: tuple[Refused, ...]
    faults: tuple[FaultPlan, ...]
    records: int
    seconds: float
    paths: JobPaths
    deaths: tuple[str, ...] = ()
    savepoints: tuple[Savepoint, ...] = ()
    """Those that were taken, the one that has stopped the job among them."""

    @property
    def stopped_with(self) -> Savepoint | None:
        """The savepoint that has ended the job; None if its input has."""
        return next((one for one in self.savepoints if one.stopped), None)

    @property
    def recoveries(self) -> tuple[float, ...]:
        """For each failed attempt, the seconds from its failure until all tasks of the next one ran."""
        pairs = zip(self.attempts, self.attempts[1:], strict=False)
        return tuple(
            round(after.running - before.failed, 3)
            for before, after in pairs
            if before.failed is not None and after.running is not None
        )
