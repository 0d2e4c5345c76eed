"""The snapshot steps of one subtask. Rules TASK-01 to TASK-20, except the rules of older generations.

At a trigger the subtask sends the barrier downstream and takes a snapshot of its state. It acknowledges when
the asynchronous part has stored the snapshot. The notification of an abort may arrive before the trigger,
between trigger and acknowledgement, or after the acknowledgement. The steps differ in each case.

The module describes one subtask of Flink 1.17 and later, without its gate, its operators and the coordinator.
`model.subtask.generations` holds the steps that differ in older generations.
"""

from typing import NamedTuple

from model.events import (
    ASYNC_EXCEPTION,
    NONE,
    TASK_NOT_READY,
    Effects,
    Fail,
    NotifyAbort,
    NotifyComplete,
    NotifySubsumed,
    Rules,
    Step,
)
from model.subtask.events import (
    Acknowledge,
    BroadcastBarrier,
    BroadcastCancel,
    CancelAsync,
    Decline,
    Snapshot,
)
from model.subtask.profiles import NEWEST_TASK, TaskProfile


class CheckpointOnBarrier(NamedTuple):
    """The gate triggers the checkpoint at a barrier. The adapter protocol does not have this event."""

    checkpoint: int
    fails: bool
    kind: str = "checkpoint_on_barrier"


BROKEN_SNAPSHOT = "the synchronous part of the snapshot failed"


class Subtask(NamedTuple):
    """The state of one subtask's checkpoints."""

    task_runs: bool
    """The task is RUNNING."""
    last: int
    """Highest id that was triggered, or aborted by the gate. -1 before the first, and always up to 1.10."""
    aborted: tuple[int, ...]
    """Ids whose abort notification arrived before their trigger, oldest first."""
    running: tuple[int, ...]
    """Ids whose asynchronous part runs, ascending."""
    completed: int
    """Highest id that is known to be complete: of the restored checkpoint or of notifications.

    -1 for none, and always up to 1.13.
    """
    highest_aborted: int
    """Highest id that the task has ever remembered as aborted. -1 before the first, and always up to 1.16."""
    failed: bool
    """The task has failed, because the synchronous part of a snapshot has thrown. No event follows."""
    remembered_at_most: int
    """Number of aborts that the task remembers (TASK-09). Never changes."""
    restored: int = NONE
    """The checkpoint from which the task was restored. -1 for none. Never changes."""
    profile: TaskProfile = NEWEST_TASK
    """The generation. Never changes."""


def new_subtask(max_concurrent: int, profile: TaskProfile = NEWEST_TASK, restored: int = NONE) -> Subtask:
    """A running subtask in its initial state. At most `max_concurrent` checkpoints are pending at once.

    `restored`: the checkpoint from which it was restored, -1 for none.
    """
    return Subtask(
        task_runs=True,
        last=NONE,
        aborted=(),
        running=(),
        completed=restored if profile.completes_in_order else NONE,
        highest_aborted=NONE,
        failed=False,
        remembered_at_most=profile.remembers or max_concurrent,
        restored=restored,
        profile=profile,
    )


class SubtaskSteps:
    """The steps of a subtask, and the methods that older generations override."""

    def on_checkpoint(self, subtask: Subtask, checkpoint: int, fails: bool) -> Step[Subtask]:
        """The coordinator triggers `checkpoint`, as at a source. `fails`: the synchronous part throws."""
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
        if self.is_far_below(subtask, checkpoint):
            return Step(subtask, (BroadcastCancel(checkpoint),), ("TASK-19",))
        return self.snapshot(subtask, checkpoint, fails, ())

    def on_checkpoint_on_barrier(self, subtask: Subtask, checkpoint: int, fails: bool) -> Step[Subtask]:
        """The gate triggers `checkpoint`. If the task does not run, it does not decline."""
        if not subtask.task_runs:
            return Step(subtask, (BroadcastCancel(checkpoint),), ("TASK-10",))
        return self.on_checkpoint(subtask, checkpoint, fails)

    def snapshot(self, subtask: Subtask, checkpoint: int, fails: bool, rules: Rules) -> Step[Subtask]:
        """The subtask sends the barrier. Then the synchronous part runs and starts the asynchronous part."""
        if fails:
            return self.broken(subtask, checkpoint, rules)
        subtask = subtask._replace(running=ascending(subtask.running, checkpoint))
        return Step(subtask, (BroadcastBarrier(checkpoint), Snapshot(checkpoint)), (*rules, "TASK-01"))

    def broken(self, subtask: Subtask, checkpoint: int, rules: Rules) -> Step[Subtask]:
        """The synchronous part throws, which fails the task (TASK-13)."""
        failed = subtask._replace(failed=True)
        return Step(failed, (BroadcastBarrier(checkpoint), Fail(BROKEN_SNAPSHOT)), (*rules, "TASK-13"))

    def on_abort_on_barrier(self, subtask: Subtask, checkpoint: int, reason: str) -> Step[Subtask]:
        """The gate aborts `checkpoint`. The task declines it, then sends a cancellation on every output."""
        last = max(subtask.last, checkpoint)
        subtask = subtask._replace(last=last, aborted=pruned(subtask.aborted, last))
        return Step(subtask, (Decline(checkpoint, reason), BroadcastCancel(checkpoint)), ("TASK-04",))

    def on_abort_notification(self, subtask: Subtask, checkpoint: int, completed: int) -> Step[Subtask]:
        """The coordinator has aborted `checkpoint`. `completed` is the newest completed id, or -1."""
        effects: Effects = ()
        rules: Rules = ("TASK-05",)
        if completed > subtask.completed:  # the notification of that completion is late or lost
            subtask, effects, _ = self.on_complete_notification(subtask, completed)
            rules = ("TASK-06", "TASK-05")
        if not subtask.task_runs:
            return Step(subtask, (), (*rules[:-1], "TASK-10"))
        if any(known == checkpoint for known in subtask.running):
            subtask = subtask._replace(running=without(subtask.running, checkpoint))
            effects = (*effects, CancelAsync(checkpoint))
        elif checkpoint > subtask.last:
            subtask, forgot = self.remembering(subtask, checkpoint)
            rules = (*rules, *forgot)
        return Step(subtask, (*effects, NotifyAbort(checkpoint)), rules)

    def on_complete_notification(self, subtask: Subtask, checkpoint: int) -> Step[Subtask]:
        """The coordinator has completed `checkpoint`. The task notifies its operators if it runs."""
        notified = (NotifyComplete(checkpoint),) if subtask.task_runs else ()
        if checkpoint <= subtask.completed:
            return Step(subtask, (), ("TASK-06",))
        return Step(subtask._replace(completed=checkpoint), notified, ("TASK-06",))

    def on_subsumed_notification(self, subtask: Subtask, checkpoint: int) -> Step[Subtask]:
        """The coordinator has dropped `checkpoint`, because a newer one is complete."""
        return Step(subtask, (NotifySubsumed(checkpoint),) if subtask.task_runs else (), ("TASK-18",))

    def on_async_done(self, subtask: Subtask, checkpoint: int) -> Step[Subtask]:
        """The asynchronous part of `checkpoint` succeeds."""
        if not any(known == checkpoint for known in subtask.running):
            return Step(subtask, (), ("TASK-07",))
        subtask = subtask._replace(running=without(subtask.running, checkpoint))
        return Step(subtask, (Acknowledge(checkpoint),), ("TASK-07",))

    def on_async_failed(
        self, subtask: Subtask, checkpoint: int, reason: str = ASYNC_EXCEPTION
    ) -> Step[Subtask]:
        """The asynchronous part of `checkpoint` fails. `reason`: the reason of the failure."""
        if not any(known == checkpoint for known in subtask.running):
            return Step(subtask, (), ("TASK-08",))
        subtask = subtask._replace(running=without(subtask.running, checkpoint))
        if not subtask.task_runs:
            return Step(subtask, (), ("TASK-16",))
        rule = "TASK-08" if reason == ASYNC_EXCEPTION else "TASK-15"
        return Step(subtask, (Decline(checkpoint, reason),), (rule,))

    def on_close(self, subtask: Subtask) -> Step[Subtask]:
        """The task has finished or was cancelled. It stops its asynchronous parts."""
        stopped = tuple(CancelAsync(known) for known in subtask.running)
        return Step(subtask._replace(task_runs=False, running=()), stopped, ("TASK-20",))

    def on_status(self, subtask: Subtask, running: bool) -> Step[Subtask]:
        """The task starts or stops running."""
        return Step(subtask._replace(task_runs=running), (), ("TASK-10",))

    def is_far_below(self, subtask: Subtask, checkpoint: int) -> bool:
        """Whether the task may have dropped a remembered abort of `checkpoint` (TASK-19)."""
        return checkpoint + subtask.remembered_at_most < subtask.highest_aborted

    def remembering(self, subtask: Subtask, checkpoint: int) -> tuple[Subtask, Rules]:
        """The subtask after it has remembered the abort. Above the bound it drops the oldest one."""
        subtask = subtask._replace(highest_aborted=max(subtask.highest_aborted, checkpoint))
        if any(known == checkpoint for known in subtask.aborted):
            return subtask, ()
        aborted = (*subtask.aborted, checkpoint)
        if len(aborted) > subtask.remembered_at_most:
            return subtask._replace(aborted=aborted[1:]), ("TASK-09",)
        return subtask._replace(aborted=aborted), ()


def ascending(ids: tuple[int, ...], new: int) -> tuple[int, ...]:
    """The ids with `new` inserted, ascending."""
    smaller = sum(1 for known in ids if known < new)
    return (*ids[:smaller], new, *ids[smaller:])


def without(ids: tuple[int, ...], gone: int) -> tuple[int, ...]:
    """The ids without `gone`, in the same order."""
    return tuple(known for known in ids if known != gone)


def pruned(aborted: tuple[int, ...], last: int) -> tuple[int, ...]:
    """The aborts from the first one that is not below `last`, in the order of arrival."""
    for position, known in enumerate(aborted):
        if known >= last:
            return aborted[position:]
    return ()
