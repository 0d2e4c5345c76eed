# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects that several components have."""

from typing import NamedTuple


class Abort(NamedTuple):
    """`gate`: The checkpoint ends at this gate without a snapshot.

    `coordinator`: The checkpoint ends without success.
    """

    checkpoint: int
    reason: str
    kind: str = "abort"


class AbortNotification(NamedTuple):
    """The checkpoint was aborted."""

    checkpoint: int
    kind: str = "notify_abort"


class Advance(NamedTuple):
    """Virtual time passes."""

    ms: int
    kind: str = "advance"


class Close(NamedTuple):
    """`subtask`: The task has finished or was cancelled.

    `sink`: The sink is closed.
    """

    kind: str = "close"


class CompleteNotification(NamedTuple):
    """The checkpoint is complete."""

    checkpoint: int
    kind: str = "notify_complete"


class Crash(NamedTuple):
    """`sink`: The sink's process ends; its volatile state is lost.

    `offsets`: The source's process ends; its volatile state is lost.
    """

    kind: str = "crash"


class Decline(NamedTuple):
    """`subtask`: The subtask declines the checkpoint.

    `source`: The task declines the checkpoint.
    """

    checkpoint: int
    reason: str
    kind: str = "decline"


class DiscardCheckpoint(NamedTuple):
    """`coordinator`: Stored state is deleted. It is a whole checkpoint.

    `store`: A completed checkpoint is deleted.
    """

    checkpoint: int
    kind: str = "discard"


class Fail(NamedTuple):
    """`gate`, `subtask`: The task fails with this exception; the instance is not used again.

    `coordinator`: The event ends with this exception, named by its simple class name; the instance
    continues.

    `source`: The task manager answers the trigger with this exception; the instance continues.
    """

    error: str
    kind: str = "fail"


class NotifyAbort(NamedTuple):
    """`subtask`: The operators are notified that the checkpoint was aborted.

    `coordinator`: A task is notified that the checkpoint was aborted.
    """

    checkpoint: int
    task: int = -1
    kind: str = "notify_abort"


class NotifyComplete(NamedTuple):
    """`subtask`: The operators are notified that the checkpoint is complete.

    `coordinator`: A task is notified that the checkpoint is complete.
    """

    checkpoint: int
    task: int = -1
    kind: str = "notify_complete"


class NotifySubsumed(NamedTuple):
    """`subtask`: The operators are notified that a completed checkpoint was dropped.

    `coordinator`: A task is notified that a completed checkpoint was dropped.
    """

    checkpoint: int
    task: int = -1
    kind: str = "notify_subsumed"


class Status(NamedTuple):
    """The task starts or stops running."""

    running: bool
    kind: str = "status"


class Trigger(NamedTuple):
    """`gate`: The subtask takes its snapshot now.

    `source`: The snapshot steps of the task begin (component `subtask`).
    """

    checkpoint: int
    kind: str = "trigger"
