"""The effects that gate, subtask, sink and offsets answer, in the order of docs/adapter-protocol.md.

Those of the coordinator and its store are in `coordinator_effects`. The kind on the wire is the name given
to `word`. Where two components use one kind with different fields, the class says whose it is.
"""

from typing import Final

from impl.core.words import Word, word

SUBSUMED: Final = "SUBSUMED"
ON_CANCELLATION_BARRIER: Final = "ON_CANCELLATION_BARRIER"
INPUT_END_OF_STREAM: Final = "INPUT_END_OF_STREAM"
ALIGNMENT_LIMIT_EXCEEDED: Final = "ALIGNMENT_LIMIT_EXCEEDED"
TASK_NOT_READY: Final = "TASK_NOT_READY"
ASYNC_EXCEPTION: Final = "ASYNC_EXCEPTION"
JOB_FAILURE: Final = "JOB_FAILURE"


class Effect(Word):
    """Something that a component wants done."""

    __slots__ = ()


# ---------------------------------------------------------------- gate


@word("process")
class Process(Effect):
    """Hand the record to the operator."""

    channel: int
    value: object


@word("block")
class Block(Effect):
    """Take nothing more from the channel."""

    channel: int


@word("resume")
class Resume(Effect):
    """Take from the channel again."""

    channel: int


@word("trigger")
class Trigger(Effect):
    """All barriers are here: snapshot the task."""

    checkpoint: int


@word("abort")
class Abort(Effect):
    """The checkpoint ends without a snapshot (gate), or without completing (coordinator)."""

    checkpoint: int
    reason: str


@word("fail")
class Fail(Effect):
    """Fail the task: the event is refused with an exception, and the instance is used no more."""

    error: str


# ---------------------------------------------------------------- subtask


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


# ---------------------------------------------------------------- sink


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


# ---------------------------------------------------------------- offsets


@word("commit_offsets")
class CommitOffsets(Effect):
    """Tell the system behind the source that everything before these offsets is in a checkpoint."""

    checkpoint: int
    offsets: int


@word("ignored")
class IgnoreCompletion(Effect):
    """Log that the completed checkpoint is not one that waits."""

    checkpoint: int


@word("seek")
class Seek(Effect):
    """Go on reading at these offsets."""

    offsets: int
