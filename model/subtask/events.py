"""Events and effects of a subtask's snapshot steps."""

from typing import NamedTuple

from model.events import ASYNC_EXCEPTION


class Checkpoint(NamedTuple):
    """A subtask is triggered, by its gate or, a source, by the coordinator; its snapshot may throw."""

    checkpoint: int
    fails: bool = False
    kind: str = "checkpoint"


class AbortOnBarrier(NamedTuple):
    """The gate of a subtask has aborted a checkpoint."""

    checkpoint: int
    reason: str
    kind: str = "abort_on_barrier"


class AsyncDone(NamedTuple):
    """The asynchronous part of a snapshot ended well."""

    checkpoint: int
    kind: str = "async_done"


class AsyncFailed(NamedTuple):
    """The asynchronous part of a snapshot failed, for a reason that the failure may name."""

    checkpoint: int
    reason: str = ASYNC_EXCEPTION
    kind: str = "async_failed"


class SubsumedNotification(NamedTuple):
    """The coordinator has dropped a completed checkpoint."""

    checkpoint: int
    kind: str = "subsumed_notification"


class BroadcastBarrier(NamedTuple):
    """The barrier is sent on every output."""

    checkpoint: int
    kind: str = "broadcast_barrier"


class BroadcastCancel(NamedTuple):
    """A cancellation marker is sent on every output."""

    checkpoint: int
    kind: str = "broadcast_cancel"


class Snapshot(NamedTuple):
    """The synchronous part of the snapshot runs; the asynchronous part starts."""

    checkpoint: int
    kind: str = "snapshot"


class CancelAsync(NamedTuple):
    """The asynchronous part of the snapshot is stopped and its state thrown away."""

    checkpoint: int
    kind: str = "cancel_async"


class Acknowledge(NamedTuple):
    """The subtask tells the coordinator that its snapshot is stored."""

    checkpoint: int
    kind: str = "acknowledge"


class Decline(NamedTuple):
    """The subtask tells the coordinator that there will be no snapshot."""

    checkpoint: int
    reason: str
    kind: str = "decline"
