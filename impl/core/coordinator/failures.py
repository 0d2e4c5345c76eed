"""When failing checkpoints fail the job: more consecutive counted failures than are tolerated.

Facts of Flink (CheckpointFailureManager): only some reasons count; one checkpoint counts once until the
counter is cleared; a success clears it. From 1.12 on only the highest success so far does, and failures of
checkpoints up to that one are ignored (FLINK-18336). A stop-with-savepoint that fails cannot be tried
again behind its user's back: it fails the job at once. `CoordinatorGeneration` knows what counted when.
"""

from typing import Final

from impl.core.coordinator.events import (
    CHECKPOINT_DECLINED,
    CHECKPOINT_EXPIRED,
    FINALIZE_CHECKPOINT_FAILURE,
    IO_EXCEPTION,
    PRE_CHECK_REASONS,
)
from impl.core.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorGeneration
from impl.core.effects import ASYNC_EXCEPTION
from impl.core.errors import ConfigError
from impl.core.events import CheckpointType

UNLIMITED: Final = -1


class CheckpointFailureManager:
    """Counts failures. `tolerable`: how many in a row the job survives, -1 for any number."""

    def __init__(self, tolerable: int = 0, generation: CoordinatorGeneration = NEWEST_COORDINATOR) -> None:
        if tolerable < UNLIMITED:
            raise ConfigError(f"tolerable has to be -1 or more, came {tolerable}; -1 tolerates everything")
        self._tolerable = tolerable
        self._generation = generation
        self._reasons = counted_reasons(generation)
        self._failures = 0
        self._counted: set[int] = set()
        self._highest_success: int | None = None

    @property
    def failures(self) -> int:
        """Counted failures since the last success or the last failure of the job."""
        return self._failures

    def failed(
        self,
        checkpoint: int,
        reason: str,
        *,
        requested: CheckpointType = CheckpointType.CHECKPOINT,
        declined: bool = False,
    ) -> bool:
        """A checkpoint failed; answers whether the job has to fail.

        `declined`: a task said so; else the coordinator itself gave the checkpoint up.
        """
        started = reason not in PRE_CHECK_REASONS
        if not self._generation.failures_are_told_apart:
            if requested is CheckpointType.STOP and self._generation.stops_fail_once:
                return started
            return self._exceeded(checkpoint, reason)
        at_task = declined and started
        if requested is CheckpointType.STOP and at_task:
            return True
        return (at_task or requested is CheckpointType.CHECKPOINT) and self._exceeded(checkpoint, reason)

    def completed(self, checkpoint: int) -> None:
        """A checkpoint completed; an older one than the highest so far may say nothing about now."""
        if self._generation.newest_success_counts:
            if self._highest_success is not None and checkpoint <= self._highest_success:
                return
            self._highest_success = checkpoint
        self._clear()

    def _exceeded(self, checkpoint: int, reason: str) -> bool:
        """One more counted failure; one too many clears the counter."""
        if self._tolerable == UNLIMITED or reason not in self._reasons or checkpoint in self._counted:
            return False
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


def counted_reasons(generation: CoordinatorGeneration) -> frozenset[str]:
    """The reasons that count; all others, a subsumption or a restart, are no failure of the job."""
    reasons = {CHECKPOINT_DECLINED}
    if generation.counts_what_takes_too_long:
        reasons |= {ASYNC_EXCEPTION, CHECKPOINT_EXPIRED}
    if generation.counts_failed_storage:
        reasons.add(IO_EXCEPTION)
    if generation.counts_failed_completion:
        reasons.add(FINALIZE_CHECKPOINT_FAILURE)
    return frozenset(reasons)
