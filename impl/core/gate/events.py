"""Events and effects of an input gate in the modes exactly-once and at-least-once (vocabulary: `gate`)."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.wire import word


@word("record")
class Record(Event):
    """A record arrives on a channel. Only at the polled level."""

    channel: int
    value: object


@word("barrier")
class Barrier(Event):
    """The barrier of a checkpoint arrives on a channel."""

    channel: int
    checkpoint: int


@word("cancel")
class Cancel(Event):
    """A cancellation marker of the checkpoint arrives on a channel."""

    channel: int
    checkpoint: int


@word("end_of_partition")
class EndOfPartition(Event):
    """A channel has delivered its last item."""

    channel: int


@word("inject")
class Inject(Event):
    """The task itself is triggered, because its predecessors have finished."""

    checkpoint: int


@word("process")
class Process(Effect):
    """The record reaches the operator."""

    channel: int
    value: object


@word("block")
class Block(Effect):
    """The channel is not read until it is resumed."""

    channel: int


@word("resume")
class Resume(Effect):
    """The channel is read again; its sender stopped after its barrier."""

    channel: int


@word("trigger")
class Trigger(Effect):
    """The subtask takes its snapshot now."""

    checkpoint: int


@word("abort")
class Abort(Effect):
    """The checkpoint ends without a snapshot (gate), or without completing (coordinator)."""

    checkpoint: int
    reason: str


AlignedEvent: TypeAlias = Barrier | Cancel | EndOfPartition | Inject
TrackedEvent: TypeAlias = Barrier | Cancel | EndOfPartition
