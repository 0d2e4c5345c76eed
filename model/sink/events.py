# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `sink`. A transactional sink."""

from typing import NamedTuple

from model.shared_events import AbortNotification, Close, CompleteNotification, Crash

__all__ = [
    "EVENTS",
    "AbortNotification",
    "AbortTransaction",
    "Begin",
    "Close",
    "Commit",
    "CommitFailed",
    "CompleteNotification",
    "Crash",
    "FailingCompletion",
    "FailingRestore",
    "Finish",
    "PreCommit",
    "Restore",
    "SnapshotRequest",
    "Write",
    "WriteRequest",
]


class WriteRequest(NamedTuple):
    """A record reaches the sink."""

    value: int
    kind: str = "write"


class SnapshotRequest(NamedTuple):
    """The sink's subtask takes its snapshot."""

    checkpoint: int
    kind: str = "snapshot"


class FailingCompletion(NamedTuple):
    """The checkpoint is complete. With `fails`."""

    checkpoint: int
    fails: int
    kind: str = "notify_complete"


class Finish(NamedTuple):
    """The sink has reached the end of its input."""

    kind: str = "finish"


class Restore(NamedTuple):
    """The sink restarts from the snapshot of a checkpoint; null: from the beginning."""

    checkpoint: int
    kind: str = "restore"


class FailingRestore(NamedTuple):
    """The sink restarts from the snapshot of a checkpoint; null: from the beginning. With `fails`."""

    checkpoint: int
    fails: int
    kind: str = "restore"


class Write(NamedTuple):
    """The record is written to the open transaction."""

    transaction: int
    value: int
    kind: str = "write"


class PreCommit(NamedTuple):
    """The transaction is flushed, made durable, and takes no further writes."""

    transaction: int
    kind: str = "pre_commit"


class Begin(NamedTuple):
    """A transaction is opened."""

    transaction: int
    kind: str = "begin"


class Commit(NamedTuple):
    """The transaction becomes visible."""

    transaction: int
    kind: str = "commit"


class CommitFailed(NamedTuple):
    """The commit of the transaction has thrown; the transaction is not visible."""

    transaction: int
    kind: str = "commit_failed"


class AbortTransaction(NamedTuple):
    """The transaction is rolled back."""

    transaction: int
    kind: str = "abort_transaction"


EVENTS: tuple[type, ...] = (
    WriteRequest,
    SnapshotRequest,
    CompleteNotification,
    FailingCompletion,
    AbortNotification,
    Finish,
    Close,
    Crash,
    Restore,
    FailingRestore,
)
