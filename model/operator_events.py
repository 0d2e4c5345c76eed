"""More words of operators: a sink whose commits fail, a source that commits offsets or is induced."""

from typing import NamedTuple

# ---------------------------------------------------------------- events


class FailingCompletion(NamedTuple):
    """A checkpoint is complete, and the commit of this transaction throws."""

    checkpoint: int
    fails: int
    kind: str = "failing_completion"


class FailingRestore(NamedTuple):
    """The sink restarts from its snapshot under an id, and the commit of this transaction throws."""

    checkpoint: int
    fails: int
    kind: str = "failing_restore"


class SnapshotOffsets(NamedTuple):
    """A reader's subtask takes its snapshot; the offsets stand for all its partitions."""

    checkpoint: int
    offsets: int
    kind: str = "snapshot_offsets"


class RestoreOffsets(NamedTuple):
    """A crashed reader restarts from a state with these offsets."""

    offsets: int
    kind: str = "restore_offsets"


class TriggerArrives(NamedTuple):
    """The coordinator's trigger comes to a source's task, or (not `here`) to where its task is not."""

    checkpoint: int
    here: bool = True
    kind: str = "trigger"


class Induce(NamedTuple):
    """The hook of an externally induced source: the checkpoint is here."""

    checkpoint: int
    kind: str = "induce"


class Ended(NamedTuple):
    """The task hears that a checkpoint was aborted or subsumed, or has declined it."""

    checkpoint: int
    kind: str = "ended"


# ---------------------------------------------------------------- effects


class CommitFailed(NamedTuple):
    """A transaction did not become visible: its commit threw."""

    transaction: int
    kind: str = "commit_failed"


class CommitOffsets(NamedTuple):
    """The system behind the reader is told that a checkpoint holds everything before these offsets."""

    checkpoint: int
    offsets: int
    kind: str = "commit_offsets"


class Ignored(NamedTuple):
    """A completion of a checkpoint whose offsets are not remembered."""

    checkpoint: int
    kind: str = "ignored"


class Seek(NamedTuple):
    """The reader goes on at these offsets."""

    offsets: int
    kind: str = "seek"


class Answer(NamedTuple):
    """The task tells the coordinator whether it runs, and begins nothing."""

    checkpoint: int
    accepts: bool
    kind: str = "answer"


class StopReading(NamedTuple):
    """The source reads nothing until it is told to go on."""

    kind: str = "stop_reading"


class GoOnReading(NamedTuple):
    """The source reads again."""

    kind: str = "go_on_reading"
