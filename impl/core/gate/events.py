"""Events and effects of an input gate."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.wire import word


@word("record")
class Record(Event):
    """A record arrives on a channel (polled level only)."""

    channel: int
    value: object


@word("barrier")
class Barrier(Event):
    """The barrier of a checkpoint arrives on a channel."""

    channel: int
    checkpoint: int


@word("cancel")
class Cancel(Event):
    """The cancellation marker of a checkpoint arrives on a channel."""

    channel: int
    checkpoint: int


@word("end_of_partition")
class EndOfPartition(Event):
    """A channel ends; nothing follows on it."""

    channel: int


@word("inject")
class Inject(Event):
    """The task itself is triggered, because its predecessors have finished."""

    checkpoint: int


@word("process")
class Process(Effect):
    """Hand the record to the operator."""

    channel: int
    value: object


@word("block")
class Block(Effect):
    """Take nothing more from the channel."""

    channel: int


@word("resume")
class Resume(Effect):
    """Take from the channel again."""

    channel: int


@word("trigger")
class Trigger(Effect):
    """All barriers are here: snapshot the task."""

    checkpoint: int


@word("abort")
class Abort(Effect):
    """The checkpoint ends without a snapshot (gate), or without completing (coordinator)."""

    checkpoint: int
    reason: str


AlignedEvent: TypeAlias = Barrier | Cancel | EndOfPartition | Inject
TrackedEvent: TypeAlias = Barrier | Cancel | EndOfPartition
