"""The settings of one run of a job: its start, its files, and the progress that it reports."""

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
    """The progress of a running job: the argument of `on_progress`, several times a second.

    `seconds`: since the first attempt began. `records`: source records read, with those before the restored
    checkpoint; `records_per_second`: since the previous call. `pending`: the oldest pending checkpoint, None
    if there is none. `completed`: the number of completed checkpoints, without savepoints.
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
    """The start of a run."""

    ANEW = "anew"
    """The beginning, in fresh folders."""
    RESUMED = "resumed"
    """The newest checkpoint in the folders; there must be one."""
    SAVEPOINT = "savepoint"
    """A savepoint."""
    TAKEN_OVER = "taken over"
    """After a driver that died: its newest checkpoint, or the beginning if it had none."""


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
        """The location of savepoints whose request names none; None if the checkpoints are in memory.

        It is a folder in the output folder, or in the location of the checkpoints if that is another one.
        """
        return savepoints_beside(self.output, self.checkpoints)

    @property
    def metrics(self) -> Path:
        """The file with a line for every completed checkpoint, in the output folder."""
        return self.output / FILE


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run, beside the declaration of its job."""

    start: Start = Start.ANEW
    from_savepoint: Where | None = None
    """With `Start.SAVEPOINT`: the location of the savepoint or of the retained checkpoint."""
    claim_mode: str = NO_CLAIM
    """Whether the job owns that savepoint."""
    checkpoints: Where | None = None
    """The location of the checkpoints; None: in the output folder."""
    allow_non_restored_state: bool = False
    """Whether state of stages that the job no longer has may be dropped."""
    event_log: bool = False
    faults: tuple[FaultPlan, ...] = ()
    fault_record: Path | None = None
    """The file with the faults that have happened, for the next driver too; None for none."""
    owner: str = ""
    """The token of the driver's supervisor; empty without a supervisor."""
    follows: int | None = None
    """The newest attempt when the supervisor began. A newer one of another owner has superseded this run."""
    on_progress: OnProgress | None = None
    rest_port: int | None = None
    """The port of the job's web page and REST interface; 0: a free one, None: there is none."""
    rest_bind_address: str = LOCALHOST
    monitor: JobMonitor | None = None
    """The data that the web page and the REST interface show; None without them."""
    requests: SavepointRequests | None = None
    """The requests for savepoints; None: only other processes request them."""
    spark: "SparkSession | None" = None
    """The session to use, which stays open; None if the run makes its own session."""


def checkpoints_of(output: Path, settings: RunSettings, config: CheckpointConfig) -> Where:
    """The location of a run's checkpoints.

    A resumed run without the option `checkpoints` uses the location of the earlier run. Raises ConfigError
    for settings that need checkpoints outside of memory, and if those of the earlier run were in memory.
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
    """Raise ConfigError if a run needs what outlives its driver, and the checkpoints are in its memory."""
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
