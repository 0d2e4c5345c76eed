"""The statistics of a job's checkpoints: counts, the latest of each kind, and a history with details.

The thread of the coordinator writes the statistics, and the threads of the REST interface read them. A reader
holds the lock only while it copies, never while it sends. The history has at most `REMEMBERED` checkpoints,
or more while more are pending.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from impl.core import CheckpointType
from impl.metrics import SnapshotMeasures

REMEMBERED: Final = 100
"""The maximum number of checkpoints in the history. The history has more only while more are pending."""


class CheckpointStatus(StrEnum):
    """The status of a checkpoint, with Flink's names."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A subtask's acknowledgement. `at_ms`: its time, in ms since 1970."""

    at_ms: int
    written_bytes: int
    """The number of bytes that this checkpoint has written."""
    whole_bytes: int
    """The number of bytes that it has written, and of the older files to which it refers."""
    measures: SnapshotMeasures


@dataclass(frozen=True, slots=True)
class CheckpointStatistics:
    """One checkpoint or savepoint.

    `triggered_ms`: the time of the trigger, in ms since 1970. `subtasks`: the number of subtasks of the job.
    """

    checkpoint: int
    type: CheckpointType
    attempt: int
    triggered_ms: int
    subtasks: int
    status: CheckpointStatus = CheckpointStatus.IN_PROGRESS
    duration_ms: float = 0.0
    """The time from the trigger to the completion or the failure."""
    acknowledged: Mapping[str, Acknowledgement] = field(default_factory=dict)
    """The acknowledgements, by subtask."""
    folder: str = ""
    """The folder of a completed savepoint; empty for a checkpoint."""
    failure: str = ""
    """The reason of the failure; empty without a failure."""
    discarded: bool = False
    """Whether the checkpoint was deleted after its completion."""

    @property
    def is_savepoint(self) -> bool:
        """Whether this is a savepoint, with or without the end of the job."""
        return self.type is not CheckpointType.CHECKPOINT


@dataclass(frozen=True, slots=True)
class Restored:
    """The last restore: the id of the restored checkpoint, and the time in ms since 1970."""

    checkpoint: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest checkpoint of each kind, and the latest restore. None: there was none."""

    completed: CheckpointStatistics | None = None
    savepoint: CheckpointStatistics | None = None
    failed: CheckpointStatistics | None = None
    restored: Restored | None = None


@dataclass(frozen=True, slots=True)
class JobCheckpoints:
    """The statistics at one moment. `history`: newest first. The counts begin at the start of the driver."""

    history: tuple[CheckpointStatistics, ...] = ()
    latest: Latest = Latest()
    restored: int = 0
    completed: int = 0
    failed: int = 0

    @property
    def in_progress(self) -> int:
        """The number of pending checkpoints and savepoints."""
        return sum(one.status is CheckpointStatus.IN_PROGRESS for one in self.history)


class CheckpointTracker:
    """The checkpoints of one job over all its attempts. Any thread may call its methods."""

    def __init__(self) -> None:
        self._known: dict[int, CheckpointStatistics] = {}
        self._latest = Latest()
        self._restored = self._completed = self._failed = 0
        self._changing = threading.Lock()

    def triggered(self, one: CheckpointStatistics) -> None:
        """Add a new checkpoint. If the history is full, remove the oldest checkpoint that has ended."""
        with self._changing:
            self._known[one.checkpoint] = replace(one, acknowledged={})
            ended = [key for key in self._known if self._pending(key) is None]
            if len(self._known) > REMEMBERED and ended:
                del self._known[min(ended)]

    def acknowledged(self, checkpoint: int, task: str, acknowledgement: Acknowledgement) -> None:
        """Record an acknowledgement. It has no effect if the checkpoint is not pending."""
        with self._changing:
            one = self._pending(checkpoint)
            if one is not None:
                assert isinstance(one.acknowledged, dict)
                one.acknowledged[task] = acknowledgement

    def completed(self, checkpoint: int, duration_ms: float, folder: str) -> None:
        """Record the completion of a checkpoint or savepoint."""
        with self._changing:
            done = self._ended(checkpoint, CheckpointStatus.COMPLETED, duration_ms, folder=folder)
            if done is not None:
                self._completed += 1
                self._latest = (
                    replace(self._latest, savepoint=done)
                    if done.is_savepoint
                    else replace(self._latest, completed=done)
                )

    def failed(self, checkpoint: int, duration_ms: float, reason: str) -> None:
        """Record the abort of a checkpoint or savepoint, which is then FAILED, as in Flink."""
        with self._changing:
            lost = self._ended(checkpoint, CheckpointStatus.FAILED, duration_ms, failure=reason)
            if lost is not None:
                self._failed += 1
                self._latest = replace(self._latest, failed=lost)

    def discarded(self, checkpoint: int) -> None:
        """Record that a completed checkpoint was deleted."""
        with self._changing:
            one = self._known.get(checkpoint)
            if one is not None:
                self._known[checkpoint] = replace(one, discarded=True)

    def restored(self, restored: Restored) -> None:
        """Record that an attempt starts from a checkpoint."""
        with self._changing:
            self._restored += 1
            self._latest = replace(self._latest, restored=restored)

    def view(self) -> JobCheckpoints:
        """A copy of all statistics."""
        with self._changing:
            history = tuple(self._copied(one) for one in reversed(self._known.values()))
            return JobCheckpoints(history, self._latest, self._restored, self._completed, self._failed)

    def one(self, checkpoint: int) -> CheckpointStatistics | None:
        """A copy of one checkpoint; None if it is not in the history."""
        with self._changing:
            one = self._known.get(checkpoint)
            return None if one is None else self._copied(one)

    def _ended(
        self,
        checkpoint: int,
        status: CheckpointStatus,
        duration_ms: float,
        *,
        folder: str = "",
        failure: str = "",
    ) -> CheckpointStatistics | None:
        """Record the end of a checkpoint and return its statistics; None if the checkpoint is not pending."""
        one = self._pending(checkpoint)
        if one is not None:
            one = replace(one, status=status, duration_ms=duration_ms, folder=folder, failure=failure)
            self._known[checkpoint] = one
        return one

    def _pending(self, checkpoint: int) -> CheckpointStatistics | None:
        one = self._known.get(checkpoint)
        return one if one is not None and one.status is CheckpointStatus.IN_PROGRESS else None

    def _copied(self, one: CheckpointStatistics) -> CheckpointStatistics:
        """A copy for another thread. Acknowledgements are copied if the checkpoint is pending."""
        pending = one.status is CheckpointStatus.IN_PROGRESS
        return replace(one, acknowledged=dict(one.acknowledged)) if pending else one
