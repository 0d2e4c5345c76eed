"""Events, effects and reasons of the coordinator, in addition to those of `model.events`."""

from typing import NamedTuple

from model.shared_events import DiscardCheckpoint as DiscardCheckpoint

COORDINATOR_SHUTDOWN = "COORDINATOR_SHUTDOWN"
PERIODIC_SCHEDULER_SHUTDOWN = "PERIODIC_SCHEDULER_SHUTDOWN"
TOO_MANY_CHECKPOINT_REQUESTS = "TOO_MANY_CHECKPOINT_REQUESTS"
TOO_MANY_CONCURRENT_CHECKPOINTS = "TOO_MANY_CONCURRENT_CHECKPOINTS"
ALREADY_QUEUED = "ALREADY_QUEUED"
MINIMUM_TIME_BETWEEN_CHECKPOINTS = "MINIMUM_TIME_BETWEEN_CHECKPOINTS"
TRIGGER_CHECKPOINT_FAILURE = "TRIGGER_CHECKPOINT_FAILURE"
FINALIZE_CHECKPOINT_FAILURE = "FINALIZE_CHECKPOINT_FAILURE"
IO_EXCEPTION = "IO_EXCEPTION"
CHECKPOINT_DECLINED = "CHECKPOINT_DECLINED"
JOB_FAILOVER_REGION = "JOB_FAILOVER_REGION"

PRE_FLIGHT = (
    PERIODIC_SCHEDULER_SHUTDOWN,
    TOO_MANY_CHECKPOINT_REQUESTS,
    TOO_MANY_CONCURRENT_CHECKPOINTS,
    ALREADY_QUEUED,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    "NOT_ALL_REQUIRED_TASKS_RUNNING",
    IO_EXCEPTION,
    "BLOCKING_OUTPUT_EXIST",
)
"""Reasons for which a checkpoint does not start, and which only the coordinator causes."""

# How an addition to the store fails: not written; written; written, with an error that leaves it open.
BEFORE = 1
AFTER = 2
MAYBE = 3


class TriggerFails(NamedTuple):
    """The coordinator learns that the message that triggers a task was lost."""

    task: int
    checkpoint: int
    kind: str = "trigger_fails"


class StoreFails(NamedTuple):
    """The next addition to the store fails: BEFORE, AFTER or MAYBE."""

    when: int
    kind: str = "store_fails"


class MasterAnswer(NamedTuple):
    """An operator coordinator or a hook answers for a checkpoint, or fails."""

    place: int
    """Position in the configuration's list."""
    checkpoint: int
    is_hook: bool
    fails: bool
    kind: str = "master_answer"


class CoordinatorRestart(NamedTuple):
    """A new coordinator starts from the durable state."""

    kind: str = "coordinator_restart"


class JobEnd(NamedTuple):
    """The coordinator shuts down; the job's status decides which checkpoints are kept."""

    status: str
    kind: str = "shutdown"


class AskMaster(NamedTuple):
    """The coordinator requests the state of an operator coordinator or of a hook."""

    place: int
    checkpoint: int
    is_hook: bool
    kind: str = "ask_master"


class TellMaster(NamedTuple):
    """The coordinator notifies an operator coordinator that a checkpoint is complete or aborted."""

    place: int
    checkpoint: int
    completes: bool
    kind: str = "notify_coordinator"


class FailJob(NamedTuple):
    """The job fails: too many checkpoints have failed, or one that must not fail."""

    reason: str
    kind: str = "fail_job"


SUCCESS = "SUCCESS"


DUPLICATE = "DUPLICATE"


UNKNOWN = "UNKNOWN"


class JobStatus(NamedTuple):
    """The job changes its status; only RUNNING lets checkpoints start."""

    status: str
    kind: str = "job_status"


class TaskStatus(NamedTuple):
    """A task (its position in the plan) changes its status."""

    task: int
    status: str
    kind: str = "task_status"


class TriggerRequest(NamedTuple):
    """A user or the scheduler requests a checkpoint, a savepoint, or a stop with a savepoint."""

    type: int
    forced: bool = False
    periodic: bool = False
    kind: str = "trigger"


class AcknowledgeMessage(NamedTuple):
    """A task acknowledges; `handle` numbers its state, 0 for none."""

    task: int
    checkpoint: int
    handle: int
    shared: tuple[int, ...] = ()
    """Handles of files that other checkpoints may use, too."""
    kind: str = "acknowledge"


class DeclineMessage(NamedTuple):
    """A task declines a checkpoint."""

    task: int
    checkpoint: int
    reason: str
    kind: str = "decline"


class FailTasks(NamedTuple):
    """Tasks fail and the job restarts; one flag for each task of the plan."""

    failed: tuple[bool, ...]
    kind: str = "fail_tasks"


class RestoreRequest(NamedTuple):
    """The restarting job, or a region of it, requests the newest retained checkpoint."""

    tasks: tuple[bool, ...] = ()
    """One flag for each restarting task if a region restarts; empty if the whole job does."""
    kind: str = "restore"

    @property
    def region(self) -> bool:
        """Only a region restarts; the rest of the job continues."""
        return bool(self.tasks)


class TriggerTask(NamedTuple):
    """The coordinator triggers a checkpoint at a source."""

    task: int
    checkpoint: int
    type: int
    kind: str = "trigger_task"


class Rejected(NamedTuple):
    """The coordinator rejects a request."""

    type: int
    reason: str
    kind: str = "rejected"


class Acknowledged(NamedTuple):
    """The result of an acknowledgement for a pending checkpoint."""

    task: int
    checkpoint: int
    result: str
    kind: str = "acknowledged"


class Complete(NamedTuple):
    """A checkpoint is complete."""

    checkpoint: int
    kind: str = "complete"


class DiscardState(NamedTuple):
    """The coordinator deletes the state of one acknowledgement."""

    handle: int
    kind: str = "discard_state"


class Restored(NamedTuple):
    """The checkpoint from which the job restarts, -1 for none."""

    checkpoint: int
    kind: str = "restored"
