"""Events and effects of a transactional sink (vocabulary: `sink`)."""

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
    """The sink's subtask takes its snapshot."""

    checkpoint: int


@word("notify_complete")
class CheckpointCompleted(Event):
    """The checkpoint is complete. `fails`: the transaction whose commit throws; None for none."""

    checkpoint: int
    fails: int | None = None


@word("notify_abort")
class CheckpointAborted(Event):
    """The checkpoint was aborted."""

    checkpoint: int


@word("finish")
class Finish(Event):
    """The sink has reached the end of its input."""


@word("crash")
class Crash(Event):
    """The sink's process ends; its volatile state is lost."""


@word("restore")
class RestoreSink(Event):
    """The sink restarts from its snapshot of `checkpoint`; None: from the beginning.

    `fails`: the transaction whose commit throws; None for none.
    """

    checkpoint: int | None
    fails: int | None = None


@word("write")
class WriteToTransaction(Effect):
    """The record is written to the open transaction."""

    transaction: int
    value: object


@word("pre_commit")
class PreCommit(Effect):
    """The transaction is flushed, made durable, and takes no further writes."""

    transaction: int


@word("begin")
class Begin(Effect):
    """A transaction is opened."""

    transaction: int


@word("commit")
class Commit(Effect):
    """The transaction becomes visible; a repeated commit has no effect."""

    transaction: int


@word("commit_failed")
class CommitFailed(Effect):
    """The commit of the transaction has thrown. The task fails, and a restore commits again."""

    transaction: int


@word("abort_transaction")
class AbortTransaction(Effect):
    """The transaction is rolled back. It is no error if the transaction does not exist."""

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
