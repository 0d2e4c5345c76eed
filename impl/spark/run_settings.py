"""The settings of one run of a job, its files, and the progress that it reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from impl.config import CLAIM, NO_CLAIM, CheckpointConfig, ConfigError
from impl.faults import FaultPlan
from impl.metrics import FILE, TaskMeasures
from impl.monitoring.job_monitor import JobMonitor
from impl.monitoring.rest_server import LOCALHOST
from impl.savepoints import SavepointRequests
from impl.state.locations import (
    CHECKPOINTS,
    Where,
    is_in_memory,
    new_memory,
    recorded_checkpoint_folder,
    savepoints_beside,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running job. `on_progress` is called with it several times a second.

    `seconds`: the time since the first attempt began. `records`: the number of source records read, including
    those before the restored checkpoint. `records_per_second`: the rate since the previous call. `pending`:
    the oldest pending checkpoint; None if there is none. `completed`: the number of completed checkpoints,
    without savepoints.
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
    """The newest measurements of each task."""


class Start(Enum):
    """The state from which a run starts."""

    ANEW = "anew"
    """The beginning, in fresh folders."""
    RESUMED = "resumed"
    """The newest checkpoint in the folder, which must have one."""
    SAVEPOINT = "savepoint"
    """A savepoint."""
    TAKEN_OVER = "taken over"
    """The newest checkpoint of a driver that was killed, or the beginning if it has no checkpoint."""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class JobPaths:
    """The files of a job. `events`: None for a run without an event log."""

    output: Path
    checkpoints: Where
    """The location of the checkpoints, in the output folder or elsewhere."""
    events: Path | None
    spark_log: Path

    @property
    def savepoints(self) -> Where | None:
        """The location of savepoints if a request names none; None if the checkpoints are in memory.

        It is a folder in the output folder, or in the location of the checkpoints if that is elsewhere.
        """
        return savepoints_beside(self.output, self.checkpoints)

    @property
    def metrics(self) -> Path:
        """The file with a line for every completed checkpoint, in the output folder."""
        return self.output / FILE


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run that the declaration of its job does not have."""

    start: Start = Start.ANEW
    from_savepoint: Where | None = None
    """For `Start.SAVEPOINT`: the location of the savepoint or of the retained checkpoint."""
    claim_mode: str = NO_CLAIM
    """Whether the job owns this savepoint: CLAIM or NO_CLAIM."""
    checkpoints: Where | None = None
    """The location of the checkpoints; None: in the output folder."""
    allow_non_restored_state: bool = False
    """Whether the state of stages that the job no longer has may be lost."""
    event_log: bool = False
    faults: tuple[FaultPlan, ...] = ()
    fault_record: Path | None = None
    """The file that records the faults that have happened, also for the next driver; None: no file."""
    owner: str = ""
    """The token of the driver's supervisor; empty without a supervisor."""
    follows: int | None = None
    """The newest attempt when the supervisor began. A newer attempt of another owner supersedes this run."""
    on_progress: OnProgress | None = None
    rest_port: int | None = None
    """The port of the job's web page and REST interface. 0: a free port. None: no web page."""
    rest_bind_address: str = LOCALHOST
    monitor: JobMonitor | None = None
    """The data that the web page and the REST interface show; None without them."""
    requests: SavepointRequests | None = None
    """The requests for savepoints; None: only other processes request them."""
    spark: "SparkSession | None" = None
    """The session to use, which stays open; None if the run makes its own session."""


def checkpoints_of(output: Path, settings: RunSettings, config: CheckpointConfig) -> Where:
    """The location of a run's checkpoints.

    A resumed run without the option `checkpoints` uses the location of the earlier run. Raises ConfigError if
    the settings need files but the checkpoints are in memory, or if the earlier run had them in memory.
    """
    if config.is_in_memory:
        _require_memory_suffices(settings)
        return new_memory()
    if settings.checkpoints is not None:
        return settings.checkpoints
    recorded = recorded_checkpoint_folder(output) if settings.start is Start.RESUMED else None
    if recorded is not None and is_in_memory(recorded):
        raise ConfigError(
            f"resume: expected the checkpoints of the run in {output}, but they were in the memory of its "
            "driver and have ended with it; begin from a savepoint (from_savepoint), or anew in other folders"
        )
    return recorded or output / CHECKPOINTS


def _require_memory_suffices(settings: RunSettings) -> None:
    """Raise ConfigError if the run needs checkpoints that still exist after the end of its driver."""
    needs = {
        "resume restores the checkpoints of a driver that has ended": settings.start is Start.RESUMED,
        "supervise replaces a driver that has died": bool(settings.owner),
        "claim_mode CLAIM deletes the savepoint, and the driver may die after that": (
            settings.claim_mode == CLAIM
        ),
        "the option checkpoints names a folder for files": settings.checkpoints is not None,
    }
    for need in (one for one, given in needs.items() if given):
        raise ConfigError(
            f"{need}, but with checkpoint_storage jobmanager all checkpoints end with the driver; take "
            "checkpoint_storage filesystem, or leave this out"
        )
