"""COORD-37, COORD-38, SUB-13: a job that starts from a savepoint or a retained checkpoint, by claim mode."""

from model.coordinator.events import (
    AcknowledgeMessage,
    DiscardCheckpoint,
    JobEnd,
    Restored,
    RestoreRequest,
    TriggerTask,
)
from model.coordinator.properties.terms import emits, last_missing
from model.coordinator.state import CLAIM, FINISHED, NO_CLAIM, Coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import Effects, Event, NotifySubsumed
from model.registry import Registry
from model.store.store import CHECKPOINT, FULL, SAVEPOINT, Entry

COORDINATOR_CLAIMS = Registry("coordinator")


@COORDINATOR_CLAIMS.initial("COORD-37")
def coord_37_at_first(coordinator: Coordinator) -> bool:
    """At first the restored savepoint is the only entry of the store, and the next id is the one after it."""
    entries, next_id = coordinator.store.entries, coordinator.next_id
    if not coordinator.plan.savepoint:
        return next_id == 1 and not entries
    (savepoint,) = coordinator.plan.savepoint
    return next_id == savepoint + 1 and len(entries) == 1 and entries[0].checkpoint == savepoint


@COORDINATOR_CLAIMS.state("COORD-37")
def coord_37(coordinator: Coordinator) -> bool:
    """The savepoint is older than every checkpoint of the job."""
    if not coordinator.plan.savepoint:
        return True
    (savepoint,) = coordinator.plan.savepoint
    pending = all(one.checkpoint > savepoint for one in coordinator.pending)
    return pending and coordinator.next_id > savepoint


@COORDINATOR_CLAIMS.step("COORD-37", RestoreRequest)
def coord_37_reads(before: Coordinator, event: RestoreRequest, effects: Effects, after: Coordinator) -> bool:
    """A restore reads the savepoint while no later checkpoint is in the store."""
    if not before.plan.savepoint or not before.open or not is_latest(before):
        return True
    return emits(effects, Restored(before.plan.savepoint[0]))


@COORDINATOR_CLAIMS.step("COORD-38")
def coord_38(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """With NO_CLAIM checkpoints are full until one completes. No other checkpoint is full."""
    plan = before.plan
    if not plan.savepoint:
        return True
    triggered = tuple(effect for effect in effects if type(effect) is TriggerTask)
    done = last_missing(before, event)  # the last hook triggers its tasks before it completes
    for effect in triggered:
        first = done is not None and effect.checkpoint == done.checkpoint
        full = plan.claim_mode == NO_CLAIM and is_latest(before if first else after)
        if (effect.type == FULL and not full) or (effect.type == CHECKPOINT and full):
            return False
    return True


@COORDINATOR_CLAIMS.state("SUB-13")
def sub_13_is_owned(coordinator: Coordinator) -> bool:
    """The store has the savepoint as a checkpoint if it is claimed, else as a savepoint."""
    plan = coordinator.plan
    if not plan.savepoint:
        return True
    durable = (*coordinator.store.entries, *coordinator.unseen)
    kind = CHECKPOINT if plan.claim_mode == CLAIM else SAVEPOINT
    return all(entry.type == kind for entry in durable if entry.checkpoint == plan.savepoint[0])


@COORDINATOR_CLAIMS.step("SUB-13", AcknowledgeMessage, MasterAnswer, JobEnd)
def sub_13(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A claimed savepoint is deleted when it is dropped or its job finishes. Others are never deleted."""
    if not before.plan.savepoint:
        return True
    (savepoint,) = before.plan.savepoint
    deleted = emits(effects, DiscardCheckpoint(savepoint))
    reported = any(type(effect) is NotifySubsumed and effect.checkpoint == savepoint for effect in effects)
    if before.plan.claim_mode != CLAIM:
        return not deleted and not reported
    dropped = holds(before.store.entries, savepoint) and not holds(after.store.entries, savepoint)
    if type(event) is JobEnd:
        return deleted or not dropped or event.status != FINISHED
    return deleted == dropped


# ---------------------------------------------------------------- terms of the properties


def is_latest(coordinator: Coordinator) -> bool:
    """Whether the restored savepoint is the last entry of the store."""
    entries = coordinator.store.entries
    return len(entries) > 0 and entries[-1].checkpoint == coordinator.plan.savepoint[0]


def holds(entries: tuple[Entry, ...], checkpoint: int) -> bool:
    """Whether one of the entries has this id."""
    return any(entry.checkpoint == checkpoint for entry in entries)
