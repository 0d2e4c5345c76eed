"""Events and effects of a transactional sink."""

from typing import NamedTuple


class WriteRequest(NamedTuple):
    """A record arrives at the sink."""

    value: int
    kind: str = "write_request"


class SnapshotRequest(NamedTuple):
    """The sink's subtask takes its snapshot."""

    checkpoint: int
    kind: str = "snapshot_request"


class Finish(NamedTuple):
    """The sink has read the end of its input."""

    kind: str = "finish"


class Restore(NamedTuple):
    """The sink restarts from its snapshot for an id, or from the initial state (-1)."""

    checkpoint: int
    kind: str = "restore"


class Write(NamedTuple):
    """The sink writes the record to the open transaction."""

    transaction: int
    value: int
    kind: str = "write"


class Begin(NamedTuple):
    """The sink opens a transaction."""

    transaction: int
    kind: str = "begin"


class PreCommit(NamedTuple):
    """The sink closes a transaction to writes and makes it durable, ready to commit."""

    transaction: int
    kind: str = "pre_commit"


class Commit(NamedTuple):
    """A transaction becomes visible."""

    transaction: int
    kind: str = "commit"


class AbortTransaction(NamedTuple):
    """The sink aborts a transaction."""

    transaction: int
    kind: str = "abort_transaction"


class FailingCompletion(NamedTuple):
    """A checkpoint is complete, and the commit of transaction `fails` throws."""

    checkpoint: int
    fails: int
    kind: str = "failing_completion"


class FailingRestore(NamedTuple):
    """The sink restarts from its snapshot for an id, and the commit of transaction `fails` throws."""

    checkpoint: int
    fails: int
    kind: str = "failing_restore"


class CommitFailed(NamedTuple):
    """A transaction did not become visible: its commit threw."""

    transaction: int
    kind: str = "commit_failed"
