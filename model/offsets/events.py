"""Events and effects of a reader that commits its offsets."""

from typing import NamedTuple


class SnapshotOffsets(NamedTuple):
    """A reader's subtask takes its snapshot; the offsets stand for all its partitions."""

    checkpoint: int
    offsets: int
    kind: str = "snapshot_offsets"


class RestoreOffsets(NamedTuple):
    """A crashed reader restarts from a state with these offsets."""

    offsets: int
    kind: str = "restore_offsets"


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
