"""Events and effects of a subtask's snapshot steps."""

from typing import NamedTuple

from model.events import ASYNC_EXCEPTION


class Checkpoint(NamedTuple):
    """The gate, or the coordinator for a source, triggers a subtask; `fails`: its synchronous part throws."""

    checkpoint: int
    fails: bool = False
    kind: str = "checkpoint"


class AbortOnBarrier(NamedTuple):
    """The gate of a subtask has aborted a checkpoint."""

    checkpoint: int
    reason: str
    kind: str = "abort_on_barrier"


class AsyncDone(NamedTuple):
    """The asynchronous part of a snapshot succeeds."""

    checkpoint: int
    kind: str = "async_done"


class AsyncFailed(NamedTuple):
    """The asynchronous part of a snapshot fails, for a reason that the failure may name."""

    checkpoint: int
    reason: str = ASYNC_EXCEPTION
    kind: str = "async_failed"


class SubsumedNotification(NamedTuple):
    """The coordinator reports that it has dropped a completed checkpoint."""

    checkpoint: int
    kind: str = "subsumed_notification"


class BroadcastBarrier(NamedTuple):
    """The subtask sends the barrier on every output."""

    checkpoint: int
    kind: str = "broadcast_barrier"


class BroadcastCancel(NamedTuple):
    """The subtask sends a cancellation marker on every output."""

    checkpoint: int
    kind: str = "broadcast_cancel"


class Snapshot(NamedTuple):
    """The synchronous part of the snapshot runs; the asynchronous part starts."""

    checkpoint: int
    kind: str = "snapshot"


class CancelAsync(NamedTuple):
    """The subtask stops the asynchronous part of the snapshot and discards its state."""

    checkpoint: int
    kind: str = "cancel_async"


class Acknowledge(NamedTuple):
    """The subtask reports to the coordinator that its snapshot is stored."""

    checkpoint: int
    kind: str = "acknowledge"


class Decline(NamedTuple):
    """The subtask reports to the coordinator that it takes no snapshot."""

    checkpoint: int
    reason: str
    kind: str = "decline"
