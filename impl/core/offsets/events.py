"""Events and effects of a reader that commits its offsets."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.sink.events import CheckpointAborted, Crash
from impl.core.wire import word


@word("snapshot")
class SnapshotOffsets(Event):
    """The source is snapshotted; `offsets` stands for its positions in all partitions."""

    checkpoint: int
    offsets: int


@word("notify_complete")
class OffsetsCompleted(Event):
    """The source is told that a checkpoint is complete."""

    checkpoint: int


@word("restore")
class RestoreOffsets(Event):
    """A crashed source restarts from a state with these offsets."""

    offsets: int


@word("commit_offsets")
class CommitOffsets(Effect):
    """Tell the system behind the source that everything before these offsets is in a checkpoint."""

    checkpoint: int
    offsets: int


@word("ignored")
class IgnoreCompletion(Effect):
    """Log that the completed checkpoint is not one that waits."""

    checkpoint: int


@word("seek")
class Seek(Effect):
    """Go on reading at these offsets."""

    offsets: int


OffsetsEvent: TypeAlias = SnapshotOffsets | OffsetsCompleted | CheckpointAborted | Crash | RestoreOffsets
OffsetsEffect: TypeAlias = CommitOffsets | IgnoreCompletion | Seek
OffsetsEffects: TypeAlias = tuple[OffsetsEffect, ...]
