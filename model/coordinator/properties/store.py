"""The store within the coordinator: additions, a failing store, a restart, and older checkpoints.

Rules COORD-20 to COORD-22, SUB-02 to SUB-12.
"""

from itertools import pairwise

from model.coordinator.events import (
    AcknowledgeMessage,
    Complete,
    CoordinatorRestart,
    DiscardCheckpoint,
    JobEnd,
    RestoreRequest,
)
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import abort, is_added, notified_tasks
from model.coordinator.properties.files import used
from model.coordinator.properties.terms import (
    beginning_with,
    emits,
    find_pending,
    is_safe,
    last_missing,
    replacing_checkpoint,
    reported_complete,
    start_fails,
)
from model.coordinator.shared_state import DiscardState, Registered, SharedState
from model.coordinator.state import Coordinator, new_coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import (
    CHECKPOINT_SUBSUMED,
    FINALIZE_CHECKPOINT_FAILURE,
    MAYBE,
    NONE,
    Effects,
    Event,
    NotifyAbort,
    NotifyComplete,
)
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
    """After a completion, no registered file has a newest user older than all retained checkpoints."""
    if added(before, event) is None:
        return True
    if not before.plan.profile.registers_at_acknowledgement:
        used = tuple(use.handle for use in after.shared.completed)
        return all(known.handle in used for known in after.shared.registered)
    retained = tuple(entry.checkpoint for entry in after.store.entries)
    return all(any(known.checkpoint >= kept for kept in retained) for known in after.shared.registered)


@COORDINATOR_STORE.step("SUB-12", RestoreRequest)
def sub_12_restored(before: Coordinator, event: RestoreRequest, effects: Effects, after: Coordinator) -> bool:
    """From 1.15 on a restore deletes the shared files of no checkpoint that it aborts, except savepoints."""
    if before.plan.profile.restore_registers_anew:
        return True
    others = tuple(handle for pending in before.pending for handle in pending.states)
    kept: tuple[int, ...] = ()
    for pending in before.pending:
        files = tuple(file for own in pending.shared for file in own)
        if pending.type == CHECKPOINT:
            kept = (*kept, *files)
        else:
            others = (*others, *files)
    return not any(
        type(effect) is DiscardState and effect.handle in kept and effect.handle not in others
        for effect in effects
    )


def added(before: Coordinator, event: Event) -> Pending | None:
    """The checkpoint that completes at this event, if the store adds it. Else None."""
    done = last_missing(before, event)
    return None if done is None or before.fault != 0 or not is_added(before, done) else done


COORDINATOR_FAILING_STORE = Registry("coordinator")


@COORDINATOR_FAILING_STORE.step("COORD-20", AcknowledgeMessage)
def coord_20(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint that the store fails to add subsumes none. No task is notified of its completion."""
    lost = failed_to_add(before, event, effects, after)
    if lost is None:
        return True
    if after.store != before.store or find_pending(after, lost.checkpoint) is not None:
        return False
    notified = any(type(effect) is NotifyComplete for effect in effects)
    subsumed = any(type(effect) is Abort and effect.reason == CHECKPOINT_SUBSUMED for effect in effects)
    aborted = emits(effects, Abort(lost.checkpoint, FINALIZE_CHECKPOINT_FAILURE))
    return not notified and not subsumed and aborted != before.plan.profile.completes_before_storing


@COORDINATOR_FAILING_STORE.step("COORD-21", AcknowledgeMessage)
def coord_21(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint that the store fails to add is deleted, unless it is possibly stored (FLINK-22494).

    Generations without `keeps_possibly_stored` delete it in any case.
    """
    lost = failed_to_add(before, event, effects, after)
    if lost is None:
        return True
    deleted = emits(effects, DiscardCheckpoint(lost.checkpoint))
    doubtful = before.fault == MAYBE and before.plan.profile.keeps_possibly_stored
    return deleted != doubtful


@COORDINATOR_FAILING_STORE.step("COORD-22", CoordinatorRestart)
def coord_22(before: Coordinator, event: CoordinatorRestart, effects: Effects, after: Coordinator) -> bool:
    """A new coordinator has only the configuration, the next id, and the durable checkpoints and files."""
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


@COORDINATOR_FAILING_STORE.step("SUB-11", AcknowledgeMessage)
def sub_11(before: Coordinator, event: AcknowledgeMessage, effects: Effects, after: Coordinator) -> bool:
    """Up to 1.14, a completed savepoint is the latest entry of the store, and aborts older checkpoints.

    The tasks that take part are notified (FLINK-25191).
    """
    done = reported_complete(before, event, effects)
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


def failed_to_add(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> Pending | None:
    """The checkpoint that the store has failed to add, at its last acknowledgement; else None."""
    if type(event) is not AcknowledgeMessage or before.fault == 0 or after.fault != 0:
        return None
    return find_pending(before, event.checkpoint)


SUBSUMPTION = Registry("coordinator")


@SUBSUMPTION.step("SUB-02")
def sub_02(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completion aborts every older pending checkpoint that can be subsumed, and no other checkpoint.

    Each abort emits all effects of an abort. Savepoints cannot be subsumed (SUB-04). Up to 1.10 this holds
    for forced checkpoints instead.
    """
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
