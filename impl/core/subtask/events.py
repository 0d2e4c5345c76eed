"""Events and effects of the snapshot steps of one subtask (vocabulary: `subtask`)."""

from typing import TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Event
from impl.core.wire import word


@word("checkpoint")
class TriggerCheckpoint(Event):
    """The gate, or the coordinator for a source, triggers the checkpoint.

    `fails`: the synchronous part of its snapshot throws.
    """

    checkpoint: int
    fails: bool = False


@word("abort_on_barrier")
class AbortOnBarrier(Event):
    """The gate aborts the checkpoint."""

    checkpoint: int
    reason: str


@word("abort_notification")
class AbortNotification(Event):
    """The coordinator has aborted the checkpoint. `completed`: the newest completed id, -1 for none."""

    checkpoint: int
    completed: int


@word("complete_notification")
class CompleteNotification(Event):
    """The coordinator has completed the checkpoint."""

    checkpoint: int


@word("subsumed_notification")
class SubsumedNotification(Event):
    """The coordinator has dropped the checkpoint, because a newer one is complete."""

    checkpoint: int


@word("async_done")
class AsyncDone(Event):
    """The asynchronous part of the snapshot has succeeded."""

    checkpoint: int


@word("async_failed")
class AsyncFailed(Event):
    """The asynchronous part of the snapshot has failed, for `reason`."""

    checkpoint: int
    reason: str = "ASYNC_EXCEPTION"


@word("status")
class Status(Event):
    """The task starts or stops running."""

    running: bool


@word("close")
class CloseTask(Event):
    """The task has finished or was cancelled."""


@word("broadcast_barrier")
class BroadcastBarrier(Effect):
    """The barrier is sent on every output."""

    checkpoint: int


@word("broadcast_cancel")
class BroadcastCancel(Effect):
    """A cancellation marker is sent on every output."""

    checkpoint: int


@word("snapshot")
class TakeSnapshot(Effect):
    """The synchronous part of the snapshot runs, and the asynchronous part starts."""

    checkpoint: int


@word("cancel_async")
class CancelAsync(Effect):
    """The asynchronous part is stopped, and its state is discarded."""

    checkpoint: int


@word("acknowledge")
class SendAcknowledge(Effect):
    """The subtask acknowledges the checkpoint to the coordinator."""

    checkpoint: int


@word("decline")
class SendDecline(Effect):
    """The subtask declines the checkpoint."""

    checkpoint: int
    reason: str


@word("notify_complete")
class NotifyOperatorsComplete(Effect):
    """The operators are notified that the checkpoint is complete."""

    checkpoint: int


@word("notify_abort")
class NotifyOperatorsAbort(Effect):
    """The operators are notified that the checkpoint was aborted."""

    checkpoint: int


@word("notify_subsumed")
class NotifyOperatorsSubsumed(Effect):
    """The operators are notified that a completed checkpoint was dropped."""

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
