"""COORD-15 to COORD-19: which failures of checkpoints count, and when they fail the job."""

from itertools import combinations

from model.coordinator.events import AcknowledgeMessage, CoordinatorRestart, DeclineMessage, FailJob
from model.coordinator.pending import Pending
from model.coordinator.properties.terms import emits, find_pending, reported_complete, start_fails
from model.coordinator.state import Coordinator
from model.events import FINALIZE_CHECKPOINT_FAILURE, NONE, PRE_FLIGHT, Effects, Event, NotifyAbort
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import CHECKPOINT, STOP

COORDINATOR_FAILURES = Registry("coordinator")


@COORDINATOR_FAILURES.step("COORD-15")
def coord_15(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """An id is counted only if it has just failed for a reason that counts."""
    if type(event) is CoordinatorRestart:
        return True
    reasons = before.plan.profile.counted
    for counted in after.failures.counted:
        if any(counted == known for known in before.failures.counted):
            continue
        if has_no_id(before, counted) and start_fails(before, after):
            continue
        ended = any(
            type(effect) is Abort
            and effect.checkpoint == counted
            and (effect.reason in reasons or before.io.metadata)
            for effect in effects
        )
        if not ended:
            return False
    return True


@COORDINATOR_FAILURES.step("COORD-15", DeclineMessage)
def coord_15_decline(
    before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator
) -> bool:
    """A decline for a reason that counts increases the count or fails the job. Others change no count."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    failed = declined_checkpoint(before, event)
    if failed is None:
        return True
    fails = emits(effects, FailJob(event.reason))
    if event.reason not in before.plan.profile.counted:
        return not fails and after.failures.counted == before.failures.counted
    if is_past(before, failed.checkpoint):  # COORD-16, COORD-17
        return True
    return fails or after.failures.counted == (*before.failures.counted, failed.checkpoint)


@COORDINATOR_FAILURES.step("COORD-15", AcknowledgeMessage)
def coord_15_failed_store(
    before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator
) -> bool:
    """From 1.18 on the failed addition of a checkpoint counts or fails the job. Before, it does neither.

    It never counts for a savepoint, for an id up to the highest success, or without a limit. An addition at
    the end of a master phase is not compared here.
    """
    lost = find_pending(before, event.checkpoint)
    if lost is None or before.fault == 0 or after.fault != 0 or start_fails(before, after):
        return True
    if before.plan.tolerable_failures < 0 or is_past(before, lost.checkpoint):
        return True
    counts = emits(effects, FailJob(FINALIZE_CHECKPOINT_FAILURE))
    counts = counts or any(known == lost.checkpoint for known in after.failures.counted)
    return counts == (before.plan.profile.counts_failed_store and lost.type == CHECKPOINT)


@COORDINATOR_FAILURES.state("COORD-16")
def coord_16(coordinator: Coordinator) -> bool:
    """At most the tolerated number of ids is counted, each id once. If the number is -1, no id is counted."""
    counted = coordinator.failures.counted
    if coordinator.plan.tolerable_failures < -1 or len(counted) > max(0, coordinator.plan.tolerable_failures):
        return False
    return not any(
        left == right and not has_no_id(coordinator, left) for left, right in combinations(counted, 2)
    )


@COORDINATOR_FAILURES.step("COORD-16", DeclineMessage)
def coord_16_too_many(
    before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator
) -> bool:
    """The job fails at the first failure that exceeds the tolerated number. The count then begins again."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    failed = declined_checkpoint(before, event)
    if failed is None:
        return True
    if (
        event.reason not in before.plan.profile.counted
        or failed.checkpoint <= before.failures.highest_success
    ):
        return True
    if is_past(before, failed.checkpoint):
        return not emits(effects, FailJob(event.reason)) and after.failures == before.failures
    one_too_many = len(before.failures.counted) >= before.plan.tolerable_failures
    fails = emits(effects, FailJob(event.reason))
    return fails == one_too_many and (not fails or not after.failures.counted)


@COORDINATOR_FAILURES.state("COORD-17")
def coord_17_counted(coordinator: Coordinator) -> bool:
    """Each counted id is above the highest success, or is -1 (a failure without id).

    Up to 1.11 the coordinator stores no success.
    """
    counted = coordinator.failures
    if not coordinator.plan.profile.counts_in_order and counted.highest_success != -1:
        return False
    return all(known > counted.highest_success or has_no_id(coordinator, known) for known in counted.counted)


@COORDINATOR_FAILURES.step("COORD-17", AcknowledgeMessage)
def coord_17(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """From 1.12 on, only a success above all earlier ones clears the count and is stored (FLINK-18336)."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    if not before.plan.profile.counts_in_order or before.plan.tolerable_failures < 0:
        return True
    done = reported_complete(before, event, effects)
    if done is None:
        return True
    if done.checkpoint > before.failures.highest_success:
        return not after.failures.counted and after.failures.highest_success == done.checkpoint
    return after.failures == before.failures


@COORDINATOR_FAILURES.step("COORD-17")
def coord_17_old_news(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The failure of a checkpoint that is not newer than the newest success does not count (FLINK-18336)."""
    if type(event) is CoordinatorRestart:
        return True
    newest = before.failures.highest_success
    if any(counted <= newest and not has_no_id(before, counted) for counted in after.failures.counted):
        return False
    failed = declined_checkpoint(before, event)
    if failed is None or failed.checkpoint > newest or start_fails(before, after):
        return True
    return after.failures == before.failures and not any(type(effect) is FailJob for effect in effects)


@COORDINATOR_FAILURES.step("COORD-18")
def coord_18(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Up to 1.11, every success clears the count, and no success is stored."""
    if before.plan.profile.counts_in_order or before.plan.tolerable_failures < 0:
        return True
    if after.failures.highest_success != before.failures.highest_success:
        return False
    done = reported_complete(before, event, effects)
    return done is None or not after.failures.counted


@COORDINATOR_FAILURES.step("COORD-19")
def coord_19(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """In generations without abort messages, no task is notified of an abort (FLINK-8871)."""
    if before.plan.profile.abort_notifications:
        return True
    return not any(type(effect) is NotifyAbort for effect in effects)


def declined_checkpoint(before: Coordinator, event: Event) -> Pending | None:
    """The checkpoint that a decline ends, if its failure can count. Else None.

    It can count if the job does not tolerate all failures, the reason is not one of PRE_FLIGHT, and the type
    is not STOP.
    """
    if type(event) is not DeclineMessage or before.plan.tolerable_failures < 0:
        return None
    if event.reason in PRE_FLIGHT:
        return None
    failed = find_pending(before, event.checkpoint)
    return None if failed is None or failed.type == STOP else failed


def has_no_id(coordinator: Coordinator, counted: int) -> bool:
    """Whether the counted failure has no id: a start failed before its checkpoint was pending."""
    return coordinator.plan.profile.counts_failed_io and counted == NONE


def is_past(before: Coordinator, checkpoint: int) -> bool:
    """Whether a failure of the checkpoint has counted, or it is not newer than the newest success."""
    known = any(checkpoint == counted for counted in before.failures.counted)
    return known or checkpoint <= before.failures.highest_success
