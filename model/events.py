"""The common parts of the components: the record of a step, reasons, and shared events and effects.

The module `events` of a component has its events (inputs) and effects (outputs), made from the vocabulary.
They are immutable records of ints, booleans and short names. The field `kind` is the name in the adapter
protocol. Records are tuples, so without `kind` a `Block(0)` would equal a `Resume(0)`. A step function takes
a state and the fields of one event. It returns a `Step`: the next state, the effects in order, and the ids of
the rules that fired.
"""

from typing import Generic, NamedTuple, TypeVar

from model.shared_events import Advance as Advance
from model.shared_events import Close as Close
from model.shared_events import Crash as Crash
from model.shared_events import Fail as Fail
from model.shared_events import NotifyAbort as NotifyAbort
from model.shared_events import NotifyComplete as NotifyComplete
from model.shared_events import NotifySubsumed as NotifySubsumed
from model.shared_events import Status as Status

State = TypeVar("State")
Rules = tuple[str, ...]

# Reasons of aborts, declines and rejections, with Flink's names (without the prefix CHECKPOINT_DECLINED_).
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
COORDINATOR_SHUTDOWN = "COORDINATOR_SHUTDOWN"
PERIODIC_SCHEDULER_SHUTDOWN = "PERIODIC_SCHEDULER_SHUTDOWN"
TOO_MANY_CHECKPOINT_REQUESTS = "TOO_MANY_CHECKPOINT_REQUESTS"
TOO_MANY_CONCURRENT_CHECKPOINTS = "TOO_MANY_CONCURRENT_CHECKPOINTS"
ALREADY_QUEUED = "ALREADY_QUEUED"
MINIMUM_TIME_BETWEEN_CHECKPOINTS = "MINIMUM_TIME_BETWEEN_CHECKPOINTS"
TRIGGER_CHECKPOINT_FAILURE = "TRIGGER_CHECKPOINT_FAILURE"
FINALIZE_CHECKPOINT_FAILURE = "FINALIZE_CHECKPOINT_FAILURE"
IO_EXCEPTION = "IO_EXCEPTION"
EXCEPTION = "EXCEPTION"
CHECKPOINT_DECLINED = "CHECKPOINT_DECLINED"
JOB_FAILOVER_REGION = "JOB_FAILOVER_REGION"

PRE_FLIGHT = (
    PERIODIC_SCHEDULER_SHUTDOWN,
    TOO_MANY_CHECKPOINT_REQUESTS,
    TOO_MANY_CONCURRENT_CHECKPOINTS,
    ALREADY_QUEUED,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    IO_EXCEPTION,
    "BLOCKING_OUTPUT_EXIST",
)
"""Reasons for which the coordinator does not start a checkpoint. No task declines for one of them."""

# How an addition to the store fails: not written; written; it is unknown whether it is written.
BEFORE = 1
AFTER = 2
MAYBE = 3

# Inputs and outputs of the coordinator that may fail: metadata, the storage location, the draw of an id.
METADATA = 1
LOCATION = 2
ID = 3


NONE = -1  # no checkpoint, no transaction


# Every event and effect is a NamedTuple. Its class states which event or effect it is.
Event = tuple[object, ...]
Effect = tuple[object, ...]
Effects = tuple[Effect, ...]


class Step(NamedTuple, Generic[State]):
    """The result of one event: the next state, the effects in order, the rules that fired."""

    state: State
    effects: Effects
    rules: Rules
