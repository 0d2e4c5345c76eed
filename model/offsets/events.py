"""Events and effects of a reader that commits its offsets."""

from typing import NamedTuple


class SnapshotOffsets(NamedTuple):
    """A reader's subtask takes its snapshot; one number represents the offsets of all its partitions."""

    checkpoint: int
    offsets: int
    kind: str = "snapshot_offsets"


class RestoreOffsets(NamedTuple):
    """A crashed reader restarts from a state with these offsets."""

    offsets: int
    kind: str = "restore_offsets"


class CommitOffsets(NamedTuple):
    """The reader commits to the external system that a checkpoint holds everything before these offsets."""

    checkpoint: int
    offsets: int
    kind: str = "commit_offsets"


class Ignored(NamedTuple):
    """A completion of a checkpoint whose offsets are not remembered has no effect."""

    checkpoint: int
    kind: str = "ignored"


class Seek(NamedTuple):
    """The reader continues at these offsets."""

    offsets: int
    kind: str = "seek"
