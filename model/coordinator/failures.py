"""The count of failed checkpoints. If it exceeds the tolerated number, the job fails.

Only failures for some reasons count, and each checkpoint counts once. A success clears the count if its
checkpoint is newer than all that have succeeded before. The failure of a checkpoint counts only if the
checkpoint is newer than all that have succeeded.

The module describes Flink 1.14.3 and later. `model.coordinator.generations` holds the steps of older
generations. `model.coordinator.profiles` holds the reasons that count in each generation.
"""

from typing import NamedTuple

from model.coordinator.profiles import CoordinatorProfile
from model.events import NONE, PRE_FLIGHT, Rules
from model.store.store import CHECKPOINT, STOP


class Failures(NamedTuple):
    """The count of failures since the last success."""

    counted: tuple[int, ...]
    """The ids whose failures have counted, in the order of the failures."""
    highest_success: int
    """The highest id that has succeeded; -1 before the first success."""


class Failure(NamedTuple):
    """One failure of a checkpoint."""

    checkpoint: int
    """The id. -1 if the checkpoint failed before its id was drawn."""
    type: int
    """CHECKPOINT, SAVEPOINT or STOP."""
    reason: str
    by_task: bool
    """A task has reported the failure. Else the coordinator itself has caused it."""


def new_failures() -> Failures:
    """The count before the first failure."""
    return Failures((), NONE)


class FailureSteps:
    """The steps of the count, and the methods that older generations override."""

    rules: Rules = ("COORD-15", "COORD-16", "COORD-17")
    """The ids of the rules of the count."""

    def on_failure(
        self, failures: Failures, profile: CoordinatorProfile, tolerable: int, failure: Failure
    ) -> tuple[Failures, bool]:
        """Returns the count after a failure, and whether the job fails. `tolerable`: -1 for any number."""
        if failure.reason in PRE_FLIGHT:
            failure = failure._replace(by_task=False)
        if self.fails_the_job(failure):
            return failures, True
        if tolerable < 0 or failure.reason not in profile.counted or not self.concerns_the_job(failure):
            return failures, False
        if self.is_known(failures, failure.checkpoint):
            return failures, False
        counted = (*failures.counted, failure.checkpoint)
        if len(counted) > tolerable:
            return failures._replace(counted=()), True
        return failures._replace(counted=counted), False

    def fails_the_job(self, failure: Failure) -> bool:
        """Whether the failure fails the job at once: a task reports that a stop-with-savepoint has failed."""
        return failure.by_task and failure.type == STOP

    def concerns_the_job(self, failure: Failure) -> bool:
        """Whether the failure can count: a task has reported it, or the checkpoint is of type CHECKPOINT."""
        return failure.by_task or failure.type == CHECKPOINT

    def is_known(self, failures: Failures, checkpoint: int) -> bool:
        """Whether the failure does not count again: its id has counted, or is not above the highest success.

        A failure without an id always counts.
        """
        return checkpoint != NONE and is_counted_or_older(failures, checkpoint)

    def on_success(self, failures: Failures, tolerable: int, checkpoint: int) -> Failures:
        """The count after the completion of a checkpoint."""
        if tolerable < 0:  # the coordinator counts no failure
            return failures
        return self.cleared(failures, checkpoint)

    def cleared(self, failures: Failures, checkpoint: int) -> Failures:
        """The count after a success: empty if the id is the highest so far, else unchanged (COORD-17)."""
        if checkpoint > failures.highest_success:
            return Failures((), checkpoint)
        return failures


def is_counted_or_older(failures: Failures, checkpoint: int) -> bool:
    """Whether the checkpoint has counted, or is not newer than the highest success."""
    if failures.highest_success != NONE and checkpoint <= failures.highest_success:
        return True
    return any(checkpoint == counted for counted in failures.counted)
