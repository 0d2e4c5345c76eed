"""The base class of events, the types of checkpoints, and the event `advance` of several components.

Each component declares its events in its own module `events`.
"""

from enum import StrEnum

from impl.core.wire import Word, word


class CheckpointType(StrEnum):
    """A checkpoint, a savepoint, or a stop-with-savepoint."""

    CHECKPOINT = "checkpoint"
    SAVEPOINT = "savepoint"
    STOP = "stop"


class Event(Word):
    """An event that happens to a component."""

    __slots__ = ()


@word("advance")
class Advance(Event):
    """Virtual time passes, in milliseconds."""

    ms: int
