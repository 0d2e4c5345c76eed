"""The events that the coordinator takes, in the order of docs/adapter-protocol.md."""

from enum import StrEnum

from impl.core.events import CheckpointType, Event
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
