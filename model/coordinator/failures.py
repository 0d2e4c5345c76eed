"""Decides when failing checkpoints fail the job: more consecutive counted failures than are tolerated.

Only some reasons count. One checkpoint counts once until the count is cleared, and a success clears it. The
module knows ids and reasons; `model.coordinator.profiles` holds the reasons that count in each generation.
"""

from typing import NamedTuple

from model.coordinator.events import PRE_FLIGHT
from model.coordinator.profiles import CoordinatorProfile
from model.events import NONE
from model.store.store import CHECKPOINT, STOP


class Failures(NamedTuple):
    """The count of failures since the last success."""

    counted: tuple[int, ...]
    """The ids that have counted, in the order of their failures."""
    highest_success: int
    """The highest id that has succeeded; -1 before the first."""


def new_failures() -> Failures:
    """The count before the first failure."""
    return Failures((), NONE)


def on_failure(
    failures: Failures,
    profile: CoordinatorProfile,
    tolerable: int,
    checkpoint: int,
    type: int,  # noqa: A002 - the protocol's word
    reason: str,
    *,
    by_task: bool,
) -> tuple[Failures, bool]:
    """The count after a failure that a task or the coordinator reports, and whether the job fails now."""
    by_task = by_task and reason not in PRE_FLIGHT
    if not profile.savepoints_fail_alone and not profile.stop_counts_too and type == STOP:
        return failures, reason not in PRE_FLIGHT
    if by_task and type == STOP and not profile.stop_counts_too:
        return failures, True
    if tolerable < 0 or reason not in profile.counted:
        return failures, False
    if profile.savepoints_fail_alone and not by_task and type != CHECKPOINT:
        return failures, False
    if is_old_news(failures, checkpoint):
        return failures, False
    counted = (*failures.counted, checkpoint)
    if len(counted) > tolerable:
        return failures._replace(counted=()), True
    return failures._replace(counted=counted), False


def is_old_news(failures: Failures, checkpoint: int) -> bool:
    """The checkpoint has counted already, or a newer one has succeeded."""
    if checkpoint <= failures.highest_success:
        return True
    return any(checkpoint == counted for counted in failures.counted)


def on_success(failures: Failures, profile: CoordinatorProfile, tolerable: int, checkpoint: int) -> Failures:
    """The count after a checkpoint is complete."""
    if tolerable < 0:  # failures are never counted
        return failures
    if not profile.counts_in_order:
        return failures._replace(counted=())
    if checkpoint > failures.highest_success:
        return Failures((), checkpoint)
    return failures
