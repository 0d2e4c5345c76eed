"""The history of a job's checkpoints: completed and aborted ones, the reasons of aborts, and statistics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from impl.core import CheckpointType
from impl.metrics import SnapshotMeasures
from impl.monitoring.checkpoint_statistics import (
    Acknowledgement,
    CheckpointStatistics,
    CheckpointTracker,
    Restored,
)
from impl.spark.coordination.context import JobContext
from impl.state import StateHandle


@dataclass(frozen=True, slots=True)
class CheckpointReport:
    """A completed checkpoint: its attempt, and the ms from its trigger to its publication."""

    checkpoint: int
    attempt: int
    duration_ms: float


class CheckpointHistory:
    """The checkpoints of all attempts of a job. Completed savepoints are only in the statistics."""

    def __init__(self, context: JobContext, folder_of: Callable[[int], str]) -> None:
        """`folder_of`: a function that returns the folder of a savepoint; empty for a checkpoint."""
        self._context = context
        self._folder_of = folder_of
        self._tolerated = context.config.tolerable_checkpoint_failure_number
        self._subtasks = len(context.plan.ids())
        self._triggered: dict[int, float] = {}
        self._declined: dict[int, str] = {}
        self._shared: dict[str, frozenset[str]] = {}
        """Maps each task to the shared files of its last snapshot."""
        self.completions: list[CheckpointReport] = []
        self.aborted: list[tuple[int, str]] = []
        self.tracker = CheckpointTracker()

    def restored(self, checkpoint: int | None, states: Mapping[str, StateHandle]) -> None:
        """Record the checkpoint from which an attempt starts (None: the beginning), and its handles."""
        self._shared = {task: _files(state) for task, state in states.items()}
        if checkpoint is not None:
            self.tracker.restored(Restored(checkpoint, self._wall_ms()))

    def triggered(self, checkpoint: int, attempt: int, kind: CheckpointType) -> bool:
        """Record the trigger of a task. Returns whether it is the first trigger of this checkpoint."""
        if checkpoint in self._triggered:
            return False
        self._triggered[checkpoint] = self._context.clock()
        triggered = CheckpointStatistics(checkpoint, kind, attempt, self._wall_ms(), self._subtasks)
        self.tracker.triggered(triggered)
        return True

    def acknowledged(self, task: str, state: StateHandle, measures: SnapshotMeasures | None) -> None:
        """Record an acknowledgement, with the bytes that the task has written for it."""
        known = self._shared.get(task, frozenset())
        self._shared[task] = _files(state)
        written = state.size + sum(one.size for one in state.shared if one.file not in known)
        one = Acknowledgement(self._wall_ms(), written, state.whole_size, measures or SnapshotMeasures())
        self.tracker.acknowledged(state.checkpoint, task, one)

    def declined(self, task: str, checkpoint: int, cause: str | None) -> None:
        """Record why a task declines a checkpoint. `cause`: the error that caused the decline, or None."""
        self._declined = {checkpoint: f" ({task}: {cause})"} if cause else {}

    def completed(self, checkpoint: int, attempt: int, *, is_savepoint: bool) -> None:
        """Record a completed checkpoint, and its duration."""
        duration = round(self._passed(checkpoint), 1)
        self.tracker.completed(checkpoint, duration, self._folder_of(checkpoint))
        if not is_savepoint:
            self.completions.append(CheckpointReport(checkpoint, attempt, duration))

    def abort(self, checkpoint: int, reason: str) -> None:
        """Record an aborted checkpoint or savepoint, even if it was never triggered."""
        duration = round(self._passed(checkpoint), 1)
        self.aborted.append((checkpoint, reason))
        self.tracker.failed(checkpoint, duration, f"{reason}{self._declined.get(checkpoint, '')}")

    def too_many_failures(self, reason: str) -> str:
        """The message for an attempt that fails because more checkpoints have failed than tolerated."""
        checkpoint, _ = self.aborted[-1]
        return (
            f"checkpoint {checkpoint} was aborted with {reason}{self._declined.get(checkpoint, '')}: more "
            f"failures in a row than the {self._tolerated} tolerated"
        )

    def _passed(self, checkpoint: int) -> float:
        """The milliseconds since the trigger of `checkpoint`; 0 if it was never triggered."""
        now = self._context.clock()
        return (now - self._triggered.pop(checkpoint, now)) * 1_000

    def _wall_ms(self) -> int:
        return int(self._context.wall_clock() * 1_000)


def _files(state: StateHandle) -> frozenset[str]:
    return frozenset(one.file for one in state.shared)
