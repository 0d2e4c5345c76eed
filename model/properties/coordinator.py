"""COORD-01 to COORD-12 and SUB-02 to SUB-05, stated over the coordinator."""

import itertools

from model.coordinator import RUNNING, Coordinator
from model.events import (
    CHECKPOINT_EXPIRED,
    CHECKPOINT_SUBSUMED,
    COORDINATOR_SUSPEND,
    DUPLICATE,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    SUCCESS,
    UNKNOWN,
    Abort,
    Acknowledged,
    AcknowledgeMessage,
    Advance,
    Complete,
    DeclineMessage,
    DiscardCheckpoint,
    DiscardState,
    Effects,
    Event,
    FailTasks,
    JobStatus,
    NotifyAbort,
    NotifyComplete,
    Rejected,
    Restored,
    RestoreRequest,
    TriggerRequest,
    TriggerTask,
)
from model.pending import Pending
from model.properties.registry import Registry

COORDINATOR = Registry("coordinator")


@COORDINATOR.step("COORD-01")
def coord_01(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """While job or tasks do not run, a request draws no id and nothing starts."""
    if before.status == RUNNING and all(before.tasks_run):
        return True
    started = any(type(effect) is TriggerTask for effect in effects)
    if type(event) is TriggerRequest:
        refused = (Rejected(event.savepoint, NOT_ALL_REQUIRED_TASKS_RUNNING),)
        return effects == refused and after == before
    return not started and after.next_id == before.next_id


@COORDINATOR.step("COORD-02")
def coord_02(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Started ids are the next ones of the counter, which never goes back."""
    first_source = next((task for task, source in enumerate(before.plan.sources) if source), None)
    started = tuple(
        effect.checkpoint for effect in effects if type(effect) is TriggerTask and effect.task == first_source
    )
    expected = tuple(before.next_id + count for count in range(len(started)))
    return started == expected and after.next_id == before.next_id + len(started)


@COORDINATOR.state("COORD-02")
def coord_02_ids(coordinator: Coordinator) -> bool:
    """Pending and completed ids were drawn from the counter; pending ones ascend."""
    pending = tuple(pending.checkpoint for pending in coordinator.pending)
    ascending = all(left < right for left, right in itertools.pairwise(pending))
    stored = tuple(entry.checkpoint for entry in coordinator.store.entries)
    apart = not any(left == right for left in pending for right in stored)
    return ascending and apart and all(1 <= drawn < coordinator.next_id for drawn in (*pending, *stored))


@COORDINATOR.state("COORD-03")
def coord_03(coordinator: Coordinator) -> bool:
    """No more checkpoints are pending than allowed; only they wait, and only then."""
    limit = coordinator.plan.max_concurrent
    if len(tuple(pending for pending in coordinator.pending if not pending.savepoint)) > limit:
        return False
    if not coordinator.queue:
        return True
    full = len(coordinator.pending) >= limit
    return full and not any(coordinator.queue) and coordinator.status == RUNNING


@COORDINATOR.step("COORD-04")
def coord_04(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Each started checkpoint triggers every source once, in task order, and awaits every task."""
    sources = tuple(task for task, source in enumerate(before.plan.sources) if source)
    for checkpoint in _started(before, after):
        told = tuple(
            effect.task
            for effect in effects
            if type(effect) is TriggerTask and effect.checkpoint == checkpoint
        )
        if told != sources:
            return False
        for pending in after.pending:
            if pending.checkpoint == checkpoint and any(pending.acknowledged):
                return False
    return True


@COORDINATOR.step("COORD-05")
def coord_05(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A first acknowledgement is a SUCCESS, a repeated one a DUPLICATE, a stranger's UNKNOWN."""
    if type(event) is not AcknowledgeMessage:
        return True
    pending = _find(before, event.checkpoint)
    if pending is None:
        return True
    result = SUCCESS
    if event.task >= len(pending.acknowledged):
        result = UNKNOWN
    elif pending.acknowledged[event.task]:
        result = DUPLICATE
    if not effects or effects[0] != Acknowledged(event.task, event.checkpoint, result):
        return False
    if result == SUCCESS:
        kept = _find(after, event.checkpoint)
        return kept is None or (kept.acknowledged[event.task] and kept.states[event.task] == event.handle)
    lost = result == UNKNOWN and event.handle != 0
    return after == before and effects[1:] == ((DiscardState(event.handle),) if lost else ())


@COORDINATOR.state("COORD-05")
def coord_05_states(coordinator: Coordinator) -> bool:
    """States were collected only from tasks that have acknowledged."""
    return not any(
        handle != 0 and not done
        for pending in coordinator.pending
        for handle, done in zip(pending.states, pending.acknowledged, strict=True)
    )


@COORDINATOR.step("COORD-06")
def coord_06(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """An acknowledgement of an id that is not pending only loses its state."""
    if type(event) is not AcknowledgeMessage or _find(before, event.checkpoint) is not None:
        return True
    return after == before and effects == ((DiscardState(event.handle),) if event.handle != 0 else ())


@COORDINATOR.step("COORD-07")
def coord_07(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint completes exactly at the acknowledgement after which none is missing."""
    completed = tuple(effect.checkpoint for effect in effects if type(effect) is Complete)
    if type(event) is not AcknowledgeMessage:
        return not completed
    pending = _find(before, event.checkpoint)
    if pending is None or event.task >= len(pending.acknowledged):
        return not completed
    missing = tuple(task for task, done in enumerate(pending.acknowledged) if not done)
    if missing == (event.task,):
        return completed == (event.checkpoint,) and _find(after, event.checkpoint) is None
    return not completed and _find(after, event.checkpoint) is not None


@COORDINATOR.state("COORD-12")
def coord_12_stopped(coordinator: Coordinator) -> bool:
    """Nothing is pending while the job does not run."""
    return coordinator.status == RUNNING or not coordinator.pending


@COORDINATOR.state("COORD-10")
def coord_10_deadlines(coordinator: Coordinator) -> bool:
    """What is pending has not expired."""
    return all(pending.deadline > coordinator.now for pending in coordinator.pending)


@COORDINATOR.state("COORD-07")
def coord_07_pending(coordinator: Coordinator) -> bool:
    """A pending checkpoint still misses a task."""
    return not any(all(pending.acknowledged) for pending in coordinator.pending)


@COORDINATOR.step("COORD-08")
def coord_08(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Stored, then the older ones ended, then every task notified."""
    done = _completed_checkpoint(before, effects)
    if done is None:
        return True
    kinds = tuple(_PHASES.get(type(effect), -1) for effect in effects)
    phases = tuple(phase for phase in kinds if phase >= 0)
    told = tuple(effect.task for effect in effects if type(effect) is NotifyComplete)
    in_order = all(left <= right for left, right in itertools.pairwise(phases))
    everyone = told == tuple(range(len(before.plan.sources)))
    return in_order and everyone and after.store.entries[-1].checkpoint == done.checkpoint


_PHASES = {DiscardCheckpoint: 0, Complete: 1, Abort: 2, NotifyAbort: 2, NotifyComplete: 3, TriggerTask: 4}


@COORDINATOR.step("COORD-09")
def coord_09(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A decline aborts a pending checkpoint with its reason, and does nothing to others."""
    if type(event) is not DeclineMessage:
        return True
    pending = _find(before, event.checkpoint)
    if pending is None:
        return not effects and after == before
    expected = _abort(pending, event.reason)
    return effects[: len(expected)] == expected and _find(after, event.checkpoint) is None


@COORDINATOR.step("COORD-10")
def coord_10(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Exactly what is due expires, and time stands where it was moved to."""
    if type(event) is not Advance:
        return not any(type(effect) is Abort and effect.reason == CHECKPOINT_EXPIRED for effect in effects)
    for pending in before.pending:
        expired = any(effect == Abort(pending.checkpoint, CHECKPOINT_EXPIRED) for effect in effects)
        if expired != (pending.deadline <= before.now + event.ms):
            return False
    return after.now == before.now + event.ms


@COORDINATOR.step("COORD-11")
def coord_11(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """While job and tasks run, no request waits that could start."""
    if after.status != RUNNING or not all(after.tasks_run) or not after.queue:
        return True
    return not after.queue[0] and len(after.pending) >= after.plan.max_concurrent


@COORDINATOR.step("COORD-12")
def coord_12(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A job that stops running rejects what waits and aborts what is pending."""
    stops = type(event) is FailTasks or (type(event) is JobStatus and event.status != RUNNING)
    if not stops:
        return True
    expected: Effects = tuple(Rejected(kind, COORDINATOR_SUSPEND) for kind in before.queue)
    for pending in before.pending:
        expected = (*expected, *_abort(pending, COORDINATOR_SUSPEND))
    return effects == expected and not after.pending and not after.queue


@COORDINATOR.step("ONCE-04")
def once_04(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A restore hands out the newest completed checkpoint, or none if there is none."""
    if type(event) is not RestoreRequest:
        return not any(type(effect) is Restored for effect in effects)
    newest = before.store.entries[-1].checkpoint if before.store.entries else -1
    return effects == (Restored(newest),) and after == before


@COORDINATOR.step("SUB-02")
def sub_02(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Completion aborts every older pending checkpoint and deletes what it collected."""
    done = _completed_checkpoint(before, effects)
    if done is None:
        return not any(type(effect) is Abort and effect.reason == CHECKPOINT_SUBSUMED for effect in effects)
    expected: Effects = ()
    for pending in before.pending:
        if pending.checkpoint < done.checkpoint and not pending.savepoint:
            expected = (*expected, *_abort(pending, CHECKPOINT_SUBSUMED))
            if _find(after, pending.checkpoint) is not None:
                return False
    said = tuple(effect for effect in effects if type(effect) in {Abort, DiscardState, NotifyAbort})
    return said == expected


@COORDINATOR.step("SUB-03")
def sub_03(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Completion leaves newer pending checkpoints, and what they collected, as they are."""
    done = _completed_checkpoint(before, effects)
    if done is None:
        return True
    return all(
        any(left == pending for left in after.pending)
        for pending in before.pending
        if pending.checkpoint > done.checkpoint
    )


@COORDINATOR.step("SUB-04")
def sub_04(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Completion leaves pending savepoints as they are."""
    done = _completed_checkpoint(before, effects)
    if done is None:
        return True
    return all(
        any(left == pending for left in after.pending) for pending in before.pending if pending.savepoint
    )


@COORDINATOR.step("SUB-05")
def sub_05(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A completed savepoint is not stored, ends no pending checkpoint and notifies nobody."""
    completed = tuple(effect.checkpoint for effect in effects if type(effect) is Complete)
    if not completed:
        return True
    done = _find(before, completed[0])
    if done is None or not done.savepoint:
        return True
    quiet = not any(type(effect) in {Abort, NotifyComplete, NotifyAbort} for effect in effects)
    others = tuple(pending for pending in before.pending if pending.checkpoint != done.checkpoint)
    return quiet and after.store == before.store and after.pending[: len(others)] == others


def _find(coordinator: Coordinator, checkpoint: int) -> Pending | None:
    for pending in coordinator.pending:
        if pending.checkpoint == checkpoint:
            return pending
    return None


def _completed_checkpoint(before: Coordinator, effects: Effects) -> Pending | None:
    for effect in effects:
        if type(effect) is Complete:
            done = _find(before, effect.checkpoint)
            if done is not None and not done.savepoint:
                return done
    return None


def _started(before: Coordinator, after: Coordinator) -> tuple[int, ...]:
    """Ids drawn in the step; at most one more than requests waited."""
    drawn = tuple(before.next_id + count for count in range(len(before.queue) + 1))
    return tuple(checkpoint for checkpoint in drawn if checkpoint < after.next_id)


def _abort(pending: Pending, reason: str) -> Effects:
    states = tuple(DiscardState(handle) for handle in pending.states if handle != 0)
    told = tuple(NotifyAbort(pending.checkpoint, task) for task in range(len(pending.acknowledged)))
    return (Abort(pending.checkpoint, reason), *states, *told)
