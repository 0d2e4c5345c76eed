# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `store`. The completed-checkpoint store."""

from typing import NamedTuple

from model.shared_events import DiscardCheckpoint

__all__ = [
    "EVENTS",
    "Add",
    "DiscardCheckpoint",
    "Latest",
    "LatestRequest",
    "Shutdown",
    "Subsumed",
]


class Add(NamedTuple):
    """A completed checkpoint is added."""

    checkpoint: int
    type: int
    kind: str = "add"


class LatestRequest(NamedTuple):
    """The checkpoint to restore is requested."""

    kind: str = "latest"


class Shutdown(NamedTuple):
    """The job has ended."""

    discard: bool
    kind: str = "shutdown"


class Subsumed(NamedTuple):
    """The highest of the checkpoints that the addition has deleted."""

    checkpoint: int
    kind: str = "subsumed"


class Latest(NamedTuple):
    """The checkpoint to restore; null for none."""

    checkpoint: int
    kind: str = "latest"


EVENTS: tuple[type, ...] = (
    Add,
    LatestRequest,
    Shutdown,
)
