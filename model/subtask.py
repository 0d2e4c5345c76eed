"""The snapshot steps of one subtask. Rules TASK-01 to TASK-10.

A trigger makes the subtask send the barrier downstream, snapshot its state, and acknowledge when
the asynchronous part has stored it. The coordinator's abort may come before the trigger, in between
or after it, and each case has its own answer.

The file knows one subtask: not its gate, not its operators, not the coordinator.
"""

from typing import NamedTuple

from model.events import (
    ASYNC_EXCEPTION,
    NONE,
    TASK_NOT_READY,
    Acknowledge,
    BroadcastBarrier,
    BroadcastCancel,
    CancelAsync,
    Decline,
    Effects,
    NotifyAbort,
    NotifyComplete,
    Rules,
    Snapshot,
    Step,
)


class Subtask(NamedTuple):
    """One subtask's view of its checkpoints."""

    task_runs: bool
    """The task is RUNNING."""
    last: int
    """Highest id triggered or aborted at the gate; -1 before the first."""
    aborted: tuple[int, ...]
    """Ids whose abort was told before their trigger came, in the order of remembering."""
    running: tuple[int, ...]
    """Ids whose asynchronous part runs, ascending."""
    completed: int
    """Highest completed id that the operators were told; -1 before the first."""
    remembered_at_most: int
    """How many aborts are remembered (TASK-09). Never changes."""


def new_subtask(remembered_at_most: int) -> Subtask:
    """A running subtask that has seen no checkpoint."""
    return Subtask(
        task_runs=True,
        last=NONE,
        aborted=(),
        running=(),
        completed=NONE,
        remembered_at_most=remembered_at_most,
    )


def on_checkpoint(subtask: Subtask, checkpoint: int) -> Step[Subtask]:
    """The gate, or the coordinator for a source, triggers `checkpoint`."""
    if not subtask.task_runs:
        refused = (BroadcastCancel(checkpoint), Decline(checkpoint, TASK_NOT_READY))
        return Step(subtask, refused, ("TASK-10",))
    remembered = any(known == checkpoint for known in subtask.aborted)
    subtask = subtask._replace(aborted=without(subtask.aborted, checkpoint))
    if checkpoint <= subtask.last:
        return Step(subtask, (), ("TASK-02",))
    subtask = subtask._replace(last=checkpoint)
    if remembered:
        return Step(subtask, (BroadcastCancel(checkpoint),), ("TASK-03",))
    subtask = subtask._replace(running=(*subtask.running, checkpoint))
    return Step(subtask, (BroadcastBarrier(checkpoint), Snapshot(checkpoint)), ("TASK-01",))


def on_abort_on_barrier(subtask: Subtask, checkpoint: int, reason: str) -> Step[Subtask]:
    """The gate aborts `checkpoint`: tell the coordinator, then everybody downstream."""
    last = max(subtask.last, checkpoint)
    subtask = subtask._replace(last=last, aborted=pruned(subtask.aborted, last))
    return Step(subtask, (Decline(checkpoint, reason), BroadcastCancel(checkpoint)), ("TASK-04",))


def on_abort_notification(subtask: Subtask, checkpoint: int, completed: int) -> Step[Subtask]:
    """The coordinator has aborted `checkpoint`; `completed` is the newest completed id, or -1."""
    if not subtask.task_runs:
        return Step(subtask, (), ("TASK-10",))
    effects: Effects = ()
    rules: Rules = ("TASK-05",)
    if completed > subtask.completed:  # the news of that completion was overtaken or lost
        subtask = subtask._replace(completed=completed)
        effects = (NotifyComplete(completed),)
        rules = ("TASK-06", "TASK-05")
    if any(known == checkpoint for known in subtask.running):
        subtask = subtask._replace(running=without(subtask.running, checkpoint))
        effects = (*effects, CancelAsync(checkpoint))
    elif checkpoint > subtask.last and not any(known == checkpoint for known in subtask.aborted):
        aborted = (*subtask.aborted, checkpoint)
        if len(aborted) > subtask.remembered_at_most:
            aborted = aborted[1:]
            rules = (*rules, "TASK-09")
        subtask = subtask._replace(aborted=aborted)
    return Step(subtask, (*effects, NotifyAbort(checkpoint)), rules)


def on_complete_notification(subtask: Subtask, checkpoint: int) -> Step[Subtask]:
    """The coordinator has completed `checkpoint`."""
    if not subtask.task_runs:
        return Step(subtask, (), ("TASK-10",))
    if checkpoint <= subtask.completed:
        return Step(subtask, (), ("TASK-06",))
    return Step(subtask._replace(completed=checkpoint), (NotifyComplete(checkpoint),), ("TASK-06",))


def on_async_done(subtask: Subtask, checkpoint: int) -> Step[Subtask]:
    """The asynchronous part of `checkpoint` ended well."""
    if not any(known == checkpoint for known in subtask.running):
        return Step(subtask, (), ("TASK-07",))
    subtask = subtask._replace(running=without(subtask.running, checkpoint))
    return Step(subtask, (Acknowledge(checkpoint),), ("TASK-07",))


def on_async_failed(subtask: Subtask, checkpoint: int) -> Step[Subtask]:
    """The asynchronous part of `checkpoint` failed."""
    if not any(known == checkpoint for known in subtask.running):
        return Step(subtask, (), ("TASK-08",))
    subtask = subtask._replace(running=without(subtask.running, checkpoint))
    return Step(subtask, (Decline(checkpoint, ASYNC_EXCEPTION),), ("TASK-08",))


def on_status(subtask: Subtask, running: bool) -> Step[Subtask]:
    """The task starts or stops running."""
    return Step(subtask._replace(task_runs=running), (), ("TASK-10",))


def without(ids: tuple[int, ...], gone: int) -> tuple[int, ...]:
    """The ids but for one, in their order."""
    return tuple(known for known in ids if known != gone)


def pruned(aborted: tuple[int, ...], last: int) -> tuple[int, ...]:
    """Forget from the one remembered first on, and stop at the first that is not below `last`."""
    for position, known in enumerate(aborted):
        if known >= last:
            return aborted[position:]
    return ()
