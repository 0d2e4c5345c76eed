"""TASK-11 to TASK-20: the differences between the generations of subtasks, and the end of a subtask."""

from model.events import JOB_FAILURE, NONE, Close, Effects, Event, Fail, NotifyComplete, NotifySubsumed
from model.registry import Registry
from model.subtask.events import (
    AbortNotification,
    AsyncFailed,
    BroadcastBarrier,
    BroadcastCancel,
    CancelAsync,
    Checkpoint,
    CompleteNotification,
    Decline,
    Snapshot,
    SubsumedNotification,
)
from model.subtask.properties.subtask import is_taken, unnamed
from model.subtask.subtask import CheckpointOnBarrier, Subtask

SUBTASK_GENERATIONS = Registry("subtask")


@SUBTASK_GENERATIONS.step("TASK-11")
def task_11(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """In generations without ordered triggers, the task takes each trigger and does not store its id."""
    if before.profile.orders_triggers:
        return True
    if isinstance(event, Checkpoint | CheckpointOnBarrier) and before.task_runs and not event.fails:
        taken = (BroadcastBarrier(event.checkpoint), Snapshot(event.checkpoint))
        return effects == taken and after.last == before.last
    return after.last == before.last


@SUBTASK_GENERATIONS.step("TASK-12")
def task_12(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """In generations without abort notifications, an abort has no effect and is not remembered."""
    if before.profile.notified_of_aborts or type(event) is not AbortNotification:
        return True
    return not effects and after == before


@SUBTASK_GENERATIONS.step("TASK-13")
def task_13(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """If the synchronous part throws, the task fails, after the barrier has left. No other event fails it."""
    fails = (
        isinstance(event, Checkpoint | CheckpointOnBarrier)
        and event.fails
        and is_taken(before, event.checkpoint)
    )
    if (
        not isinstance(event, Checkpoint | CheckpointOnBarrier)
        or not fails
        or not before.profile.broken_snapshot_fails
    ):
        return after.failed == before.failed and not any(type(effect) is Fail for effect in effects)
    left = len(effects) == 2 and effects[0] == BroadcastBarrier(event.checkpoint)
    return left and type(effects[1]) is Fail and after.failed


@SUBTASK_GENERATIONS.step("TASK-14")
def task_14(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """Up to 1.10 a task declines when its synchronous part throws, after the barrier has left."""
    if not isinstance(event, Checkpoint | CheckpointOnBarrier) or before.profile.broken_snapshot_fails:
        return True
    if not event.fails or not before.task_runs:
        return True
    expected = (BroadcastBarrier(event.checkpoint), Decline(event.checkpoint, JOB_FAILURE))
    return effects == expected and after == before


@SUBTASK_GENERATIONS.step("TASK-15")
def task_15(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A decline after a failed asynchronous part has the reason of the failure. Up to 1.10 it is fixed."""
    if type(event) is not AsyncFailed or not before.task_runs:
        return True
    reason = event.reason if before.profile.declines_with_cause else unnamed(before.profile)
    ran = any(known == event.checkpoint for known in before.running)
    return effects == ((Decline(event.checkpoint, reason),) if ran else ())


@SUBTASK_GENERATIONS.step("TASK-16")
def task_16(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A failure after the task has stopped has no effect. Up to 1.10 the task declines the checkpoint."""
    if type(event) is not AsyncFailed or before.task_runs:
        return True
    ran = any(known == event.checkpoint for known in before.running)
    if before.profile.stopped_ignores_failures or not ran:
        return not effects
    return effects == (Decline(event.checkpoint, unnamed(before.profile)),)


@SUBTASK_GENERATIONS.step("TASK-17")
def task_17(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """Up to 1.13 the task notifies its operators of each completion, in any order, and at no abort."""
    if before.profile.completes_in_order:
        return True
    notified = tuple(effect for effect in effects if type(effect) is NotifyComplete)
    if type(event) is not CompleteNotification or not before.task_runs:
        return not notified and after.completed == before.completed
    return effects == (NotifyComplete(event.checkpoint),) and after == before


@SUBTASK_GENERATIONS.initial("TASK-17")
def task_17_at_first(subtask: Subtask) -> bool:
    """Up to 1.13 a new subtask stores no completed id, even if it was restored from a checkpoint."""
    return subtask.profile.completes_in_order or subtask.completed == NONE


@SUBTASK_GENERATIONS.step("TASK-18")
def task_18(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """From 1.15 on, a running task notifies its operators of a dropped checkpoint."""
    if type(event) is not SubsumedNotification:
        return not any(type(effect) is NotifySubsumed for effect in effects)
    notifies = before.task_runs and before.profile.notified_of_subsumed
    return effects == ((NotifySubsumed(event.checkpoint),) if notifies else ()) and after == before


@SUBTASK_GENERATIONS.step("TASK-19")
def task_19(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """From 1.17 on, the task stores the highest abort, and an id far below it counts as aborted."""
    if not before.profile.infers_aborts:
        return after.highest_aborted == before.highest_aborted
    if type(event) is AbortNotification and before.task_runs:
        is_future = event.checkpoint > before.last and event.checkpoint not in before.running
        known = max(before.highest_aborted, event.checkpoint) if is_future else before.highest_aborted
        return after.highest_aborted == known
    if after.highest_aborted != before.highest_aborted:
        return False
    if (
        not isinstance(event, Checkpoint | CheckpointOnBarrier)
        or not before.task_runs
        or event.checkpoint <= before.last
    ):
        return True
    if event.checkpoint + before.remembered_at_most >= before.highest_aborted:
        return True
    return effects == (BroadcastCancel(event.checkpoint),) and after.running == before.running


@SUBTASK_GENERATIONS.state("TASK-19")
def task_19_highest(subtask: Subtask) -> bool:
    """No remembered abort is above the highest."""
    return not subtask.profile.infers_aborts or all(
        known <= subtask.highest_aborted for known in subtask.aborted
    )


@SUBTASK_GENERATIONS.step("TASK-20")
def task_20(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A closed task stops its running asynchronous parts, which then have no effect."""
    if type(event) is not Close:
        return True
    stopped = tuple(CancelAsync(known) for known in before.running)
    return effects == stopped and after == before._replace(task_runs=False, running=())
