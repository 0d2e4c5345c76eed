"""Events and effects of a transactional sink."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.subtask.events import CloseTask
from impl.core.wire import word


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


@word("write")
class WriteToTransaction(Effect):
    """Write the record within the transaction."""

    transaction: int
    value: object


@word("pre_commit")
class PreCommit(Effect):
    """Make the transaction durable, so that a commit can no longer fail for lack of data."""

    transaction: int


@word("begin")
class Begin(Effect):
    """Open the transaction."""

    transaction: int


@word("commit")
class Commit(Effect):
    """Make the transaction visible; harmless when it already is."""

    transaction: int


@word("commit_failed")
class CommitFailed(Effect):
    """The commit of the transaction threw: fail the task, a restore commits it again."""

    transaction: int


@word("abort_transaction")
class AbortTransaction(Effect):
    """Roll the transaction back; harmless when it does not exist."""

    transaction: int


SinkEvent: TypeAlias = (
    WriteRecord
    | SnapshotSink
    | CheckpointCompleted
    | CheckpointAborted
    | Finish
    | CloseTask
    | Crash
    | RestoreSink
)
SinkEffect: TypeAlias = WriteToTransaction | PreCommit | Begin | Commit | CommitFailed | AbortTransaction
SinkEffects: TypeAlias = tuple[SinkEffect, ...]
