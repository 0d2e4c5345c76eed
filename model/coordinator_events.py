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
