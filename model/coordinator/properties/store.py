"""SUB-02 to SUB-10 and SUB-12, stated over completions: additions to the store, and older checkpoints."""

from model.coordinator.events import (
    AcknowledgeMessage,
    Complete,
    CoordinatorRestart,
    DiscardCheckpoint,
    JobEnd,
)
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import abort, is_added
from model.coordinator.properties.terms import (
    beginning_with,
    find_pending,
    is_safe,
    last_missing,
    replacing_checkpoint,
    start_fails,
)
from model.coordinator.state import Coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import CHECKPOINT_SUBSUMED, Effects, Event, NotifyAbort, NotifyComplete
from model.gate.events import Abort
from model.registry import Registry
from model.store.events import Add
from model.store.properties import sub_06, sub_07, sub_08, sub_10
from model.store.store import CHECKPOINT, SAVEPOINT

COORDINATOR_STORE = Registry("coordinator")


@COORDINATOR_STORE.step("SUB-06")
def sub_06_within(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completed checkpoint is added as the latest. No other event changes the order of the store."""
    done = added(before, event)
    if done is None:
        ends = type(event) in (CoordinatorRestart, JobEnd)  # COORD-22, COORD-25
        return ends or after.store == before.store
    return sub_06(before.store, Add(done.checkpoint, done.type), effects, after.store)


@COORDINATOR_STORE.step("SUB-07", AcknowledgeMessage, MasterAnswer)
def sub_07_within(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion drops the oldest entries that may be dropped, and no more than necessary."""
    done = added(before, event)
    if done is None:
        return True
    return sub_07(before.store, Add(done.checkpoint, done.type), effects, after.store)


@COORDINATOR_STORE.step("SUB-08", AcknowledgeMessage, MasterAnswer)
def sub_08_within(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The newest checkpoint survives every completion."""
    done = added(before, event)
    if done is None:
        return True
    return sub_08(before.store, Add(done.checkpoint, done.type), effects, after.store)


@COORDINATOR_STORE.step("SUB-09", AcknowledgeMessage, MasterAnswer)
def sub_09_within(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The coordinator deletes the checkpoints that a completion drops, in order, and deletes no savepoint."""
    done = added(before, event)
    if done is None:
        return True
    dropped = tuple(
        DiscardCheckpoint(entry.checkpoint)
        for entry in before.store.entries
        if entry.type == CHECKPOINT
        and not any(kept.checkpoint == entry.checkpoint for kept in after.store.entries)
    )
    return tuple(effect for effect in effects if type(effect) is DiscardCheckpoint) == dropped


@COORDINATOR_STORE.step("SUB-10", AcknowledgeMessage, MasterAnswer)
def sub_10_within(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Up to 1.11 a completion keeps the entries added last, of any type."""
    done = added(before, event)
    if done is None:
        return True
    return sub_10(before.store, Add(done.checkpoint, done.type), effects, after.store)


@COORDINATOR_STORE.step("SUB-12", AcknowledgeMessage, MasterAnswer)
def sub_12_nothing_idle(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """After a completion, a retained or newer checkpoint uses every registered file."""
    if added(before, event) is None:
        return True
    if not before.plan.profile.registers_at_acknowledgement:
        used = tuple(use.handle for use in after.shared.completed)
        return all(known.handle in used for known in after.shared.registered)
    retained = tuple(entry.checkpoint for entry in after.store.entries)
    return all(any(known.checkpoint >= kept for kept in retained) for known in after.shared.registered)


def added(before: Coordinator, event: Event) -> Pending | None:
    """The checkpoint that completes with this event, if the store adds it. Else None."""
    done = last_missing(before, event)
    return None if done is None or before.fault != 0 or not is_added(before, done) else done


SUBSUMPTION = Registry("coordinator")


@SUBSUMPTION.step("SUB-02")
def sub_02(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion aborts every older pending checkpoint with all effects, and no other checkpoint."""
    done = replacing_checkpoint(before, effects)
    if done is None:
        return not any(type(effect) is Abort and effect.reason == CHECKPOINT_SUBSUMED for effect in effects)
    rest, count = beginning_with(effects, (Abort,)), before.failures
    for older in before.pending:
        if older.checkpoint < done.checkpoint and not is_safe(before, older):
            expected, count = abort(before, event, older, CHECKPOINT_SUBSUMED, after, count)
            if rest[: len(expected)] != expected:
                return False
            rest = beginning_with(rest[len(expected) :], (Abort,))
    return not rest or start_fails(before, after)  # COORD-35


@SUBSUMPTION.step("SUB-03", AcknowledgeMessage, MasterAnswer)
def sub_03(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion does not change newer pending checkpoints and their collected state."""
    done = replacing_checkpoint(before, effects)
    if done is None:
        return True
    return all(
        any(left == pending for left in after.pending)
        for pending in before.pending
        if pending.checkpoint > done.checkpoint
    )


@SUBSUMPTION.step("SUB-04", AcknowledgeMessage, MasterAnswer)
def sub_04(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion does not change pending savepoints."""
    done = replacing_checkpoint(before, effects)
    if done is None:
        return True
    return all(
        any(left == pending for left in after.pending)
        for pending in before.pending
        if is_safe(before, pending) and pending.checkpoint != done.checkpoint
    )


@SUBSUMPTION.step("SUB-05", AcknowledgeMessage, MasterAnswer)
def sub_05(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The completion of a savepoint stores nothing, ends no pending checkpoint and notifies no task."""
    completed = tuple(effect.checkpoint for effect in effects if type(effect) is Complete)
    if not completed or before.plan.profile.stores_savepoints:
        return True
    done = find_pending(before, completed[0])
    if done is None or done.type != SAVEPOINT:
        return True
    quiet = not any(type(effect) in {Abort, NotifyComplete, NotifyAbort} for effect in effects)
    quiet = quiet or start_fails(before, after)  # COORD-35
    others = tuple(pending for pending in before.pending if pending.checkpoint != done.checkpoint)
    return quiet and after.store == before.store and after.pending[: len(others)] == others
