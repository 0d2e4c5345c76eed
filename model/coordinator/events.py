"""More words of the coordinator: what only it is told and says, and the reasons that it gives.

As in `model.events`, whose records the dataflow shares with it.
"""

from typing import NamedTuple

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
"""Reasons for which a checkpoint does not even start, and which are nobody's fault but the coordinator's."""

# How an addition to the store fails: nothing was written; it was; it was, and the error leaves it open.
BEFORE = 1
AFTER = 2
MAYBE = 3


class TriggerFails(NamedTuple):
    """The message that triggers a task was lost, and the coordinator knows."""

    task: int
    checkpoint: int
    kind: str = "trigger_fails"


class StoreFails(NamedTuple):
    """The next addition to the store fails: BEFORE, AFTER or MAYBE."""

    when: int
    kind: str = "store_fails"


class MasterAnswer(NamedTuple):
    """An operator coordinator, or a hook, answers for a checkpoint, or fails."""

    place: int
    """In the configuration's list."""
    checkpoint: int
    is_hook: bool
    fails: bool
    kind: str = "master_answer"


class CoordinatorRestart(NamedTuple):
    """A new coordinator takes over what is durable."""

    kind: str = "coordinator_restart"


class JobEnd(NamedTuple):
    """The coordinator shuts down; the job's status decides what is kept."""

    status: str
    kind: str = "job_end"


class AskMaster(NamedTuple):
    """An operator coordinator, or a hook, is asked for its state."""

    place: int
    checkpoint: int
    is_hook: bool
    kind: str = "ask_master"


class TellMaster(NamedTuple):
    """An operator coordinator is told that a checkpoint is complete, or aborted."""

    place: int
    checkpoint: int
    completes: bool
    kind: str = "tell_master"


class FailJob(NamedTuple):
    """Too many checkpoints have failed, or one that must not: the job fails."""

    reason: str
    kind: str = "fail_job"


SUCCESS = "SUCCESS"


DUPLICATE = "DUPLICATE"


UNKNOWN = "UNKNOWN"


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
