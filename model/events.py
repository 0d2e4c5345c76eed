"""The vocabulary of the protocol: the inputs of components (events) and their outputs (effects).

Events and effects are immutable records of ints, booleans and short names. Each is named like its word on the
wire, in CamelCase, and has that word as its `kind`: records are tuples, and without it a `Block(0)` would
equal a `Resume(0)`. A step function takes a state and the fields of one event and returns a `Step`: the next
state, the effects in order, and the IDs of the rules that fired.
"""

from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")
Rules = tuple[str, ...]

# Reasons, with Flink's names (without the prefix CHECKPOINT_DECLINED_).
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


NONE = -1  # no checkpoint, no transaction


# ---------------------------------------------------------------- events


class AbortNotification(NamedTuple):
    """The coordinator has aborted a checkpoint; `completed` is the newest completed id."""

    checkpoint: int
    completed: int
    kind: str = "abort_notification"


class CompleteNotification(NamedTuple):
    """The coordinator has completed a checkpoint."""

    checkpoint: int
    kind: str = "complete_notification"


class Close(NamedTuple):
    """A subtask ends: it has finished or was cancelled."""

    kind: str = "close"


class Status(NamedTuple):
    """A subtask starts or stops running."""

    running: bool
    kind: str = "status"


class Advance(NamedTuple):
    """Virtual time passes, in milliseconds."""

    ms: int
    kind: str = "advance"


class Crash(NamedTuple):
    """The process of a sink or a reader ends, with all volatile state."""

    kind: str = "crash"


# ---------------------------------------------------------------- effects


class NotifyComplete(NamedTuple):
    """Notifies operators (task -1) or a task of the plan that the checkpoint is complete."""

    checkpoint: int
    task: int = NONE
    kind: str = "notify_complete"


class NotifyAbort(NamedTuple):
    """Notifies operators (task -1) or a task of the plan that the checkpoint was aborted."""

    checkpoint: int
    task: int = NONE
    kind: str = "notify_abort"


class Fail(NamedTuple):
    """The component refuses the event with an exception, and the task fails."""

    error: str
    kind: str = "fail"


class NotifySubsumed(NamedTuple):
    """Notifies operators (task -1) or a task of the plan that a completed checkpoint was dropped."""

    checkpoint: int
    task: int = NONE
    kind: str = "notify_subsumed"


# Every event and effect is a tuple; its class is its type.
Event = tuple[object, ...]
Effect = tuple[object, ...]
Effects = tuple[Effect, ...]


class Step(NamedTuple, Generic[State]):
    """The result of one event: the next state, the effects in order, the rules that fired."""

    state: State
    effects: Effects
    rules: Rules
