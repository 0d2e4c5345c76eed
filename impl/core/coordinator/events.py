"""The events that the coordinator takes, in the order of docs/adapter-protocol.md."""

from enum import StrEnum
from typing import Final, TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Advance, CheckpointType, Event
from impl.core.gate.events import Abort
from impl.core.wire import word


class RestoreScope(StrEnum):
    """Who restores: the whole job, or the tasks of a region that failed."""

    ALL = "all"
    REGION = "region"


class StoreFailure(StrEnum):
    """When an addition fails: before it is written, after it was, or so that the error does not tell."""

    BEFORE = "before"
    AFTER = "after"
    MAYBE = "maybe"


@word("job_status")
class JobStatus(Event):
    """The job changes its status; only RUNNING opens the coordinator."""

    status: str


@word("task_status")
class TaskStatus(Event):
    """A task changes its status; only RUNNING counts as running."""

    task: str
    status: str


@word("trigger")
class RequestCheckpoint(Event):
    """Somebody asks for a checkpoint, a savepoint, or one that stops the job.

    `forced`: past every limit; `periodic`: as the schedule asks; `drain`: sources end for good (stop only).
    """

    type: CheckpointType
    forced: bool = False
    periodic: bool = False
    drain: bool = False


@word("trigger_fails")
class TriggerFails(Event):
    """The message that tells a task to begin a checkpoint was lost."""

    task: str
    checkpoint: int


@word("acknowledge")
class Acknowledge(Event):
    """A task acknowledges a checkpoint; `state` is an opaque handle, None without one.

    `attempt` is that of its execution, None for the current one; `shared` are handles of files that other
    checkpoints may use too.
    """

    task: str
    checkpoint: int
    state: object = None
    attempt: int | None = None
    shared: tuple[str, ...] = ()


@word("decline")
class Decline(Event):
    """A task declines a checkpoint; `attempt` as in an acknowledgement."""

    task: str
    checkpoint: int
    reason: str
    attempt: int | None = None


@word("fail_tasks")
class FailTasks(Event):
    """Tasks fail, and the job restarts."""

    tasks: tuple[str, ...]


@word("restore")
class RestoreJob(Event):
    """The restarting job asks for the newest retained checkpoint; within a region only `tasks` do."""

    scope: RestoreScope = RestoreScope.ALL
    tasks: tuple[str, ...] = ()


@word("store_fails")
class StoreFails(Event):
    """The next addition to the durable store fails."""

    when: StoreFailure


@word("coordinator_done")
class CoordinatorDone(Event):
    """An operator coordinator has taken its part of the checkpoint."""

    name: str
    checkpoint: int


@word("coordinator_fails")
class CoordinatorFails(Event):
    """An operator coordinator could not take its part of the checkpoint."""

    name: str
    checkpoint: int


@word("hook_done")
class HookDone(Event):
    """A master hook has taken its part of the checkpoint."""

    name: str
    checkpoint: int


@word("hook_fails")
class HookFails(Event):
    """A master hook could not take its part of the checkpoint."""

    name: str
    checkpoint: int


@word("coordinator_restart")
class RestartCoordinator(Event):
    """The coordinator dies, and a new one takes over its durable store."""


@word("shutdown")
class ShutDownCoordinator(Event):
    """The job has ended in `status`, and its coordinator with it."""

    status: str = "FINISHED"


CHECKPOINT_DECLINED: Final = "CHECKPOINT_DECLINED"


CHECKPOINT_SUBSUMED: Final = "CHECKPOINT_SUBSUMED"


CHECKPOINT_EXPIRED: Final = "CHECKPOINT_EXPIRED"


COORDINATOR_SUSPEND: Final = "COORDINATOR_SUSPEND"


COORDINATOR_SHUTDOWN: Final = "COORDINATOR_SHUTDOWN"


JOB_FAILOVER_REGION: Final = "JOB_FAILOVER_REGION"


TRIGGER_CHECKPOINT_FAILURE: Final = "TRIGGER_CHECKPOINT_FAILURE"


FINALIZE_CHECKPOINT_FAILURE: Final = "FINALIZE_CHECKPOINT_FAILURE"


IO_EXCEPTION: Final = "IO_EXCEPTION"


PERIODIC_SCHEDULER_SHUTDOWN: Final = "PERIODIC_SCHEDULER_SHUTDOWN"


ALREADY_QUEUED: Final = "ALREADY_QUEUED"


TOO_MANY_CONCURRENT_CHECKPOINTS: Final = "TOO_MANY_CONCURRENT_CHECKPOINTS"


TOO_MANY_CHECKPOINT_REQUESTS: Final = "TOO_MANY_CHECKPOINT_REQUESTS"


MINIMUM_TIME_BETWEEN_CHECKPOINTS: Final = "MINIMUM_TIME_BETWEEN_CHECKPOINTS"


NOT_ALL_REQUIRED_TASKS_RUNNING: Final = "NOT_ALL_REQUIRED_TASKS_RUNNING"


PRE_CHECK_REASONS: Final = frozenset(
    {
        PERIODIC_SCHEDULER_SHUTDOWN,
        ALREADY_QUEUED,
        TOO_MANY_CONCURRENT_CHECKPOINTS,
        TOO_MANY_CHECKPOINT_REQUESTS,
        MINIMUM_TIME_BETWEEN_CHECKPOINTS,
        NOT_ALL_REQUIRED_TASKS_RUNNING,
        IO_EXCEPTION,
        "BLOCKING_OUTPUT_EXIST",
    }
)
"""What fails for one of these has started nothing."""


class AcknowledgeResult(StrEnum):
    """What became of an acknowledgement of a pending checkpoint (COORD-05)."""

    SUCCESS = "SUCCESS"
    DUPLICATE = "DUPLICATE"
    UNKNOWN = "UNKNOWN"


class Notice(StrEnum):
    """What an operator coordinator is told of a checkpoint."""

    COMPLETE = "complete"
    ABORT = "abort"


@word("trigger_task")
class TriggerTask(Effect):
    """Tell a source task to begin the checkpoint."""

    task: str
    checkpoint: int
    type: CheckpointType


@word("checkpoint_coordinator")
class CheckpointOperatorCoordinator(Effect):
    """Have an operator coordinator take its part of the checkpoint, before any task is triggered."""

    name: str
    checkpoint: int


@word("trigger_hook")
class TriggerHook(Effect):
    """Have a master hook take its part of the checkpoint, after the operator coordinators."""

    name: str
    checkpoint: int


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


@word("notify_coordinator")
class NotifyCoordinator(Effect):
    """Tell an operator coordinator what became of the checkpoint."""

    name: str
    checkpoint: int
    what: Notice


@word("fail_job")
class FailJob(Effect):
    """Fail the job: more checkpoints failed than it tolerates, or one that was to stop it did."""

    reason: str


@word("restored")
class Restored(Effect):
    """The job restarts from this checkpoint; None: from the beginning."""

    checkpoint: int | None


CoordinatorEvent: TypeAlias = (
    JobStatus
    | TaskStatus
    | FailTasks
    | RequestCheckpoint
    | TriggerFails
    | CoordinatorDone
    | CoordinatorFails
    | HookDone
    | HookFails
    | Acknowledge
    | Decline
    | Advance
    | StoreFails
    | RestoreJob
    | RestartCoordinator
    | ShutDownCoordinator
)
CoordinatorEffect: TypeAlias = (
    TriggerTask
    | CheckpointOperatorCoordinator
    | TriggerHook
    | Rejected
    | Acknowledged
    | Complete
    | Abort
    | DiscardCheckpoint
    | DiscardState
    | NotifyTaskComplete
    | NotifyTaskAbort
    | NotifyTaskSubsumed
    | NotifyCoordinator
    | FailJob
    | Restored
    | Fail
)
CoordinatorEffects: TypeAlias = tuple[CoordinatorEffect, ...]
