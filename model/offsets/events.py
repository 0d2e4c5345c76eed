# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `offsets`. A source that commits its offsets."""

from typing import NamedTuple

from model.shared_events import AbortNotification, CompleteNotification, Crash

__all__ = [
    "EVENTS",
    "AbortNotification",
    "CommitOffsets",
    "CompleteNotification",
    "Crash",
    "Ignored",
    "RestoreOffsets",
    "Seek",
    "SnapshotOffsets",
]


class SnapshotOffsets(NamedTuple):
    """The source takes its snapshot at these offsets."""

    checkpoint: int
    offsets: int
    kind: str = "snapshot"


class RestoreOffsets(NamedTuple):
    """The source restarts at these offsets."""

    offsets: int
    kind: str = "restore"


class CommitOffsets(NamedTuple):
    """The offsets of the checkpoint are committed to the external system."""

    checkpoint: int
    offsets: int
    kind: str = "commit_offsets"


class Ignored(NamedTuple):
    """The source remembers no offsets for the completed checkpoint, and commits nothing."""

    checkpoint: int
    kind: str = "ignored"


class Seek(NamedTuple):
    """The source continues at these offsets."""

    offsets: int
    kind: str = "seek"


EVENTS: tuple[type, ...] = (
    SnapshotOffsets,
    CompleteNotification,
    AbortNotification,
    Crash,
    RestoreOffsets,
)
