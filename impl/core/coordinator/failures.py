"""The count of failed checkpoints: the job fails if the count exceeds the number that the job tolerates.

As in Flink's CheckpointFailureManager, only some reasons count, a checkpoint counts once until the count is
cleared, and a success clears the count. From 1.12 on only a success with the highest id so far clears it, and
failures of checkpoints up to that id do not count (FLINK-18336). A stop-with-savepoint that a task declines
fails the job at once. Up to 1.14.2, a stop-with-savepoint fails the job if it fails for any reason after its
start. Rules: COORD-15 to COORD-17, COORD-28.
"""

from typing import Final

from impl.core.coordinator.events import (
    CHECKPOINT_DECLINED,
    CHECKPOINT_EXPIRED,
    FINALIZE_CHECKPOINT_FAILURE,
    IO_EXCEPTION,
    PRE_CHECK_REASONS,
)
from impl.core.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from impl.core.effects import ASYNC_EXCEPTION
from impl.core.errors import ConfigError
from impl.core.events import CheckpointType

UNLIMITED: Final = -1


class CheckpointFailureManager:
    """Counts failures. `tolerable`: number of consecutive failures that do not fail the job; -1: any number.

    Raises ConfigError if `tolerable` is below -1.
    """

    def __init__(self, tolerable: int = 0, profile: CoordinatorProfile = NEWEST_COORDINATOR) -> None:
        if tolerable < UNLIMITED:
            raise ConfigError(f"tolerable must be -1 or more, got {tolerable}; -1 tolerates any number")
        self._tolerable = tolerable
        self._profile = profile
        self._reasons = counted_reasons(profile)
        self._failures = 0
        self._counted: set[int] = set()
        self._highest_success: int | None = None

    @property
    def failures(self) -> int:
        """Number of counted failures since the count was cleared."""
        return self._failures

    def failed(
        self,
        checkpoint: int | None,
        reason: str,
        *,
        requested: CheckpointType = CheckpointType.CHECKPOINT,
        declined: bool = False,
    ) -> bool:
        """A checkpoint has failed; returns whether the job must fail.

        `checkpoint`: its id; None if it has none, and then each failure counts. `requested`: its type.
        `declined`: a task has declined it; else the coordinator has aborted it.
        """
        started = reason not in PRE_CHECK_REASONS
        if not self._profile.declines_count_for_all_types:
            if requested is CheckpointType.STOP and not self._profile.failed_stops_count_too:
                return started
            return self._exceeded(checkpoint, reason)
        at_task = declined and started
        if requested is CheckpointType.STOP and at_task:
            return True
        return (at_task or requested is CheckpointType.CHECKPOINT) and self._exceeded(checkpoint, reason)

    def completed(self, checkpoint: int) -> None:
        """A checkpoint has completed: clear the count, from 1.12 on only if its id is the highest so far."""
        if self._profile.counts_in_order:
            if self._highest_success is not None and checkpoint <= self._highest_success:
                return
            self._highest_success = checkpoint
        self._clear()

    def _exceeded(self, checkpoint: int | None, reason: str) -> bool:
        """Count a failure. Returns whether the count exceeds `tolerable`, and in that case clears it."""
        if self._tolerable == UNLIMITED or reason not in self._reasons or checkpoint in self._counted:
            return False
        if checkpoint is not None:
            if self._highest_success is not None and checkpoint <= self._highest_success:
                return False
            self._counted.add(checkpoint)
        self._failures += 1
        if self._failures <= self._tolerable:
            return False
        self._clear()
        return True

    def _clear(self) -> None:
        self._failures = 0
        self._counted.clear()


def counted_reasons(profile: CoordinatorProfile) -> frozenset[str]:
    """The reasons for which a failed checkpoint counts in a generation."""
    reasons = {CHECKPOINT_DECLINED}
    if profile.counts_timeouts:
        reasons |= {ASYNC_EXCEPTION, CHECKPOINT_EXPIRED}
    if profile.counts_io_exceptions:
        reasons.add(IO_EXCEPTION)
    if profile.counts_failed_finalization:
        reasons.add(FINALIZE_CHECKPOINT_FAILURE)
    return frozenset(reasons)
