"""The end of a pending checkpoint: it completes, it is aborted, or the store cannot add it.

Rules: COORD-06, COORD-08, COORD-09, COORD-12, SUB-02 to SUB-05. No function here starts a checkpoint.
Afterwards the caller gives the waiting requests their turn (COORD-11).
"""

from collections.abc import Sequence

from impl.core.coordinator import events
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.coordinator.requests import Request
from impl.core.coordinator.state import CoordinatorState
from impl.core.effects import Fail
from impl.core.events import CheckpointType
from impl.core.gate.events import Abort
from impl.core.store.store import Completed

STORE_EXCEPTION = "CheckpointException"


def complete(state: CoordinatorState, pending: PendingCheckpoint) -> list[events.CoordinatorEffect]:
    """Store the checkpoint, abort older pending ones, and only then notify the tasks (COORD-08).

    If the metadata cannot be written or the store cannot add the checkpoint, the last effect is `Fail`: the
    coordinator answers the event with an exception.
    """
    if state.fails(events.IoStep.METADATA):  # COORD-34
        each_once = not state.profile.registers_at_acknowledgement
        aborted = abort(state, pending, events.FINALIZE_CHECKPOINT_FAILURE, each_once=each_once)
        state.turns += min(state.profile.turns_after_end, 1)
        return [*aborted, Fail(STORE_EXCEPTION)]
    checkpoint = pending.checkpoint
    pending.complete()
    del state.pending[checkpoint]
    state.turns += state.profile.turns_after_end
    done = Completed(checkpoint, pending.type, pending.shared)
    state.retained.shared.completed(checkpoint, done.shared)
    early = state.profile.completes_before_storing
    effects: list[events.CoordinatorEffect] = [events.Complete(checkpoint)] if early else []
    counts_early = state.profile.counts_success_before_storing
    if counts_early:
        state.failures.completed(checkpoint)
    dropped: tuple[Completed, ...] = ()
    if pending.type is CheckpointType.CHECKPOINT or state.profile.stores_savepoints:
        failure = state.retained.take_failure(done)
        if failure is not None:
            return effects + _fail_to_store(state, pending, done, failure)
        dropped = state.retained.add(done)
        effects += state.retained.deletions(dropped)
        if state.profile.turn_after_deletion:
            # The savepoint from which the job started counts as a deletion, even if its files stay.
            state.delete(len(dropped))
    if not early:
        effects.append(events.Complete(checkpoint))
    if not counts_early:
        state.failures.completed(checkpoint)
    state.pause_ends = state.now + state.options.min_pause_ms
    if pending.type is CheckpointType.SAVEPOINT and not state.profile.stores_savepoints:
        return effects  # SUB-05
    return effects + _subsume_older(state, checkpoint) + _notify_complete(state, pending, dropped)


def abort(
    state: CoordinatorState,
    pending: PendingCheckpoint,
    reason: str,
    *,
    declined: bool = False,
    each_once: bool = False,
) -> list[events.CoordinatorEffect]:
    """Abort a pending checkpoint: discard its acknowledged state, count the failure, notify the tasks.

    `declined`: a task has declined it; else the coordinator itself aborts it. `each_once`: discard a shared
    file only once, even if several tasks have acknowledged it.
    """
    orphaned = pending.abort()
    del state.pending[pending.checkpoint]
    _turns_after_abort(state, pending)
    effects: list[events.CoordinatorEffect] = [Abort(pending.checkpoint, reason)]
    if pending.type is CheckpointType.STOP:
        effects += fail_stop(state, reason)
    is_registered = state.profile.registers_at_acknowledgement and not pending.is_savepoint
    discarded: set[str] = set()
    for task in pending.plan.tasks:
        handle, shared = pending.acknowledged_by(task)
        if each_once:
            shared = tuple(one for one in dict.fromkeys(shared) if one not in discarded)
            discarded.update(shared)
        effects += discard(state, handle, () if is_registered else shared)
    if reason != events.CHECKPOINT_SUBSUMED:
        _restart_delay(state)
    effects += count_failure(state, pending, reason, declined)
    effects += _notify_abort(state, pending)
    if orphaned is None:
        return effects
    if not state.profile.abort_ends_master_phase:
        state.orphaned = orphaned
        return effects
    state.turns += 1
    return effects + fail_start(state, pending, reason)


def _turns_after_abort(state: CoordinatorState, pending: PendingCheckpoint) -> None:
    """Give the waiting requests their turns: one after the abort from 1.11 on, a second one from 1.12 on.

    The second turn follows the deletion of the acknowledged state. If nothing is deleted, it follows the
    first turn.
    """
    after_end = state.profile.turns_after_end
    if pending.has_collected or state.profile.counts_empty_deletions:
        state.turns += min(after_end, 1)
        state.delete(max(after_end - 1, 0))
    else:
        state.turns += after_end


def abort_start(
    state: CoordinatorState, pending: PendingCheckpoint, reason: str
) -> list[events.CoordinatorEffect]:
    """A master or the storage location has failed: end the checkpoint's master phase, then abort it."""
    pending.skip_master_phase()
    state.turns += 1
    return abort(state, pending, reason)


def fail_start(
    state: CoordinatorState, pending: PendingCheckpoint, reason: str
) -> list[events.CoordinatorEffect]:
    """Count a checkpoint that ended in its master phase as a failed start (COORD-31)."""
    return count_failure(state, pending, reason) if state.profile.counts_failed_start else []


def fail_io(
    state: CoordinatorState, pending: PendingCheckpoint, reported: str
) -> list[events.CoordinatorEffect]:
    """Count a start that failed with IO_EXCEPTION. If this fails the job, the job's reason is `reported`."""
    if not state.profile.counts_failed_io:
        return []
    fails = count_failure(state, pending, events.IO_EXCEPTION)
    return [events.FailJob(reported)] if fails else []


def fail_stop(state: CoordinatorState, reason: str) -> list[events.CoordinatorEffect]:
    """Up to 1.10: the effect `FailJob` if a stop-with-savepoint has started and fails.

    No effect in later releases, in which `count_failure` decides whether the job fails.
    """
    if not state.profile.failed_stops_count_too or reason in events.PRE_CHECK_REASONS:
        return []
    return [events.FailJob(reason)]


def _restart_delay(state: CoordinatorState) -> None:
    """Up to 1.10, if no checkpoint is pending: drop a postponed request.

    The next periodic request then comes after the initial delay.
    """
    if not state.pending and state.scheduler.runs and state.postponed.take():
        state.scheduler.begin_anew(state.now)


def suspend(state: CoordinatorState, reason: str) -> list[events.CoordinatorEffect]:
    """Reject all waiting requests, then abort all pending checkpoints (COORD-12).

    An abort gives the queue a turn. The queue is empty by then, so no waiting request starts.
    """
    state.postponed.take()
    effects: list[events.CoordinatorEffect] = []
    for request in state.queue.clear():
        effects += rejected(request, reason)
    effects += abort_all(state, reason)
    state.end_turns()  # the queue is empty
    return effects


def abort_all(state: CoordinatorState, reason: str) -> list[events.CoordinatorEffect]:
    """Abort every pending checkpoint, oldest first."""
    effects: list[events.CoordinatorEffect] = []
    for pending in tuple(state.pending.values()):
        effects += abort(state, pending, reason)
    return effects


def rejected(request: Request, reason: str) -> list[events.CoordinatorEffect]:
    """The effect `Rejected` of a request that starts nothing; no effect for the coordinator's own request."""
    return [] if request.own else [events.Rejected(request.type, reason)]


def discard(state: CoordinatorState, handle: object, shared: Sequence[str]) -> list[events.CoordinatorEffect]:
    """Delete the state of an acknowledgement, but no registered shared file (COORD-06)."""
    own: list[events.CoordinatorEffect] = [] if handle is None else [events.DiscardState(handle)]
    return own + [events.DiscardState(one) for one in shared if not state.retained.shared.holds(one)]


def count_failure(
    state: CoordinatorState, pending: PendingCheckpoint, reason: str, declined: bool = False
) -> list[events.CoordinatorEffect]:
    """Count a failure. The effect is `FailJob` if more checkpoints have failed than are tolerated."""
    fails = state.failures.failed(pending.checkpoint, reason, requested=pending.type, declined=declined)
    return [events.FailJob(reason)] if fails else []


def _fail_to_store(
    state: CoordinatorState, pending: PendingCheckpoint, done: Completed, failure: events.StoreFailure
) -> list[events.CoordinatorEffect]:
    """End a checkpoint that the store could not add: delete its files, count the failure, notify the tasks.

    The files stay if the store may have written the checkpoint nevertheless (COORD-21).
    """
    effects: list[events.CoordinatorEffect] = []
    if not state.profile.completes_before_storing:
        effects.append(Abort(pending.checkpoint, events.FINALIZE_CHECKPOINT_FAILURE))
    deleted = state.retained.discard_unstored(done, failure)
    if deleted:
        effects += deleted
        state.delete(gives_turn=False)
    if state.profile.counts_failed_store:
        effects += count_failure(state, pending, events.FINALIZE_CHECKPOINT_FAILURE)
    return [*effects, *_notify_abort(state, pending), Fail(STORE_EXCEPTION)]


def _subsume_older(state: CoordinatorState, checkpoint: int) -> list[events.CoordinatorEffect]:
    """Abort the older pending checkpoints that may be subsumed (SUB-02, SUB-04)."""
    effects: list[events.CoordinatorEffect] = []
    for older in [one for one in state.pending.values() if one.checkpoint < checkpoint]:
        spared = older.forced if state.profile.forced_not_subsumed else older.is_savepoint
        if not spared:
            effects += abort(state, older, events.CHECKPOINT_SUBSUMED)
    return effects


def _notify_complete(
    state: CoordinatorState, pending: PendingCheckpoint, dropped: Sequence[Completed]
) -> list[events.CoordinatorEffect]:
    checkpoint = pending.checkpoint
    deleted = (one.checkpoint for one in dropped if one.type is CheckpointType.CHECKPOINT)  # SUB-13
    subsumed = max(deleted, default=None)
    effects: list[events.CoordinatorEffect] = []
    for task in state.job.deployed(pending.plan.tasks):
        effects.append(events.NotifyTaskComplete(task, checkpoint))
        if subsumed is not None and state.profile.subsumed_notifications:
            effects.append(events.NotifyTaskSubsumed(task, subsumed))
    names = state.options.operator_coordinators
    return effects + [events.NotifyCoordinator(name, checkpoint, events.Notice.COMPLETE) for name in names]


def _notify_abort(state: CoordinatorState, pending: PendingCheckpoint) -> list[events.CoordinatorEffect]:
    if not state.profile.abort_notifications:
        return []
    checkpoint = pending.checkpoint
    names = state.options.operator_coordinators
    return [
        *(events.NotifyTaskAbort(task, checkpoint) for task in state.job.deployed(pending.plan.tasks)),
        *(events.NotifyCoordinator(name, checkpoint, events.Notice.ABORT) for name in names),
    ]
