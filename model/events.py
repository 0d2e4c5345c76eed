"""The words of the protocol: what a component is told (events) and what it says (effects).

Events and effects are immutable records of ints, booleans and short names. Each is called like its
word on the wire, in CamelCase, and carries that word as its `kind`: records are tuples, and without
it a `Block(0)` would equal a `Resume(0)`. A step function takes a
state and the fields of one event and returns a `Step`: the next state, the effects in their order,
and the IDs of the rules that fired.
"""

from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")
Rules = tuple[str, ...]

# Reasons, as Flink names them (without the prefix CHECKPOINT_DECLINED_).
SUBSUMED = "SUBSUMED"
ON_CANCELLATION_BARRIER = "ON_CANCELLATION_BARRIER"
INPUT_END_OF_STREAM = "INPUT_END_OF_STREAM"
ALIGNMENT_LIMIT_EXCEEDED = "ALIGNMENT_LIMIT_EXCEEDED"
TASK_NOT_READY = "TASK_NOT_READY"
ASYNC_EXCEPTION = "ASYNC_EXCEPTION"
JOB_FAILURE = "JOB_FAILURE"
CHECKPOINT_SUBSUMED = "CHECKPOINT_SUBSUMED"
CHECKPOINT_EXPIRED = "CHECKPOINT_EXPIRED"
COORDINATOR_SUSPEND = "COORDINATOR_SUSPEND"
NOT_ALL_REQUIRED_TASKS_RUNNING = "NOT_ALL_REQUIRED_TASKS_RUNNING"

SUCCESS = "SUCCESS"
DUPLICATE = "DUPLICATE"
UNKNOWN = "UNKNOWN"

NONE = -1  # no checkpoint, no transaction


# ---------------------------------------------------------------- events


class Record(NamedTuple):
    """A record arrives on a channel of a gate."""

    channel: int
    value: int
    kind: str = "record"


class Barrier(NamedTuple):
    """Barrier `checkpoint` arrives on a channel of a gate."""

    channel: int
    checkpoint: int
    kind: str = "barrier"


class Cancel(NamedTuple):
    """A cancellation marker of `checkpoint` arrives on a channel of a gate."""

    channel: int
    checkpoint: int
    kind: str = "cancel"


class EndOfPartition(NamedTuple):
    """A channel of a gate has delivered its last item."""

    channel: int
    kind: str = "end_of_partition"


class Injection(NamedTuple):
    """A checkpoint is triggered on the task itself, whose predecessors have finished."""

    checkpoint: int
    kind: str = "inject"


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


class AbortNotification(NamedTuple):
    """The coordinator has aborted a checkpoint; the newest completed id travels along."""

    checkpoint: int
    completed: int
    kind: str = "abort_notification"


class CompleteNotification(NamedTuple):
    """The coordinator has completed a checkpoint."""

    checkpoint: int
    kind: str = "complete_notification"


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


class Close(NamedTuple):
    """A subtask is gone: it has finished or was cancelled."""

    kind: str = "close"


class Status(NamedTuple):
    """A subtask starts or stops running."""

    running: bool
    kind: str = "status"


class JobStatus(NamedTuple):
    """The job changes its status; only RUNNING opens the coordinator."""

    status: str
    kind: str = "job_status"


class TaskStatus(NamedTuple):
    """A task (its position in the plan) starts or stops running."""

    task: int
    status: str
    kind: str = "task_status"


class TriggerRequest(NamedTuple):
    """Somebody asks the coordinator for a checkpoint, a savepoint, or a stop with one."""

    type: int
    forced: bool = False
    periodic: bool = False
    kind: str = "trigger_request"


class AcknowledgeMessage(NamedTuple):
    """A task acknowledges; `handle` numbers its state, 0 for none."""

    task: int
    checkpoint: int
    handle: int
    shared: tuple[int, ...] = ()
    """Handles of files that other checkpoints may use, too."""
    kind: str = "acknowledge_message"


class DeclineMessage(NamedTuple):
    """A task declines a checkpoint."""

    task: int
    checkpoint: int
    reason: str
    kind: str = "decline_message"


class Advance(NamedTuple):
    """Virtual time passes, in milliseconds."""

    ms: int
    kind: str = "advance"


class FailTasks(NamedTuple):
    """Tasks fail and the scheduler restarts the job; one flag for each task of the plan."""

    failed: tuple[bool, ...]
    kind: str = "fail_tasks"


class RestoreRequest(NamedTuple):
    """The restarting job, or a region of it, asks for the newest retained checkpoint."""

    tasks: tuple[bool, ...] = ()
    """Who restarts: one flag for each task if a region does, none if all of the job does."""
    kind: str = "restore_request"

    @property
    def region(self) -> bool:
        """Whether the rest of the job goes on."""
        return bool(self.tasks)


class Add(NamedTuple):
    """A completed checkpoint is put into the store; `type` is one of the store's three."""

    checkpoint: int
    type: int
    kind: str = "add"


class LatestRequest(NamedTuple):
    """Somebody asks the store for the checkpoint to restore."""

    kind: str = "latest_request"


class Shutdown(NamedTuple):
    """The job has ended for good; `discard` if its checkpoints are not kept."""

    discard: bool
    kind: str = "shutdown"


class WriteRequest(NamedTuple):
    """A record reaches the sink."""

    value: int
    kind: str = "write_request"


class SnapshotRequest(NamedTuple):
    """The sink's subtask takes its snapshot."""

    checkpoint: int
    kind: str = "snapshot_request"


class Finish(NamedTuple):
    """The sink has seen the end of its input."""

    kind: str = "finish"


class Crash(NamedTuple):
    """The sink's process is gone, with everything volatile."""

    kind: str = "crash"


class Restore(NamedTuple):
    """The sink restarts from its snapshot under an id, or from the beginning (-1)."""

    checkpoint: int
    kind: str = "restore"


# ---------------------------------------------------------------- effects


class Process(NamedTuple):
    """The record reaches the operator."""

    channel: int
    value: int
    kind: str = "process"


class Block(NamedTuple):
    """The channel is not read until it is resumed."""

    channel: int
    kind: str = "block"


class Resume(NamedTuple):
    """The channel, whose sender stopped after its barrier, is read again."""

    channel: int
    kind: str = "resume"


class Trigger(NamedTuple):
    """The subtask takes its snapshot now."""

    checkpoint: int
    kind: str = "trigger"


class Abort(NamedTuple):
    """The checkpoint ends here without success."""

    checkpoint: int
    reason: str
    kind: str = "abort"


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


class NotifyComplete(NamedTuple):
    """Operators (task -1) or a task of the plan are told that the checkpoint is complete."""

    checkpoint: int
    task: int = NONE
    kind: str = "notify_complete"


class NotifyAbort(NamedTuple):
    """Operators (task -1) or a task of the plan are told that the checkpoint was aborted."""

    checkpoint: int
    task: int = NONE
    kind: str = "notify_abort"


class Fail(NamedTuple):
    """The event is refused with an exception, and the task fails."""

    error: str
    kind: str = "fail"


class NotifySubsumed(NamedTuple):
    """Operators (task -1) or a task of the plan are told that a completed checkpoint was dropped."""

    checkpoint: int
    task: int = NONE
    kind: str = "notify_subsumed"


class TriggerTask(NamedTuple):
    """A source is asked to start a checkpoint."""

    task: int
    checkpoint: int
    type: int
    kind: str = "trigger_task"


class Rejected(NamedTuple):
    """A request started nothing."""

    type: int
    reason: str
    kind: str = "rejected"


class Acknowledged(NamedTuple):
    """What an acknowledgement for a pending checkpoint counted as."""

    task: int
    checkpoint: int
    result: str
    kind: str = "acknowledged"


class Complete(NamedTuple):
    """A checkpoint is complete."""

    checkpoint: int
    kind: str = "complete"


class DiscardCheckpoint(NamedTuple):
    """A completed checkpoint is deleted."""

    checkpoint: int
    kind: str = "discard_checkpoint"


class DiscardState(NamedTuple):
    """The state behind one acknowledgement is deleted."""

    handle: int
    kind: str = "discard_state"


class Restored(NamedTuple):
    """The checkpoint that the job restarts from, -1 for none."""

    checkpoint: int
    kind: str = "restored"


class Subsumed(NamedTuple):
    """The highest checkpoint that an addition dropped and deleted."""

    checkpoint: int
    kind: str = "subsumed"


class Latest(NamedTuple):
    """The store's answer, -1 for none."""

    checkpoint: int
    kind: str = "latest"


class Write(NamedTuple):
    """The record is written to the open transaction."""

    transaction: int
    value: int
    kind: str = "write"


class Begin(NamedTuple):
    """A transaction is opened."""

    transaction: int
    kind: str = "begin"


class PreCommit(NamedTuple):
    """A transaction is closed to writes and made durable, ready to commit."""

    transaction: int
    kind: str = "pre_commit"


class Commit(NamedTuple):
    """A transaction becomes visible."""

    transaction: int
    kind: str = "commit"


class AbortTransaction(NamedTuple):
    """A transaction is given up."""

    transaction: int
    kind: str = "abort_transaction"


# Every event and effect is a tuple whose class says what it is.
Event = tuple[object, ...]
Effect = tuple[object, ...]
Effects = tuple[Effect, ...]


class Step(NamedTuple, Generic[State]):
    """What one event does: the next state, the effects in order, the rules that fired."""

    state: State
    effects: Effects
    rules: Rules
