"""TASK-01 to TASK-10, stated over one subtask. `generations` holds the rules of single generations."""

from itertools import combinations

from model.event_frames import Frame
from model.events import (
    ASYNC_EXCEPTION,
    JOB_FAILURE,
    NONE,
    TASK_NOT_READY,
    Close,
    Effects,
    Event,
    NotifyAbort,
    NotifyComplete,
    Status,
)
from model.registry import Registry
from model.subtask.events import (
    AbortNotification,
    AbortOnBarrier,
    Acknowledge,
    AsyncDone,
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
from model.subtask.profiles import TaskProfile
from model.subtask.subtask import CheckpointOnBarrier, Subtask

SUBTASK = Registry("subtask")
SUBTASK.frames({
    Checkpoint: Frame(
        "TASK-01",
        "aborted last running failed",
        "(broadcast_barrier (snapshot | fail | decline) | broadcast_cancel decline?)?",
    ),
    CheckpointOnBarrier: Frame(
        "TASK-01",
        "aborted last running failed",
        "(broadcast_barrier (snapshot | fail | decline) | broadcast_cancel)?",
    ),
    AbortOnBarrier: Frame("TASK-04", "last aborted", "decline broadcast_cancel"),
    AbortNotification: Frame(
        "TASK-05",
        "aborted running completed highest_aborted",
        "(notify_complete? cancel_async? notify_abort)?",
    ),
    CompleteNotification: Frame("TASK-06", "completed", "notify_complete?"),
    SubsumedNotification: Frame("TASK-18", "", "notify_subsumed?"),
    AsyncDone: Frame("TASK-07", "running", "acknowledge?"),
    AsyncFailed: Frame("TASK-08", "running", "decline?"),
    Status: Frame("TASK-10", "task_runs"),
    Close: Frame("TASK-20", "task_runs running", "cancel_async*"),
})  # fmt: skip


@SUBTASK.initial("TASK-01")
def task_01_at_first(subtask: Subtask) -> bool:
    """A new subtask runs. Its state has no ids except that of the restored checkpoint (TASK-06)."""
    completed, bound = subtask.completed, subtask.remembered_at_most
    return subtask == Subtask(
        True, NONE, (), (), completed, NONE, False, bound, subtask.restored, subtask.profile
    )


@SUBTASK.step("TASK-01")
def task_01(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """The task sends a barrier and then takes its snapshot, if and only if it takes a trigger."""
    sent = any(type(effect) is BroadcastBarrier or type(effect) is Snapshot for effect in effects)
    if isinstance(event, Checkpoint | CheckpointOnBarrier) and is_far_below(before, event.checkpoint):
        return True  # TASK-19
    if not isinstance(event, Checkpoint | CheckpointOnBarrier) or not is_taken(before, event.checkpoint):
        return not sent
    if event.fails:  # TASK-13, TASK-14
        return effects[:1] == (BroadcastBarrier(event.checkpoint),) and after.running == before.running
    expected = (BroadcastBarrier(event.checkpoint), Snapshot(event.checkpoint))
    return effects == expected and after.running == ascending(before.running, event.checkpoint)


def is_taken(before: Subtask, checkpoint: int) -> bool:
    """Whether the task takes a trigger with this id."""
    if not before.task_runs or not before.profile.orders_triggers:
        return before.task_runs  # TASK-10, TASK-11
    if checkpoint <= before.last or any(known == checkpoint for known in before.aborted):
        return False  # TASK-02, TASK-03
    return not is_far_below(before, checkpoint)


def is_far_below(before: Subtask, checkpoint: int) -> bool:
    """Whether the task may have dropped a remembered abort of `checkpoint` (TASK-19)."""
    return before.profile.infers_aborts and checkpoint + before.remembered_at_most < before.highest_aborted


def ascending(ids: tuple[int, ...], new: int) -> tuple[int, ...]:
    """The ids with `new` inserted, ascending."""
    below = tuple(known for known in ids if known <= new)
    return (*below, new, *(known for known in ids if known > new))


@SUBTASK.step("TASK-02")
def task_02(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A trigger whose id is not above the last one only drops a remembered abort of this id."""
    if (
        not isinstance(event, Checkpoint | CheckpointOnBarrier)
        or not before.task_runs
        or not before.profile.orders_triggers
    ):
        return True
    if event.checkpoint > before.last:
        return True
    aborted = tuple(known for known in before.aborted if known != event.checkpoint)
    return not effects and after == before._replace(aborted=aborted)


@SUBTASK.step("TASK-02")
def task_02_rises(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A trigger above the last id becomes the last id. The task drops only the abort of this id."""
    if (
        not isinstance(event, Checkpoint | CheckpointOnBarrier)
        or not before.task_runs
        or not before.profile.orders_triggers
    ):
        return True
    aborted = tuple(known for known in before.aborted if known != event.checkpoint)
    return after.last == max(before.last, event.checkpoint) and after.aborted == aborted


@SUBTASK.state("TASK-02")
def task_02_last(subtask: Subtask) -> bool:
    """No snapshot runs for an id above the last one. Running ids ascend."""
    in_order = all(left < right for left, right in combinations(subtask.running, 2))
    below = all(known <= subtask.last for known in subtask.running)
    return in_order and (below or not subtask.profile.orders_triggers)


@SUBTASK.step("TASK-03")
def task_03(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A trigger of an aborted id sends a cancellation and nothing else."""
    if (
        not isinstance(event, Checkpoint | CheckpointOnBarrier)
        or not before.task_runs
        or event.checkpoint <= before.last
    ):
        return True
    if not any(known == event.checkpoint for known in before.aborted):
        return True
    forgotten = not any(known == event.checkpoint for known in after.aborted)
    return effects == (BroadcastCancel(event.checkpoint),) and forgotten and after.last == event.checkpoint


@SUBTASK.step("TASK-04")
def task_04(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """If the gate aborts, the task declines, then sends cancellation markers. It drops older aborts."""
    if type(event) is not AbortOnBarrier:
        return True
    expected = (Decline(event.checkpoint, event.reason), BroadcastCancel(event.checkpoint))
    if not before.profile.orders_triggers:
        return effects == expected and after == before
    kept = tuple(
        known
        for place, known in enumerate(before.aborted)
        if any(earlier >= after.last for earlier in before.aborted[: place + 1])
    )
    rises = after.last == max(before.last, event.checkpoint)
    return effects == expected and rises and after.aborted == kept


@SUBTASK.step("TASK-05")
def task_05(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """At an abort the task stops the running snapshot or remembers a newer id, and notifies its operators."""
    if type(event) is not AbortNotification or not before.profile.notified_of_aborts:
        return True
    if not before.task_runs:
        return not effects and after == before._replace(completed=after.completed)
    notified = bool(effects) and effects[-1] == NotifyAbort(event.checkpoint)
    stopped = any(effect == CancelAsync(event.checkpoint) for effect in effects)
    if any(known == event.checkpoint for known in before.running):
        gone = not any(known == event.checkpoint for known in after.running)
        return notified and stopped and gone and after.aborted == before.aborted
    remembered = any(known == event.checkpoint for known in after.aborted)
    return notified and not stopped and (remembered or event.checkpoint <= before.last)


@SUBTASK.step("TASK-06")
def task_06(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """The task notifies its operators of completions in ascending order, each once, before a newer abort."""
    if not before.profile.completes_in_order:
        return True  # TASK-17
    notified = tuple(effect for effect in effects if type(effect) is NotifyComplete)
    news = before.completed
    if type(event) is CompleteNotification:
        news = event.checkpoint
    elif type(event) is AbortNotification:
        news = event.completed
    if news <= before.completed:
        return not notified and after.completed == before.completed
    if not before.task_runs:
        return not effects and after.completed == news
    return notified == (NotifyComplete(news),) and effects[0] == notified[0] and after.completed == news


@SUBTASK.step("TASK-06")
def task_06_restored(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """The task notifies its operators of no completion of the restored checkpoint or an older one."""
    if not before.profile.completes_in_order:
        return True  # TASK-17
    return all(effect.checkpoint > before.restored for effect in effects if type(effect) is NotifyComplete)


@SUBTASK.initial("TASK-06")
def task_06_at_first(subtask: Subtask) -> bool:
    """The highest completed id of a new subtask is the checkpoint from which it was restored."""
    return subtask.completed == subtask.restored or not subtask.profile.completes_in_order


@SUBTASK.state("TASK-06")
def task_06_known(subtask: Subtask) -> bool:
    """The highest completed id is at least the checkpoint from which the task was restored."""
    return not subtask.profile.completes_in_order or subtask.completed >= subtask.restored


@SUBTASK.step("TASK-07")
def task_07(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """The task acknowledges a running snapshot that succeeds, and only then."""
    if type(event) is not AsyncDone:
        return not any(type(effect) is Acknowledge for effect in effects)
    if not any(known == event.checkpoint for known in before.running):
        return not effects and after == before
    gone = not any(known == event.checkpoint for known in after.running)
    return effects == (Acknowledge(event.checkpoint),) and gone


@SUBTASK.step("TASK-07")
def task_07_running(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """An asynchronous part runs from its snapshot until its own end, its abort, or the end of the task."""
    if type(event) is Close:
        return not after.running
    if not isinstance(event, AsyncDone | AsyncFailed | AbortNotification):
        started = tuple(effect.checkpoint for effect in effects if type(effect) is Snapshot)
        begun = (*before.running, *started)
        return len(after.running) == len(begun) and all(known in after.running for known in begun)
    is_over = before.task_runs or type(event) is not AbortNotification
    is_over = is_over and (type(event) is not AbortNotification or before.profile.notified_of_aborts)
    return after.running == tuple(
        known for known in before.running if not is_over or known != event.checkpoint
    )


@SUBTASK.step("TASK-08")
def task_08(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """The task declines a running snapshot that fails, once. Any other failure has no effect."""
    if type(event) is not AsyncFailed:
        return True
    if not any(known == event.checkpoint for known in before.running):
        return not effects and after == before
    gone = not any(known == event.checkpoint for known in after.running)
    if not before.task_runs or event.reason != ASYNC_EXCEPTION:  # TASK-16, TASK-15
        return gone and len(effects) <= 1
    return effects == (Decline(event.checkpoint, unnamed(before.profile)),) and gone


def unnamed(profile: TaskProfile) -> str:
    """The fixed reason of declines after a failed asynchronous part, up to 1.10 (TASK-15)."""
    return ASYNC_EXCEPTION if profile.names_async_failure else JOB_FAILURE


@SUBTASK.state("TASK-09")
def task_09(subtask: Subtask) -> bool:
    """The number of remembered aborts does not exceed the bound."""
    return len(subtask.aborted) <= subtask.remembered_at_most


@SUBTASK.state("TASK-09")
def task_09_once(subtask: Subtask) -> bool:
    """The task remembers the abort of an id once."""
    return not any(left == right for left, right in combinations(subtask.aborted, 2))


@SUBTASK.step("TASK-09")
def task_09_forgets_the_first(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A new abort is the last remembered one. Above the bound the task drops the first one, and no other."""
    if type(event) is not AbortNotification or not before.task_runs or not before.profile.notified_of_aborts:
        return True
    known = any(one == event.checkpoint for one in (*before.aborted, *before.running))
    grown = before.aborted
    if event.checkpoint > before.last and not known:
        grown = (*before.aborted, event.checkpoint)
    return after.aborted == grown[max(0, len(grown) - before.remembered_at_most) :]


@SUBTASK.initial("TASK-09")
def task_09_bound(subtask: Subtask) -> bool:
    """Tasks of 1.11 to 1.16 remember 128 aborts. Others remember as many as checkpoints may be pending."""
    if subtask.profile.notified_of_aborts and not subtask.profile.infers_aborts:
        return subtask.remembered_at_most == 128
    return subtask.remembered_at_most > 0


@SUBTASK.step("TASK-10")
def task_10_status(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A task runs exactly while its status is RUNNING."""
    return type(event) is not Status or after.task_runs == event.running


@SUBTASK.step("TASK-10")
def task_10(before: Subtask, event: Event, effects: Effects, after: Subtask) -> bool:
    """A task that does not run sends cancellation markers, and declines a trigger of the coordinator."""
    if not isinstance(event, Checkpoint | CheckpointOnBarrier) or before.task_runs:
        return True
    refused: Effects = (BroadcastCancel(event.checkpoint),)
    if type(event) is Checkpoint:
        refused = (*refused, Decline(event.checkpoint, TASK_NOT_READY))
    return effects == refused and after == before
