# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `coordinator`. The checkpoint coordinator of one job."""

from typing import NamedTuple

from model.shared_events import (
    Abort,
    Advance,
    DiscardCheckpoint,
    Fail,
    NotifyAbort,
    NotifyComplete,
    NotifySubsumed,
)

__all__ = [
    "EVENTS",
    "Abort",
    "AcknowledgeMessage",
    "Acknowledged",
    "Advance",
    "Complete",
    "CoordinatorRestart",
    "DeclineMessage",
    "Deleted",
    "DiscardCheckpoint",
    "Fail",
    "FailJob",
    "FailTasks",
    "IoFails",
    "JobEnd",
    "JobStatus",
    "NotifyAbort",
    "NotifyComplete",
    "NotifyMaster",
    "NotifySubsumed",
    "Rejected",
    "RestoreRequest",
    "Restored",
    "StoreFails",
    "TaskStatus",
    "TriggerFails",
    "TriggerRequest",
    "TriggerTask",
]


class JobStatus(NamedTuple):
    """The job changes its status."""

    status: str
    kind: str = "job_status"


class TaskStatus(NamedTuple):
    """A task changes its status."""

    task: int
    status: str
    kind: str = "task_status"


class TriggerRequest(NamedTuple):
    """A checkpoint, a savepoint or a stop with savepoint is requested."""

    type: int
    forced: bool = False
    periodic: bool = False
    kind: str = "trigger"


class TriggerFails(NamedTuple):
    """The message that triggers the task was lost."""

    task: int
    checkpoint: int
    kind: str = "trigger_fails"


class AcknowledgeMessage(NamedTuple):
    """A task acknowledges the checkpoint. `state` and `shared` are opaque handles."""

    task: int
    checkpoint: int
    handle: int
    shared: tuple[int, ...] = ()
    kind: str = "acknowledge"


class DeclineMessage(NamedTuple):
    """A task declines the checkpoint."""

    task: int
    checkpoint: int
    reason: str
    kind: str = "decline"


class StoreFails(NamedTuple):
    """The next addition to the store fails."""

    when: int
    kind: str = "store_fails"


class IoFails(NamedTuple):
    """The next input or output of this kind fails."""

    what: int
    kind: str = "io_fails"


class Deleted(NamedTuple):
    """The oldest deletion that is under way ends."""

    kind: str = "deleted"


class FailTasks(NamedTuple):
    """Tasks fail, and the job restarts."""

    failed: tuple[bool, ...] = ()
    kind: str = "fail_tasks"


class RestoreRequest(NamedTuple):
    """Restarting tasks request the newest retained checkpoint."""

    tasks: tuple[bool, ...] = ()
    kind: str = "restore"


class CoordinatorRestart(NamedTuple):
    """A new coordinator takes over the durable store and the counter of ids."""

    kind: str = "coordinator_restart"


class JobEnd(NamedTuple):
    """The job has ended."""

    status: str = "FINISHED"
    kind: str = "shutdown"


class TriggerTask(NamedTuple):
    """A task is triggered."""

    task: int
    checkpoint: int
    type: int
    kind: str = "trigger_task"


class Rejected(NamedTuple):
    """A request has started nothing."""

    type: int
    reason: str
    kind: str = "rejected"


class Acknowledged(NamedTuple):
    """How an acknowledgement of a pending checkpoint was counted."""

    task: int
    checkpoint: int
    result: str
    kind: str = "acknowledged"


class Complete(NamedTuple):
    """The checkpoint is complete."""

    checkpoint: int
    kind: str = "complete"


class NotifyMaster(NamedTuple):
    """An operator coordinator is notified of the end of the checkpoint."""

    place: int
    checkpoint: int
    completes: bool
    kind: str = "notify_coordinator"


class Restored(NamedTuple):
    """The checkpoint from which the tasks restart; null: none, the job starts from the beginning."""

    checkpoint: int
    kind: str = "restored"


class FailJob(NamedTuple):
    """The job fails, because too many checkpoints or a stop have failed."""

    reason: str
    kind: str = "fail_job"


EVENTS: tuple[type, ...] = (
    JobStatus,
    TaskStatus,
    TriggerRequest,
    TriggerFails,
    AcknowledgeMessage,
    DeclineMessage,
    Advance,
    StoreFails,
    IoFails,
    Deleted,
    FailTasks,
    RestoreRequest,
    CoordinatorRestart,
    JobEnd,
)
