"""The events that gate, subtask, store, sink and offsets take, in the order of docs/adapter-protocol.md.

Those of the coordinator are in `coordinator_events`. The kind on the wire is the name given to `word`.
Where two components use one kind for different things (`snapshot`, ...) the class says whose it is.
"""

from enum import StrEnum

from impl.core.words import Word, word


class CheckpointType(StrEnum):
    """What was asked for: a checkpoint, a savepoint, or the savepoint that stops the job."""

    CHECKPOINT = "checkpoint"
    SAVEPOINT = "savepoint"
    STOP = "stop"


class Event(Word):
    """Something that happens to a component."""

    __slots__ = ()


# ---------------------------------------------------------------- gate


@word("record")
class Record(Event):
    """A record arrives on a channel (polled level only)."""

    channel: int
    value: object


@word("barrier")
class Barrier(Event):
    """The barrier of a checkpoint arrives on a channel."""

    channel: int
    checkpoint: int


@word("cancel")
class Cancel(Event):
    """The cancellation marker of a checkpoint arrives on a channel."""

    channel: int
    checkpoint: int


@word("end_of_partition")
class EndOfPartition(Event):
    """A channel ends; nothing follows on it."""

    channel: int


@word("inject")
class Inject(Event):
    """The task itself is triggered, because its predecessors have finished."""

    checkpoint: int


# ---------------------------------------------------------------- gate and coordinator


@word("advance")
class Advance(Event):
    """Virtual time passes, in milliseconds."""

    ms: int


# ---------------------------------------------------------------- subtask


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


# ---------------------------------------------------------------- store


@word("add")
class AddCheckpoint(Event):
    """A completed checkpoint is added."""

    checkpoint: int
    type: CheckpointType


@word("latest")
class AskLatest(Event):
    """Somebody asks for the latest checkpoint."""


@word("shutdown")
class Shutdown(Event):
    """The job ended for good; `discard` if its checkpoints are not kept."""

    discard: bool


# ---------------------------------------------------------------- sink


@word("write")
class WriteRecord(Event):
    """A record reaches the sink."""

    value: object


@word("snapshot")
class SnapshotSink(Event):
    """The sink is snapshotted for a checkpoint."""

    checkpoint: int


@word("notify_complete")
class CheckpointCompleted(Event):
    """The sink is told that a checkpoint is complete; the commit of transaction `fails` throws."""

    checkpoint: int
    fails: int | None = None


@word("notify_abort")
class CheckpointAborted(Event):
    """The sink is told that a checkpoint was aborted."""

    checkpoint: int


@word("finish")
class Finish(Event):
    """The end of the sink's input."""


@word("crash")
class Crash(Event):
    """The sink's task dies, and its volatile state with it."""


@word("restore")
class RestoreSink(Event):
    """A crashed sink restarts from its snapshot under `checkpoint`, or from the beginning for None.

    The commit of transaction `fails` throws.
    """

    checkpoint: int | None
    fails: int | None = None


# ---------------------------------------------------------------- offsets


@word("snapshot")
class SnapshotOffsets(Event):
    """The source is snapshotted; `offsets` stands for its positions in all partitions."""

    checkpoint: int
    offsets: int


@word("notify_complete")
class OffsetsCompleted(Event):
    """The source is told that a checkpoint is complete."""

    checkpoint: int


@word("restore")
class RestoreOffsets(Event):
    """A crashed source restarts from a state with these offsets."""

    offsets: int
