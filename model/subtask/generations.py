"""The steps of older generations of a subtask, Flink 1.9 to 1.16.

A class derives from the class of the next newer generation, and overrides the steps that differ.
`subtask_steps` selects the class for a subtask. The switches of `model.subtask.profiles` state the same
differences. The properties check the steps against these switches.
"""

from collections.abc import Mapping

from model.events import ASYNC_EXCEPTION, JOB_FAILURE, NONE, TASK_NOT_READY, NotifyComplete, Rules, Step
from model.subtask.events import BroadcastBarrier, BroadcastCancel, Decline
from model.subtask.profiles import TASK_PROFILES, TaskProfile
from model.subtask.subtask import Subtask, SubtaskSteps, without


class RemembersOnly(SubtaskSteps):
    """1.15 and 1.16: an id counts as aborted only if the task remembers its abort (no TASK-19)."""

    def is_far_below(self, subtask: Subtask, checkpoint: int) -> bool:
        """False: an id counts as aborted only if the task remembers its abort."""
        return False

    def remembering(self, subtask: Subtask, checkpoint: int) -> tuple[Subtask, Rules]:
        """The subtask after it has remembered the abort. It does not store the highest abort."""
        after, rules = super().remembering(subtask, checkpoint)
        return after._replace(highest_aborted=NONE), rules


class NotNotifiedOfSubsumed(RemembersOnly):
    """1.14: the coordinator does not notify tasks of dropped checkpoints (TASK-18)."""

    def on_subsumed_notification(self, subtask: Subtask, checkpoint: int) -> Step[Subtask]:
        """The notification has no effect."""
        return Step(subtask, (), ("TASK-18",))


class CompletesInAnyOrder(NotNotifiedOfSubsumed):
    """1.11 to 1.13: the task notifies its operators of every completion, in any order (TASK-17).

    A notification of an abort contains no completed id.
    """

    def on_abort_notification(self, subtask: Subtask, checkpoint: int, completed: int) -> Step[Subtask]:
        """The coordinator has aborted `checkpoint`. The task ignores `completed`."""
        return super().on_abort_notification(subtask, checkpoint, NONE)

    def on_complete_notification(self, subtask: Subtask, checkpoint: int) -> Step[Subtask]:
        """The coordinator has completed `checkpoint`. The task notifies its operators if it runs."""
        if not subtask.task_runs:
            return Step(subtask, (), ("TASK-10",))
        return Step(subtask, (NotifyComplete(checkpoint),), ("TASK-17",))


class TakesEveryTrigger(CompletesInAnyOrder):
    """1.10: the task takes every trigger and ignores notifications of aborts (TASK-11, TASK-12)."""

    reason_of_async_failure = ASYNC_EXCEPTION
    """The reason that the coordinator records for a decline after a failed asynchronous part."""

    def on_checkpoint(self, subtask: Subtask, checkpoint: int, fails: bool) -> Step[Subtask]:
        """A running task takes the snapshot, whatever its id."""
        if not subtask.task_runs:
            refused = (BroadcastCancel(checkpoint), Decline(checkpoint, TASK_NOT_READY))
            return Step(subtask, refused, ("TASK-10",))
        return self.snapshot(subtask, checkpoint, fails, ("TASK-11",))

    def broken(self, subtask: Subtask, checkpoint: int, rules: Rules) -> Step[Subtask]:
        """The synchronous part throws. The task declines the checkpoint (TASK-14)."""
        emitted = (BroadcastBarrier(checkpoint), Decline(checkpoint, JOB_FAILURE))
        return Step(subtask, emitted, (*rules, "TASK-14"))

    def on_abort_on_barrier(self, subtask: Subtask, checkpoint: int, reason: str) -> Step[Subtask]:
        """The gate aborts `checkpoint`. The task does not store the id: it does not order triggers."""
        return Step(subtask, (Decline(checkpoint, reason), BroadcastCancel(checkpoint)), ("TASK-04",))

    def on_abort_notification(self, subtask: Subtask, checkpoint: int, completed: int) -> Step[Subtask]:
        """The notification has no effect."""
        return Step(subtask, (), ("TASK-12",))

    def on_async_failed(
        self, subtask: Subtask, checkpoint: int, reason: str = ASYNC_EXCEPTION
    ) -> Step[Subtask]:
        """The task always declines with the same reason, also if it has stopped (TASK-15, TASK-16)."""
        if not any(known == checkpoint for known in subtask.running):
            return Step(subtask, (), ("TASK-08",))
        subtask = subtask._replace(running=without(subtask.running, checkpoint))
        rule = "TASK-08" if reason == ASYNC_EXCEPTION else "TASK-15"
        return Step(subtask, (Decline(checkpoint, self.reason_of_async_failure),), (rule,))


class DeclinesWithoutReason(TakesEveryTrigger):
    """1.9: the decline after a failed asynchronous part names no reason (TASK-15)."""

    reason_of_async_failure = JOB_FAILURE


_NEWEST = SubtaskSteps()
_IN_ANY_ORDER = CompletesInAnyOrder()
_STEPS: Mapping[TaskProfile, SubtaskSteps] = {
    **dict.fromkeys(TASK_PROFILES.values(), _NEWEST),
    TASK_PROFILES["1.9"]: DeclinesWithoutReason(),
    TASK_PROFILES["1.10"]: TakesEveryTrigger(),
    TASK_PROFILES["1.11"]: _IN_ANY_ORDER,
    TASK_PROFILES["1.12"]: _IN_ANY_ORDER,
    TASK_PROFILES["1.13"]: _IN_ANY_ORDER,
    TASK_PROFILES["1.14"]: NotNotifiedOfSubsumed(),
    TASK_PROFILES["1.15"]: RemembersOnly(),
}


def subtask_steps(subtask: Subtask) -> SubtaskSteps:
    """The steps of the subtask's generation."""
    return _STEPS[subtask.profile]
