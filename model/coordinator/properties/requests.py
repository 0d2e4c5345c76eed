"""The order of requests, the minimum pause, the turns of waiting requests, and the master phase.

Rules COORD-13, COORD-14 and COORD-29 to COORD-31.
"""

from itertools import pairwise

from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailJob,
    Rejected,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.generations import coordinator_steps
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import is_added
from model.coordinator.properties.terms import is_cleaning, last_missing, start_fails
from model.coordinator.requests import Request
from model.coordinator.state import Coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import MINIMUM_TIME_BETWEEN_CHECKPOINTS, NONE, Advance, Effects, Event
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import CHECKPOINT

COORDINATOR_REQUESTS = Registry("coordinator")
COORDINATOR_TURNS = Registry("coordinator")


@COORDINATOR_REQUESTS.state("COORD-13")
def coord_13(coordinator: Coordinator) -> bool:
    """No request in the queue is directly before a more urgent request."""
    return not any(is_more_urgent(behind, ahead) for ahead, behind in pairwise(coordinator.queue))


@COORDINATOR_REQUESTS.state("COORD-13")
def coord_13_own(coordinator: Coordinator) -> bool:
    """A request of the scheduler is periodic and not forced, and its type is CHECKPOINT."""
    return all(
        one.awaits_answer
        or (coordinator.plan.interval > 0 and one.periodic and not one.forced and one.type == CHECKPOINT)
        for one in coordinator.queue
    )


@COORDINATOR_REQUESTS.step("COORD-13")
def coord_13_from_the_head(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If no request joins, requests leave the queue from its head."""
    if type(event) is TriggerRequest or before.plan.interval:
        return True
    gone = len(before.queue) - len(after.queue)
    return gone >= 0 and after.queue == before.queue[gone:]


@COORDINATOR_REQUESTS.step("COORD-14")
def coord_14(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If nothing else delays a new periodic request, it is rejected if and only if the pause is not over.

    No other new request is rejected because of the pause. Up to 1.10, without a queue, a request is rejected
    for this reason only during the pause.
    """
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


@COORDINATOR_REQUESTS.step("COORD-14")
def coord_14_waiting(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A waiting periodic request does not start in the pause, not even at its first moment (FLINK-18856)."""
    if (
        type(event) in {TriggerRequest, Advance, CoordinatorRestart}
        or not before.plan.profile.queues_requests
    ):
        return True
    if after.now >= after.pause_ends or any(not one.periodic or one.forced for one in before.queue):
        return True
    return after.next_id == before.next_id


@COORDINATOR_REQUESTS.step("COORD-14")
def coord_14_pause(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The pause begins at a completion, and at no other event."""
    done = last_missing(before, event)
    if type(event) is CoordinatorRestart:
        return after.pause_ends == 0
    fails = before.io.metadata or (before.fault != 0 and done is not None and is_added(before, done))
    if done is None or fails or not before.plan.min_pause:
        return after.pause_ends == before.pause_ends
    return after.pause_ends == before.now + before.plan.min_pause


@COORDINATOR_REQUESTS.state("COORD-14")
def coord_14_ends(coordinator: Coordinator) -> bool:
    """The remaining time of the pause is at most the configured minimum pause."""
    return 0 <= coordinator.pause_ends <= coordinator.now + coordinator.plan.min_pause


@COORDINATOR_TURNS.step("COORD-29", AcknowledgeMessage, DeclineMessage, MasterAnswer, TriggerFails)
def coord_29_removes(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If the end of a checkpoint starts no request, each turn removes one periodic head that is too early.

    The end of the master phase gives one turn more, even if it ends the checkpoint.
    """
    if after.next_id != before.next_id or start_fails(before, after):  # COORD-35, COORD-36
        return True
    profile = before.plan.profile
    if not profile.queues_requests:
        return True
    if not before.scheduler.runs or not coordinator_steps(before).can_start(
        before
    ):  # requests are rejected for other reasons
        return True
    is_full = len(after.pending) >= before.plan.max_concurrent
    if is_full or after.master != NONE or is_cleaning(after):
        return after.queue == before.queue
    ended = len(before.pending) - len(after.pending)
    held = tuple(entry.checkpoint for entry in before.store.entries)
    kept = tuple(entry.checkpoint for entry in after.store.entries)
    gone = sum(checkpoint not in kept for checkpoint in held)
    turns = ended * (1 if profile.name == "1.11" else 2) + (gone if profile.turn_after_deletion else 0)
    turns += before.io.metadata and not after.io.metadata  # for the abort and the failed completion
    turns += before.master != NONE
    turns -= sum(after.deletions[len(before.deletions) :])  # these turns come later: COORD-33
    early = 0
    for waiting in before.queue:
        if not waiting.periodic or waiting.forced or after.now >= after.pause_ends or early == turns:
            break
        early += 1
    return len(before.queue) - len(after.queue) == early


@COORDINATOR_TURNS.step("COORD-30")
def coord_30(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """From 1.16 on an abort ends the master phase. Up to 1.15 all coordinators or one hook must answer."""
    if before.outlived:
        (left,) = before.outlived
        if type(event) is CoordinatorRestart:
            return not after.outlived
        if type(event) is not MasterAnswer or event.checkpoint != left.checkpoint:
            return after.outlived == before.outlived and after.next_id == before.next_id
        awaited = left.hooks if all(left.coordinators) else left.coordinators
        counts = event.is_hook == all(left.coordinators) and not awaited[event.place]
        if not counts:
            return after == before
        is_over = event.fails or event.is_hook or sum(1 for done in awaited if done) + 1 == len(awaited)
        return bool(after.outlived) != is_over
    aborted = tuple(
        pending
        for pending in before.pending
        if pending.checkpoint == before.master and was_aborted(pending, effects)
    )
    if not aborted or type(event) is MasterAnswer:
        return not after.outlived
    if before.plan.profile.abort_ends_master_phase:
        return not after.outlived and after.master != before.master
    return after.outlived == aborted and after.next_id == before.next_id


@COORDINATOR_TURNS.state("COORD-30")
def coord_30_alone(coordinator: Coordinator) -> bool:
    """While a master phase lasts longer than its checkpoint, no other checkpoint is in a master phase."""
    if not coordinator.outlived:
        return True
    (left,) = coordinator.outlived
    pending = any(other.checkpoint == left.checkpoint for other in coordinator.pending)
    return coordinator.master == left.checkpoint and not pending


@COORDINATOR_TURNS.step("COORD-31", DeclineMessage)
def coord_31(before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator) -> bool:
    """If no failure is tolerated, a decline in the master phase emits `FailJob` twice (up to 1.15 once)."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    if before.plan.tolerable_failures != 0:
        return True
    profile = before.plan.profile
    if event.checkpoint != before.master or event.reason not in profile.counted or before.outlived:
        return True
    declined = tuple(pending for pending in before.pending if pending.checkpoint == event.checkpoint)
    if not declined or declined[0].type != CHECKPOINT or event.checkpoint <= before.failures.highest_success:
        return True
    fails = sum(type(effect) is FailJob for effect in effects)
    return fails == (2 if profile.counts_failed_start else 1)


def was_aborted(pending: Pending, effects: Effects) -> bool:
    """Whether these effects abort the checkpoint."""
    return any(type(effect) is Abort and effect.checkpoint == pending.checkpoint for effect in effects)


def is_more_urgent(request: Request, other: Request) -> bool:
    """Whether the request starts before the other one, also if it has arrived later."""
    if request.type == CHECKPOINT and other.type != CHECKPOINT:
        return False
    if request.type != CHECKPOINT and other.type == CHECKPOINT:
        return True
    if request.forced != other.forced:
        return request.forced
    return other.periodic and not request.periodic
