"""Events and effects of a subtask's snapshot steps."""

from typing import TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Event
from impl.core.wire import word


@word("checkpoint")
class TriggerCheckpoint(Event):
    """The gate, or the coordinator for a source, triggers a checkpoint; its snapshot may throw."""

    checkpoint: int
    fails: bool = False


@word("abort_on_barrier")
class AbortOnBarrier(Event):
    """The gate aborts a checkpoint."""

    checkpoint: int
    reason: str


@word("abort_notification")
class AbortNotification(Event):
    """The coordinator aborted a checkpoint; `completed` is the newest completed one, -1 for none."""

    checkpoint: int
    completed: int


@word("complete_notification")
class CompleteNotification(Event):
    """The coordinator completed a checkpoint."""

    checkpoint: int


@word("subsumed_notification")
class SubsumedNotification(Event):
    """The coordinator dropped a completed checkpoint."""

    checkpoint: int


@word("async_done")
class AsyncDone(Event):
    """The asynchronous part of a snapshot ended well."""

    checkpoint: int


@word("async_failed")
class AsyncFailed(Event):
    """The asynchronous part of a snapshot failed, for a reason that the failure may name."""

    checkpoint: int
    reason: str = "ASYNC_EXCEPTION"


@word("status")
class Status(Event):
    """The task starts or stops running."""

    running: bool


@word("close")
class CloseTask(Event):
    """The task is gone: it has finished or was cancelled."""


@word("broadcast_barrier")
class BroadcastBarrier(Effect):
    """Send the barrier to every output."""

    checkpoint: int


@word("broadcast_cancel")
class BroadcastCancel(Effect):
    """Send the cancellation marker to every output."""

    checkpoint: int


@word("snapshot")
class TakeSnapshot(Effect):
    """Run the synchronous part now and start the asynchronous one."""

    checkpoint: int


@word("cancel_async")
class CancelAsync(Effect):
    """Stop the asynchronous part."""

    checkpoint: int


@word("acknowledge")
class SendAcknowledge(Effect):
    """Acknowledge the checkpoint to the coordinator."""

    checkpoint: int


@word("decline")
class SendDecline(Effect):
    """Decline the checkpoint to the coordinator."""

    checkpoint: int
    reason: str


@word("notify_complete")
class NotifyOperatorsComplete(Effect):
    """Tell the operators that the checkpoint is complete."""

    checkpoint: int


@word("notify_abort")
class NotifyOperatorsAbort(Effect):
    """Tell the operators that the checkpoint was aborted."""

    checkpoint: int


@word("notify_subsumed")
class NotifyOperatorsSubsumed(Effect):
    """Tell the operators that the completed checkpoint was dropped."""

    checkpoint: int


SubtaskEvent: TypeAlias = (
    TriggerCheckpoint
    | AbortOnBarrier
    | AbortNotification
    | CompleteNotification
    | SubsumedNotification
    | AsyncDone
    | AsyncFailed
    | Status
    | CloseTask
)
SubtaskEffect: TypeAlias = (
    BroadcastBarrier
    | BroadcastCancel
    | TakeSnapshot
    | CancelAsync
    | SendAcknowledge
    | SendDecline
    | NotifyOperatorsComplete
    | NotifyOperatorsAbort
    | NotifyOperatorsSubsumed
    | Fail
)
SubtaskEffects: TypeAlias = tuple[SubtaskEffect, ...]
