"""COORD-29 to COORD-31: turns of waiting requests, and the master phase of an aborted checkpoint."""

from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailJob,
)
from model.coordinator.generations import coordinator_steps
from model.coordinator.pending import Pending
from model.coordinator.properties.terms import is_cleaning, start_fails
from model.coordinator.state import Coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import NONE, Effects, Event
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import CHECKPOINT

COORDINATOR_TURNS = Registry("coordinator")


@COORDINATOR_TURNS.step("COORD-29", AcknowledgeMessage, DeclineMessage)
def coord_29_removes(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If the end of a checkpoint starts no request, each turn removes one periodic head that is too early."""
    if after.next_id != before.next_id or start_fails(before, after):  # COORD-35, COORD-36
        return True
    profile = before.plan.profile
    if not profile.queues_requests or before.master != NONE or after.pending == before.pending:
        return True
    if not before.scheduler.runs or not coordinator_steps(before).can_start(
        before
    ):  # heads leave for other reasons
        return True
    if len(after.pending) == len(before.pending) or len(after.pending) >= before.plan.max_concurrent:
        return after.queue == before.queue
    if is_cleaning(after):
        return after.queue == before.queue
    ended = len(before.pending) - len(after.pending)
    held = tuple(entry.checkpoint for entry in before.store.entries)
    kept = tuple(entry.checkpoint for entry in after.store.entries)
    gone = sum(checkpoint not in kept for checkpoint in held)
    turns = ended * (1 if profile.name == "1.11" else 2) + (gone if profile.turn_after_deletion else 0)
    turns += before.io.metadata and not after.io.metadata  # one follows the abort, one the failed completion
    turns -= sum(after.deletions[len(before.deletions) :])  # these come later: COORD-33
    early = 0
    for waiting in before.queue:
        if not waiting.periodic or waiting.forced or after.now >= after.pause_ends or early == turns:
            break
        early += 1
    return len(before.queue) - len(after.queue) == early


@COORDINATOR_TURNS.step("COORD-30")
def coord_30(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The master phase ends with its checkpoint, or lasts until all coordinators or one hook answer."""
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
    """If a master phase outlives its checkpoint, no other checkpoint is in its master phase."""
    if not coordinator.outlived:
        return True
    (left,) = coordinator.outlived
    pending = any(other.checkpoint == left.checkpoint for other in coordinator.pending)
    return coordinator.master == left.checkpoint and not pending


@COORDINATOR_TURNS.step("COORD-31", DeclineMessage)
def coord_31(before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator) -> bool:
    """If no failure is tolerated, a decline in the master phase fails the job twice. Up to 1.15 once."""
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
    """These effects end the checkpoint without success."""
    return any(type(effect) is Abort and effect.checkpoint == pending.checkpoint for effect in effects)
