"""Events and effects of one channel (vocabulary: `channel`).

The effects `record`, `barrier` and `announce` are the items that the receiver's gate reads. A record is any
JSON value; several records are a list.
"""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.gate.unaligned_events import Alignment
from impl.core.wire import word

# ---------------------------------------------------------------- events at the sender


@word("emit")
class Emit(Event):
    """The sender emits a record."""

    value: object


@word("send_barrier")
class SendBarrier(Event):
    """The sender emits a barrier."""

    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED


@word("time_out")
class TimeOut(Event):
    """The alignment of a barrier that waits at the sender has taken too long."""

    checkpoint: int


@word("abort")
class AbortAtSender(Event):
    """The sender's task has aborted the checkpoint."""

    checkpoint: int


@word("resume")
class ResumeSender(Event):
    """The receiver's gate allows the sender to continue."""


# ---------------------------------------------------------------- events at the network and the receiver


@word("transfer")
class Transfer(Event):
    """The next item of the sender's queue moves to the receiver."""


@word("take")
class Take(Event):
    """The receiver's gate reads the first item."""


@word("start_persisting")
class StartPersisting(Event):
    """The receiver begins to store the records that the checkpoint's barrier overtakes."""

    checkpoint: int


@word("stop_persisting")
class StopPersisting(Event):
    """The receiver stops storing for the checkpoint."""

    checkpoint: int


@word("prioritise")
class Prioritise(Event):
    """The receiver moves the announced barrier to the front of its queue."""

    checkpoint: int


@word("restore")
class RestoreChannel(Event):
    """Stored in-flight records of the receiver (`input`) and the sender (`output`) are put back."""

    input: object
    output: object


# ---------------------------------------------------------------- effects


@word("record")
class RecordRead(Effect):
    """The gate reads a record."""

    value: object


@word("barrier")
class BarrierRead(Effect):
    """The gate reads a barrier."""

    checkpoint: int
    alignment: Alignment


@word("announce")
class AnnouncementRead(Effect):
    """The gate reads the announcement of a barrier, ahead of the barrier."""

    checkpoint: int


@word("store_output")
class StoreOutput(Effect):
    """Records of the sender's queue are stored with the checkpoint."""

    checkpoint: int
    records: object


@word("lose_output")
class LoseOutput(Effect):
    """The sender stores nothing for the checkpoint."""

    checkpoint: int


@word("store_input")
class StoreInput(Effect):
    """Records of the receiver's queue are stored with the checkpoint."""

    checkpoint: int
    records: object


@word("decline")
class DeclineStart(Effect):
    """The receiver declines to start storing for the checkpoint."""

    checkpoint: int
    reason: str


ChannelEvent: TypeAlias = (
    Emit
    | SendBarrier
    | TimeOut
    | AbortAtSender
    | ResumeSender
    | Transfer
    | Take
    | StartPersisting
    | StopPersisting
    | Prioritise
    | RestoreChannel
)
SenderEffect: TypeAlias = StoreOutput | LoseOutput
ReadEffect: TypeAlias = RecordRead | BarrierRead | AnnouncementRead
ChannelEffect: TypeAlias = SenderEffect | ReadEffect | StoreInput | DeclineStart
ChannelEffects: TypeAlias = tuple[ChannelEffect, ...]
