"""SUB-02 to SUB-05, stated over the coordinator: the checkpoints that a completion ends or keeps."""

from model.coordinator.events import AcknowledgeMessage, Complete
from model.coordinator.properties.ends import abort
from model.coordinator.properties.terms import (
    beginning_with,
    find_pending,
    is_safe,
    replacing_checkpoint,
    start_fails,
)
from model.coordinator.state import Coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import CHECKPOINT_SUBSUMED, Effects, Event, NotifyAbort, NotifyComplete
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import SAVEPOINT

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
