"""What one channel is told and says: the component `channel` of the wire.

What a channel hands to its gate (`record`, `barrier`, `announce`) is called as the gate's events are. Records
are the user's own values; several of them travel as a list.
"""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.gate.unaligned_events import Alignment
from impl.core.wire import word

# ---------------------------------------------------------------- told to the sender


@word("emit")
class Emit(Event):
    """The sending task writes a record."""

    value: object


@word("send_barrier")
class SendBarrier(Event):
    """The sending task has taken its snapshot."""

    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED


@word("time_out")
class TimeOut(Event):
    """An aligned barrier has had its time to leave."""

    checkpoint: int


@word("abort")
class GiveUp(Event):
    """The sender's part of a checkpoint is of no use any more."""

    checkpoint: int


@word("resume")
class LetGo(Event):
    """The receiver goes on after an aligned barrier."""


# ---------------------------------------------------------------- told to network and receiver


@word("transfer")
class Transfer(Event):
    """One item travels, if one may."""


@word("take")
class Take(Event):
    """The gate reads one item, if there is one."""


@word("start_persisting")
class StartPersisting(Event):
    """The receiving task's unaligned snapshot begins."""

    checkpoint: int


@word("stop_persisting")
class StopPersisting(Event):
    """Nothing more belongs to the snapshot."""

    checkpoint: int


@word("prioritise")
class Prioritise(Event):
    """The gate wants an announced barrier at once."""

    checkpoint: int


@word("restore")
class RestoreLink(Event):
    """A new attempt: the records that a checkpoint has of the receiver and of the sender."""

    input: object
    output: object


# ---------------------------------------------------------------- said


@word("record")
class RecordRead(Effect):
    """The gate gets a record."""

    value: object


@word("barrier")
class BarrierRead(Effect):
    """The gate gets a barrier."""

    checkpoint: int
    alignment: Alignment


@word("announce")
class AnnouncementRead(Effect):
    """The gate hears of a barrier that stands behind records."""

    checkpoint: int


@word("store_output")
class StoreOutput(Effect):
    """Everything that the sender has to add to the checkpoint."""

    checkpoint: int
    records: object


@word("lose_output")
class LoseOutput(Effect):
    """The sender will add nothing, because the checkpoint has been given up."""

    checkpoint: int


@word("store_input")
class StoreInput(Effect):
    """Records that the receiver adds to the checkpoint."""

    checkpoint: int
    records: object


@word("decline")
class DeclineStart(Effect):
    """The snapshot cannot begin."""

    checkpoint: int
    reason: str


ChannelEvent: TypeAlias = (
    Emit
    | SendBarrier
    | TimeOut
    | GiveUp
    | LetGo
    | Transfer
    | Take
    | StartPersisting
    | StopPersisting
    | Prioritise
    | RestoreLink
)
SenderEffect: TypeAlias = StoreOutput | LoseOutput
ReadEffect: TypeAlias = RecordRead | BarrierRead | AnnouncementRead
ChannelEffect: TypeAlias = SenderEffect | ReadEffect | StoreInput | DeclineStart
ChannelEffects: TypeAlias = tuple[ChannelEffect, ...]
