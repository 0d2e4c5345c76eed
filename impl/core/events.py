"""The events that gate, subtask, store, sink and offsets take, in the order of docs/adapter-protocol.md.

Those of the coordinator are in `coordinator_events`. The kind on the wire is the name given to `word`.
Where two components use one kind for different things (`snapshot`, ...) the class says whose it is.
"""

from enum import StrEnum

from impl.core.wire import Word, word


class CheckpointType(StrEnum):
    """What was asked for: a checkpoint, a savepoint, or the savepoint that stops the job."""

    CHECKPOINT = "checkpoint"
    SAVEPOINT = "savepoint"
    STOP = "stop"


class Event(Word):
    """Something that happens to a component."""

    __slots__ = ()


@word("advance")
class Advance(Event):
    """Virtual time passes, in milliseconds."""

    ms: int
