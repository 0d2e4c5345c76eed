"""Events and effects of a source that commits its offsets (vocabulary: `offsets`)."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.sink.events import CheckpointAborted, Crash
from impl.core.wire import word


@word("snapshot")
class SnapshotOffsets(Event):
    """The source takes its snapshot; one number `offsets` stands for its positions in all partitions."""

    checkpoint: int
    offsets: int


@word("notify_complete")
class OffsetsCompleted(Event):
    """The checkpoint is complete."""

    checkpoint: int


@word("restore")
class RestoreOffsets(Event):
    """The source restarts at these offsets."""

    offsets: int


@word("commit_offsets")
class CommitOffsets(Effect):
    """The offsets of the checkpoint are committed to the external system."""

    checkpoint: int
    offsets: int


@word("ignored")
class IgnoreCompletion(Effect):
    """The completed checkpoint has no remembered offsets."""

    checkpoint: int


@word("seek")
class Seek(Effect):
    """The source continues at these offsets."""

    offsets: int


OffsetsEvent: TypeAlias = SnapshotOffsets | OffsetsCompleted | CheckpointAborted | Crash | RestoreOffsets
OffsetsEffect: TypeAlias = CommitOffsets | IgnoreCompletion | Seek
OffsetsEffects: TypeAlias = tuple[OffsetsEffect, ...]
