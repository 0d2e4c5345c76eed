"""COORD-33: requests wait while too many deletions are under way."""

from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    Deleted,
    DiscardCheckpoint,
    JobEnd,
    Rejected,
    TriggerRequest,
)
from model.coordinator.pending import NO_STATE, Pending
from model.coordinator.properties.checkpoint_end import is_added
from model.coordinator.properties.terms import find_pending, is_cleaning, is_full, last_missing
from model.coordinator.state import Coordinator
from model.events import COORDINATOR_SUSPEND, NONE, TOO_MANY_CHECKPOINT_REQUESTS, Advance, Effects, Event
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import STOP

COORDINATOR_CLEANING = Registry("coordinator")


@COORDINATOR_CLEANING.step("COORD-33")
def coord_33(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """No checkpoint starts while more deletions are under way than the limit of pending checkpoints."""
    first = before if type(event) is Advance else after  # a start can come before new deletions
    if type(event) is CoordinatorRestart or not is_cleaning(first):
        return True
    if after.next_id != before.next_id:
        return False
    if type(event) not in (TriggerRequest, AcknowledgeMessage, DeclineMessage, Deleted):
        return True
    if any(type(effect) is Rejected and effect.reason not in _WITHOUT_TURN for effect in effects):
        return False
    joins = type(event) is TriggerRequest
    waited = () if joins and event.type == STOP else before.queue  # type: ignore[attr-defined]
    return len(after.queue) == len(waited) + joins or bool(effects)


_WITHOUT_TURN = (COORDINATOR_SUSPEND, TOO_MANY_CHECKPOINT_REQUESTS)
"""Reasons for which the coordinator rejects a request outside a turn."""


@COORDINATOR_CLEANING.step("COORD-33")
def coord_33_counts(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Each deletion that begins joins the list of deletions. A deletion that ends leaves the list.

    Without slow deletions the list is empty. `begun` states which deletions begin.
    """
    if not before.plan.slow_cleaning or type(event) is CoordinatorRestart:
        return not after.deletions
    if type(event) is Deleted:
        return after.deletions == before.deletions[1:]
    return after.deletions == (*before.deletions, *begun(before, event, effects))


@COORDINATOR_CLEANING.step("COORD-33")
def coord_33_turns(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Waiting requests get a turn after the end of a checkpoint, and after the end of a deletion.

    They get none after the deletion of a checkpoint that was not stored.
    """
    if type(event) is Deleted and not (before.open and any(before.deletions[:1])):
        return not effects and after == before._replace(deletions=before.deletions[1:])
    if not before.plan.slow_cleaning or not after.queue:
        return True
    if type(event) not in (TriggerRequest, Deleted) and not _ends(before, event, after):
        return True
    if after.master != NONE or is_full(after) or is_cleaning(after):
        return True
    head = after.queue[0]  # the turn has rejected the head before it as too early
    is_early = head.periodic and not head.forced and after.now < after.pause_ends
    return is_early and (type(event) is not Deleted or len(after.queue) < len(before.queue))


def _ends(before: Coordinator, event: Event, after: Coordinator) -> bool:
    """Whether an acknowledgement or a decline has ended a pending checkpoint."""
    if type(event) not in (AcknowledgeMessage, DeclineMessage):
        return False
    return any(find_pending(after, pending.checkpoint) is None for pending in before.pending)


def has_collected(pending: Pending) -> bool:
    """Whether the checkpoint has a task's own or shared state, or the state of all operator coordinators."""
    masters = pending.coordinators
    has_state = any(handle != NO_STATE for handle in pending.states)
    return has_state or any(pending.shared) or (masters != () and all(masters))


def begun(before: Coordinator, event: Event, effects: Effects) -> tuple[bool, ...]:
    """For each deletion that begins in this step: whether waiting requests get a turn when it ends."""
    done = last_missing(before, event)
    fails = done is not None and before.fault != 0 and is_added(before, done)
    unstored = done.checkpoint if fails and done is not None else NONE
    found: tuple[bool, ...] = ()
    for effect in effects:
        if type(effect) is Abort and effect.checkpoint != unstored:
            aborted = find_pending(before, effect.checkpoint)
            if done is not None and effect.checkpoint == done.checkpoint:  # its metadata were not written
                aborted = done
            counts = before.plan.profile.counts_empty_deletions or (
                aborted is not None and has_collected(aborted)
            )
            found = (*found, *(True,) * counts)
        elif type(effect) is DiscardCheckpoint and effect.checkpoint == unstored:
            found = (*found, False)
        elif type(effect) is DiscardCheckpoint and type(event) is not JobEnd:
            found = (*found, *(True,) * before.plan.profile.turn_after_deletion)
    return found
