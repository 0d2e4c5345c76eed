"""Events and effects of the checkpoint coordinator (vocabulary: `coordinator`), and the reasons of aborts."""

from enum import StrEnum
from typing import Final, TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Advance, CheckpointType, Event
from impl.core.gate.events import Abort
from impl.core.wire import word


class RestoreScope(StrEnum):
    """The tasks that restart: all of the job, or those of a failed region."""

    ALL = "all"
    REGION = "region"


class StoreFailure(StrEnum):
    """Whether an addition that fails has written the checkpoint: no, yes, or unknown."""

    BEFORE = "before"
    AFTER = "after"
    MAYBE = "maybe"


class IoStep(StrEnum):
    """Operations of the coordinator that do input or output."""

    METADATA = "metadata"
    """It writes the metadata of a complete checkpoint."""
    LOCATION = "location"
    """It initialises the storage location of a checkpoint."""
    ID = "id"
    """It draws the id of a checkpoint."""


class TriggeredType(StrEnum):
    """The type with which a task is triggered: the checkpoint's type, or a full checkpoint (COORD-38)."""

    CHECKPOINT = "checkpoint"
    SAVEPOINT = "savepoint"
    STOP = "stop"
    FULL_CHECKPOINT = "full_checkpoint"

    @property
    def of_checkpoint(self) -> CheckpointType:
        """The type of the checkpoint."""
        return CheckpointType.CHECKPOINT if self is self.FULL_CHECKPOINT else CheckpointType(self.value)


@word("job_status")
class JobStatus(Event):
    """The job changes its status; checkpoints start only while it is RUNNING."""

    status: str


@word("task_status")
class TaskStatus(Event):
    """A task changes its status; only RUNNING counts as running."""

    task: str
    status: str


@word("trigger")
class RequestCheckpoint(Event):
    """A checkpoint, a savepoint or a stop-with-savepoint is requested.

    `forced`: the request starts however many checkpoints are pending, and the minimum pause does not apply.
    `periodic`: the request counts as one of the scheduler. `drain`: the sources end for good; only with a
    stop-with-savepoint.
    """

    type: CheckpointType
    forced: bool = False
    periodic: bool = False
    drain: bool = False


@word("trigger_fails")
class TriggerFails(Event):
    """The message that triggers the task was lost."""

    task: str
    checkpoint: int


@word("acknowledge")
class Acknowledge(Event):
    """A task acknowledges the checkpoint.

    `state`: an opaque handle, None for none. `attempt`: the attempt of the task, None for the current one.
    `shared`: handles of files that other checkpoints may use too.
    """

    task: str
    checkpoint: int
    state: object = None
    attempt: int | None = None
    shared: tuple[str, ...] = ()


@word("decline")
class Decline(Event):
    """A task declines the checkpoint; `attempt` as in an acknowledgement."""

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
    """Restarting tasks request the newest retained checkpoint; with scope `region` only `tasks` restart."""

    scope: RestoreScope = RestoreScope.ALL
    tasks: tuple[str, ...] = ()


@word("store_fails")
class StoreFails(Event):
    """The next addition to the durable store fails."""

    when: StoreFailure


@word("io_fails")
class IoFails(Event):
    """The next operation `what` fails. Only if the option `io_failures` is `injected`."""

    what: IoStep


@word("deleted")
class Deleted(Event):
    """The oldest deletion that is under way ends. Only if the option `cleaning` is `slow`."""


@word("coordinator_done")
class CoordinatorDone(Event):
    """An operator coordinator has taken its part of the checkpoint."""

    name: str
    checkpoint: int


@word("coordinator_fails")
class CoordinatorFails(Event):
    """An operator coordinator has failed to take its part."""

    name: str
    checkpoint: int


@word("hook_done")
class HookDone(Event):
    """A master hook has taken its part of the checkpoint."""

    name: str
    checkpoint: int


@word("hook_fails")
class HookFails(Event):
    """A master hook has failed to take its part."""

    name: str
    checkpoint: int


@word("coordinator_restart")
class RestartCoordinator(Event):
    """A new coordinator takes over the durable store and the counter of ids."""


@word("shutdown")
class ShutDownCoordinator(Event):
    """The job has ended in `status`."""

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
EXCEPTION: Final = "EXCEPTION"
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
"""The pre-flight reasons: a request that is rejected for one of these has started no checkpoint."""


class AcknowledgeResult(StrEnum):
    """The result of an acknowledgement of a pending checkpoint (COORD-05)."""

    SUCCESS = "SUCCESS"
    DUPLICATE = "DUPLICATE"
    UNKNOWN = "UNKNOWN"


class Notice(StrEnum):
    """The kinds of notifications to an operator coordinator: the checkpoint is complete, or was aborted."""

    COMPLETE = "complete"
    ABORT = "abort"


@word("trigger_task")
class TriggerTask(Effect):
    """A task is triggered."""

    task: str
    checkpoint: int
    type: TriggeredType


@word("checkpoint_coordinator")
class CheckpointOperatorCoordinator(Effect):
    """An operator coordinator has to take its part, before any task is triggered."""

    name: str
    checkpoint: int


@word("trigger_hook")
class TriggerHook(Effect):
    """A master hook has to take its part, after the operator coordinators."""

    name: str
    checkpoint: int


@word("rejected")
class Rejected(Effect):
    """A request has started no checkpoint."""

    type: CheckpointType
    reason: str


@word("acknowledged")
class Acknowledged(Effect):
    """The result of an acknowledgement of a pending checkpoint."""

    task: str
    checkpoint: int
    result: AcknowledgeResult


@word("complete")
class Complete(Effect):
    """The checkpoint is complete."""

    checkpoint: int


@word("discard")
class DiscardCheckpoint(Effect):
    """A checkpoint is deleted."""

    checkpoint: int


@word("discard")
class DiscardState(Effect):
    """The state of one acknowledgement is deleted."""

    state: object


@word("notify_complete")
class NotifyTaskComplete(Effect):
    """A task is notified that the checkpoint is complete."""

    task: str
    checkpoint: int


@word("notify_abort")
class NotifyTaskAbort(Effect):
    """A task is notified that the checkpoint was aborted."""

    task: str
    checkpoint: int


@word("notify_subsumed")
class NotifyTaskSubsumed(Effect):
    """A task is notified that a completed checkpoint was dropped."""

    task: str
    checkpoint: int


@word("notify_coordinator")
class NotifyCoordinator(Effect):
    """An operator coordinator is notified of the end of the checkpoint."""

    name: str
    checkpoint: int
    what: Notice


@word("fail_job")
class FailJob(Effect):
    """The job fails: too many checkpoints have failed, or a stop-with-savepoint has."""

    reason: str


@word("restored")
class Restored(Effect):
    """The checkpoint from which the tasks restart; None: the job starts from the beginning."""

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
    | IoFails
    | Deleted
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
