"""Decides when failing checkpoints fail the job: more consecutive counted failures than are tolerated.

Only some reasons count. One checkpoint counts once until the count is cleared. The success of a checkpoint
that is newer than all successes before clears it, and failures of older checkpoints do not count.

The module describes Flink 1.14 and later; `model.coordinator.generations` has what older generations do, and
`model.coordinator.profiles` the reasons that count in each generation.
"""

from typing import NamedTuple

from model.coordinator.profiles import CoordinatorProfile
from model.events import NONE, PRE_FLIGHT, Rules
from model.store.store import CHECKPOINT, STOP


class Failures(NamedTuple):
    """The count of failures since the last success."""

    counted: tuple[int, ...]
    """The ids that have counted, in the order of their failures."""
    highest_success: int
    """The highest id that has succeeded; -1 before the first."""


class Failure(NamedTuple):
    """One failing checkpoint."""

    checkpoint: int
    type: int
    """CHECKPOINT, SAVEPOINT or STOP."""
    reason: str
    by_task: bool
    """A task reports it; else it is the coordinator's own."""


def new_failures() -> Failures:
    """The count before the first failure."""
    return Failures((), NONE)


class FailureSteps:
    """The steps of the count, and the operators of which older generations have their own."""

    rules: Rules = ("COORD-15", "COORD-16", "COORD-17")
    """The rules of the count."""

    def on_failure(
        self, failures: Failures, profile: CoordinatorProfile, tolerable: int, failure: Failure
    ) -> tuple[Failures, bool]:
        """The count after a failure, and whether the job fails now."""
        if failure.reason in PRE_FLIGHT:
            failure = failure._replace(by_task=False)
        if self.fails_the_job(failure):
            return failures, True
        if tolerable < 0 or failure.reason not in profile.counted or not self.concerns_the_job(failure):
            return failures, False
        if is_counted_or_older(failures, failure.checkpoint):
            return failures, False
        counted = (*failures.counted, failure.checkpoint)
        if len(counted) > tolerable:
            return failures._replace(counted=()), True
        return failures._replace(counted=counted), False

    def fails_the_job(self, failure: Failure) -> bool:
        """The failure fails the job whatever is tolerated: a task has failed a stop-with-savepoint."""
        return failure.by_task and failure.type == STOP

    def concerns_the_job(self, failure: Failure) -> bool:
        """The coordinator's own failures count for checkpoints only."""
        return failure.by_task or failure.type == CHECKPOINT

    def on_success(self, failures: Failures, tolerable: int, checkpoint: int) -> Failures:
        """The count after a checkpoint is complete."""
        if tolerable < 0:  # failures are never counted
            return failures
        return self.cleared(failures, checkpoint)

    def cleared(self, failures: Failures, checkpoint: int) -> Failures:
        """The highest success clears the count (COORD-17)."""
        if checkpoint > failures.highest_success:
            return Failures((), checkpoint)
        return failures


def is_counted_or_older(failures: Failures, checkpoint: int) -> bool:
    """The checkpoint has counted already, or a newer one has succeeded."""
    if checkpoint <= failures.highest_success:
        return True
    return any(checkpoint == counted for counted in failures.counted)
