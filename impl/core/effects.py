"""The effects that the components answer, in the order of docs/adapter-protocol.md, and their reasons.

The kind on the wire is the name given to `word`. Where two components use one kind with different
fields, the class says whose it is.
"""

from enum import StrEnum
from typing import Final

from impl.core.events import CheckpointType
from impl.core.words import Word, word

SUBSUMED: Final = "SUBSUMED"
ON_CANCELLATION_BARRIER: Final = "ON_CANCELLATION_BARRIER"
INPUT_END_OF_STREAM: Final = "INPUT_END_OF_STREAM"
ALIGNMENT_LIMIT_EXCEEDED: Final = "ALIGNMENT_LIMIT_EXCEEDED"
TASK_NOT_READY: Final = "TASK_NOT_READY"
ASYNC_EXCEPTION: Final = "ASYNC_EXCEPTION"
JOB_FAILURE: Final = "JOB_FAILURE"
CHECKPOINT_SUBSUMED: Final = "CHECKPOINT_SUBSUMED"
CHECKPOINT_EXPIRED: Final = "CHECKPOINT_EXPIRED"
COORDINATOR_SUSPEND: Final = "COORDINATOR_SUSPEND"
NOT_ALL_REQUIRED_TASKS_RUNNING: Final = "NOT_ALL_REQUIRED_TASKS_RUNNING"


class AcknowledgeResult(StrEnum):
    """What became of an acknowledgement of a pending checkpoint (COORD-05)."""

    SUCCESS = "SUCCESS"
    DUPLICATE = "DUPLICATE"
    UNKNOWN = "UNKNOWN"


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


# ---------------------------------------------------------------- coordinator and store


@word("trigger_task")
class TriggerTask(Effect):
    """Tell a source task to begin the checkpoint."""

    task: str
    checkpoint: int
    type: CheckpointType


@word("rejected")
class Rejected(Effect):
    """A request that starts nothing."""

    type: CheckpointType
    reason: str


@word("acknowledged")
class Acknowledged(Effect):
    """What became of an acknowledgement."""

    task: str
    checkpoint: int
    result: AcknowledgeResult


@word("complete")
class Complete(Effect):
    """Every task has acknowledged."""

    checkpoint: int


@word("discard")
class DiscardCheckpoint(Effect):
    """Delete a whole completed checkpoint."""

    checkpoint: int


@word("discard")
class DiscardState(Effect):
    """Delete one task's state that no checkpoint will use."""

    state: object


@word("notify_complete")
class NotifyTaskComplete(Effect):
    """Tell a task that the checkpoint is complete."""

    task: str
    checkpoint: int


@word("notify_abort")
class NotifyTaskAbort(Effect):
    """Tell a task that the checkpoint was aborted."""

    task: str
    checkpoint: int


@word("notify_subsumed")
class NotifyTaskSubsumed(Effect):
    """Tell a task up to which id completed checkpoints are gone."""

    task: str
    checkpoint: int


@word("restored")
class Restored(Effect):
    """The job restarts from this checkpoint; None: from the beginning."""

    checkpoint: int | None


@word("subsumed")
class Subsumed(Effect):
    """The highest id that an addition to the store dropped and discarded."""

    checkpoint: int


@word("latest")
class Latest(Effect):
    """The last checkpoint added; None for an empty store."""

    checkpoint: int | None


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


@word("abort_transaction")
class AbortTransaction(Effect):
    """Roll the transaction back; harmless when it does not exist."""

    transaction: int
