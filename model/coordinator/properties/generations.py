"""COORD-13 to COORD-22 and SUB-11: the order of requests, failures, and a store that fails."""

from itertools import combinations, pairwise

from model.coordinator.events import (
    AcknowledgeMessage,
    Complete,
    CoordinatorRestart,
    DeclineMessage,
    DiscardCheckpoint,
    FailJob,
    Rejected,
    TriggerRequest,
)
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import is_added, notified_tasks
from model.coordinator.properties.files import used
from model.coordinator.properties.terms import (
    emits,
    find_pending,
    is_cleaning,
    is_safe,
    last_missing,
    start_fails,
)
from model.coordinator.requests import Request
from model.coordinator.shared_state import Registered, SharedState
from model.coordinator.state import Coordinator, new_coordinator
from model.events import (
    CHECKPOINT_SUBSUMED,
    FINALIZE_CHECKPOINT_FAILURE,
    MAYBE,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NONE,
    PRE_FLIGHT,
    Advance,
    Effects,
    Event,
    NotifyAbort,
    NotifyComplete,
)
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import CHECKPOINT, SAVEPOINT, STOP

COORDINATOR_GENERATIONS = Registry("coordinator")


# ---------------------------------------------------------------- requests


@COORDINATOR_GENERATIONS.state("COORD-13")
def coord_13(coordinator: Coordinator) -> bool:
    """No request in the queue is before a more urgent request."""
    return not any(is_more_urgent(behind, ahead) for ahead, behind in pairwise(coordinator.queue))


@COORDINATOR_GENERATIONS.state("COORD-13")
def coord_13_own(coordinator: Coordinator) -> bool:
    """A scheduler's request is periodic, not forced, for a checkpoint. All others await an answer."""
    return all(
        one.awaits_answer
        or (coordinator.plan.interval > 0 and one.periodic and not one.forced and one.type == CHECKPOINT)
        for one in coordinator.queue
    )


@COORDINATOR_GENERATIONS.step("COORD-13")
def coord_13_from_the_head(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If no request joins, requests leave the queue from its head."""
    if type(event) is TriggerRequest or before.plan.interval:
        return True
    gone = len(before.queue) - len(after.queue)
    return gone >= 0 and after.queue == before.queue[gone:]


@COORDINATOR_GENERATIONS.step("COORD-14")
def coord_14(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A single periodic request starts exactly if the pause is over. The pause concerns no other request."""
    early = tuple(
        effect
        for effect in effects
        if type(effect) is Rejected and effect.reason == MINIMUM_TIME_BETWEEN_CHECKPOINTS
    )
    if not before.plan.profile.queues_requests:
        return not early or before.now < before.pause_ends
    if type(event) is not TriggerRequest or before.queue or event.type != CHECKPOINT:
        return not early or type(event) is Advance or any(waiting.periodic for waiting in before.queue)
    held = event.periodic and not event.forced and before.now < before.pause_ends
    free = before.master == -1 and len(before.pending) < before.plan.max_concurrent
    free = free and not is_cleaning(before)
    if not held or not free:
        return not early
    return len(early) == 1 and after.next_id == before.next_id and not after.queue


@COORDINATOR_GENERATIONS.step("COORD-14")
def coord_14_waiting(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A waiting periodic request does not start in the pause, even if it has just begun (FLINK-18856)."""
    if (
        type(event) in {TriggerRequest, Advance, CoordinatorRestart}
        or not before.plan.profile.queues_requests
    ):
        return True
    if after.now >= after.pause_ends or any(not one.periodic or one.forced for one in before.queue):
        return True
    return after.next_id == before.next_id


@COORDINATOR_GENERATIONS.step("COORD-14")
def coord_14_pause(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The pause begins with a completion and with no other event."""
    done = last_missing(before, event)
    if type(event) is CoordinatorRestart:
        return after.pause_ends == 0
    fails = before.io.metadata or (before.fault != 0 and done is not None and is_added(before, done))
    if done is None or fails or not before.plan.min_pause:
        return after.pause_ends == before.pause_ends
    return after.pause_ends == before.now + before.plan.min_pause


@COORDINATOR_GENERATIONS.state("COORD-14")
def coord_14_ends(coordinator: Coordinator) -> bool:
    """The pause has passed, or ends within its length from now."""
    return 0 <= coordinator.pause_ends <= coordinator.now + coordinator.plan.min_pause


# ---------------------------------------------------------------- failures


@COORDINATOR_GENERATIONS.step("COORD-15")
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


@COORDINATOR_GENERATIONS.step("COORD-15", DeclineMessage)
def coord_15_decline(
    before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator
) -> bool:
    """A decline whose reason counts is counted, or it is the failure that exceeds the tolerated number."""
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


@COORDINATOR_GENERATIONS.state("COORD-16")
def coord_16(coordinator: Coordinator) -> bool:
    """At most the tolerated number of ids is counted, each id once. -1 tolerates any number."""
    counted = coordinator.failures.counted
    if coordinator.plan.tolerable_failures < -1 or len(counted) > max(0, coordinator.plan.tolerable_failures):
        return False
    return not any(
        left == right and not has_no_id(coordinator, left) for left, right in combinations(counted, 2)
    )


@COORDINATOR_GENERATIONS.step("COORD-16", DeclineMessage)
def coord_16_too_many(
    before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator
) -> bool:
    """The job fails exactly at one failure more than it tolerates. The count then restarts."""
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


@COORDINATOR_GENERATIONS.state("COORD-17")
def coord_17_counted(coordinator: Coordinator) -> bool:
    """Only ids above the newest success count, and failures without id. Up to 1.11 no success is stored."""
    counted = coordinator.failures
    if not coordinator.plan.profile.counts_in_order and counted.highest_success != -1:
        return False
    return all(known > counted.highest_success or has_no_id(coordinator, known) for known in counted.counted)


@COORDINATOR_GENERATIONS.step("COORD-17", AcknowledgeMessage)
def coord_17(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """Only a success above all others clears the count and is stored (FLINK-18336)."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    if not before.plan.profile.counts_in_order or before.plan.tolerable_failures < 0:
        return True
    done = completed_alone(before, event, effects)
    if done is None:
        return True
    if done.checkpoint > before.failures.highest_success:
        return not after.failures.counted and after.failures.highest_success == done.checkpoint
    return after.failures == before.failures


@COORDINATOR_GENERATIONS.step("COORD-17")
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


@COORDINATOR_GENERATIONS.step("COORD-18")
def coord_18(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Any success clears the count, and a failure of any id counts."""
    if before.plan.profile.counts_in_order or before.plan.tolerable_failures < 0:
        return True
    if after.failures.highest_success != before.failures.highest_success:
        return False
    done = completed_alone(before, event, effects)
    return done is None or not after.failures.counted


@COORDINATOR_GENERATIONS.step("COORD-19")
def coord_19(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """In generations without abort messages, no task is notified of an abort (FLINK-8871)."""
    if before.plan.profile.abort_notifications:
        return True
    return not any(type(effect) is NotifyAbort for effect in effects)


# ---------------------------------------------------------------- the store


@COORDINATOR_GENERATIONS.step("COORD-20", AcknowledgeMessage)
def coord_20(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint that the store refuses replaces none, and no task is notified that it is complete."""
    lost = refused_by_store(before, event, effects, after)
    if lost is None:
        return True
    if after.store != before.store or find_pending(after, lost.checkpoint) is not None:
        return False
    notified = any(type(effect) is NotifyComplete for effect in effects)
    subsumed = any(type(effect) is Abort and effect.reason == CHECKPOINT_SUBSUMED for effect in effects)
    aborted = emits(effects, Abort(lost.checkpoint, FINALIZE_CHECKPOINT_FAILURE))
    return not notified and not subsumed and aborted != before.plan.profile.completes_before_storing


@COORDINATOR_GENERATIONS.step("COORD-21", AcknowledgeMessage)
def coord_21(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint that may be stored is not deleted, and one that is not stored is (FLINK-22494)."""
    lost = refused_by_store(before, event, effects, after)
    if lost is None:
        return True
    deleted = emits(effects, DiscardCheckpoint(lost.checkpoint))
    doubtful = before.fault == MAYBE and before.plan.profile.keeps_possibly_stored
    return deleted != doubtful


@COORDINATOR_GENERATIONS.step("COORD-22", CoordinatorRestart)
def coord_22(before: Coordinator, event: CoordinatorRestart, effects: Effects, after: Coordinator) -> bool:
    """A new coordinator has only the configuration, the ids, the durable checkpoints and their files."""
    new = new_coordinator(before.plan, before.store.retain)
    kept = before.next_id, before.now, before.fault, before.io
    found = after.store.entries
    durable = (*before.store.entries, *before.unseen)
    ascends = all(left.checkpoint < right.checkpoint for left, right in pairwise(found))
    same = len(found) == len(durable) and all(entry in durable for entry in found)
    ids, files = tuple(entry.checkpoint for entry in found), (*before.shared.completed, *before.shared.unseen)
    uses = tuple(use for known in ids for use in files if use.checkpoint == known)
    registered: tuple[Registered, ...] = ()
    for use in uses:
        registered = used(registered, use.checkpoint, (use.handle,))
    claims = not before.plan.profile.registers_at_acknowledgement or not ids
    shared = SharedState(registered, uses, (), NONE if claims else ids[-1])
    new = new._replace(next_id=kept[0], now=kept[1], fault=kept[2], io=kept[3], shared=shared)
    return not effects and ascends and same and after == new._replace(store=new.store._replace(entries=found))


@COORDINATOR_GENERATIONS.step("SUB-11", AcknowledgeMessage)
def sub_11(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """A stored savepoint is the latest, ends the older checkpoints and is notified (FLINK-25191)."""
    done = completed_alone(before, event, effects)
    if (
        done is None
        or done.type != SAVEPOINT
        or not before.plan.profile.stores_savepoints
        or before.fault != 0
    ):
        return True
    latest = after.store.entries[-1].checkpoint == done.checkpoint
    notified = tuple(effect for effect in effects if type(effect) is NotifyComplete)
    expected = tuple(
        NotifyComplete(done.checkpoint, task)
        for task, is_notified in enumerate(notified_tasks(done, after))
        if is_notified
    )
    older = tuple(
        pending
        for pending in before.pending
        if pending.checkpoint < done.checkpoint and not is_safe(before, pending)
    )
    ended = all(find_pending(after, pending.checkpoint) is None for pending in older)
    return latest and ended and notified == expected


# ---------------------------------------------------------------- terms of the rules


def is_more_urgent(request: Request, other: Request) -> bool:
    """The request starts before the other, in whichever order they have arrived."""
    if request.type == CHECKPOINT and other.type != CHECKPOINT:
        return False
    if request.type != CHECKPOINT and other.type == CHECKPOINT:
        return True
    if request.forced != other.forced:
        return request.forced
    return other.periodic and not request.periodic


def declined_checkpoint(before: Coordinator, event: Event) -> Pending | None:
    """The checkpoint that a task declines for its own reason, in a plan that counts failures; else None."""
    if type(event) is not DeclineMessage or before.plan.tolerable_failures < 0:
        return None
    if event.reason in PRE_FLIGHT:
        return None
    failed = find_pending(before, event.checkpoint)
    return None if failed is None or failed.type == STOP else failed


def has_no_id(coordinator: Coordinator, counted: int) -> bool:
    """Whether the counted failure is of a start without an id, or that lost it before it was pending."""
    return coordinator.plan.profile.counts_failed_io and counted == NONE


def is_past(before: Coordinator, checkpoint: int) -> bool:
    """The checkpoint has counted, or is not newer than the newest success."""
    known = any(checkpoint == counted for counted in before.failures.counted)
    return known or checkpoint <= before.failures.highest_success


def completed_alone(before: Coordinator, event: Event, effects: Effects) -> Pending | None:
    """The checkpoint whose last acknowledgement arrived, while the store did not fail; else None."""
    if type(event) is not AcknowledgeMessage or not any(type(effect) is Complete for effect in effects):
        return None
    return find_pending(before, event.checkpoint)


def refused_by_store(
    before: Coordinator, event: Event, effects: Effects, after: Coordinator
) -> Pending | None:
    """The checkpoint at whose last acknowledgement the store has failed; else None."""
    if type(event) is not AcknowledgeMessage or before.fault == 0 or after.fault != 0:
        return None
    return find_pending(before, event.checkpoint)
