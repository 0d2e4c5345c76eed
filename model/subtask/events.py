# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `subtask`. The snapshot steps of one subtask."""

from typing import NamedTuple

from model.shared_events import Close, Decline, Fail, NotifyAbort, NotifyComplete, NotifySubsumed, Status

__all__ = [
    "EVENTS",
    "AbortNotification",
    "AbortOnBarrier",
    "Acknowledge",
    "AsyncDone",
    "AsyncFailed",
    "BroadcastBarrier",
    "BroadcastCancel",
    "CancelAsync",
    "Checkpoint",
    "Close",
    "CompleteNotification",
    "Decline",
    "Fail",
    "NotifyAbort",
    "NotifyComplete",
    "NotifySubsumed",
    "Snapshot",
    "Status",
    "SubsumedNotification",
]


class Checkpoint(NamedTuple):
    """The gate, or the coordinator for a source, triggers the checkpoint. `fails`: the synchronous part of
    its snapshot throws. At a task that does not run, this event is a trigger of the coordinator, never a
    barrier of the gate (TASK-10).
    """

    checkpoint: int
    fails: bool = False
    kind: str = "checkpoint"


class AbortOnBarrier(NamedTuple):
    """The gate aborts the checkpoint."""

    checkpoint: int
    reason: str
    kind: str = "abort_on_barrier"


class AbortNotification(NamedTuple):
    """The coordinator has aborted the checkpoint. `completed` is the newest completed id, -1 for none."""

    checkpoint: int
    completed: int
    kind: str = "abort_notification"


class CompleteNotification(NamedTuple):
    """The coordinator has completed the checkpoint."""

    checkpoint: int
    kind: str = "complete_notification"


class SubsumedNotification(NamedTuple):
    """The coordinator has dropped the checkpoint, because a newer one is complete."""

    checkpoint: int
    kind: str = "subsumed_notification"


class AsyncDone(NamedTuple):
    """The asynchronous part of the snapshot has succeeded."""

    checkpoint: int
    kind: str = "async_done"


class AsyncFailed(NamedTuple):
    """The asynchronous part of the snapshot has failed. `reason` is the one that the failure itself names."""

    checkpoint: int
    reason: str = "ASYNC_EXCEPTION"
    kind: str = "async_failed"


class BroadcastBarrier(NamedTuple):
    """The barrier is sent on every output."""

    checkpoint: int
    kind: str = "broadcast_barrier"


class BroadcastCancel(NamedTuple):
    """A cancellation marker is sent on every output."""

    checkpoint: int
    kind: str = "broadcast_cancel"


class Snapshot(NamedTuple):
    """The synchronous part of the snapshot runs, and the asynchronous part starts."""

    checkpoint: int
    kind: str = "snapshot"


class CancelAsync(NamedTuple):
    """The asynchronous part is stopped, and its state is discarded."""

    checkpoint: int
    kind: str = "cancel_async"


class Acknowledge(NamedTuple):
    """The subtask acknowledges the checkpoint to the coordinator."""

    checkpoint: int
    kind: str = "acknowledge"


EVENTS: tuple[type, ...] = (
    Checkpoint,
    AbortOnBarrier,
    AbortNotification,
    CompleteNotification,
    SubsumedNotification,
    AsyncDone,
    AsyncFailed,
    Status,
    Close,
)
