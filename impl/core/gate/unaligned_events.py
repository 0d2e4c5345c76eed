"""Events and effects of an input gate in the modes unaligned and alternating (vocabulary: `gate`).

A barrier carries options: the alignment of its checkpoint, whether it is a savepoint, and the virtual time of
its trigger in milliseconds. The defaults are `aligned`, false and the present time.
"""

from enum import StrEnum
from typing import TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Advance, Event
from impl.core.gate.events import Abort, Block, Cancel, EndOfPartition, Process, Resume, Trigger
from impl.core.wire import word


class Alignment(StrEnum):
    """The way in which the barriers of a checkpoint pass a gate."""

    ALIGNED = "aligned"
    UNALIGNED = "unaligned"
    """They overtake the records before them."""
    FORCED_ALIGNED = "forced-aligned"
    """They align and may never overtake."""
    TIMEOUT = "timeout"
    """They align, and overtake when the alignment has taken too long."""


# ---------------------------------------------------------------- events


@word("barrier")
class BarrierWithOptions(Event):
    """The task reads a barrier on a channel."""

    channel: int
    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("announce")
class Announcement(Event):
    """The announcement of a barrier arrives ahead of the barrier."""

    channel: int
    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("inject")
class Injection(Event):
    """The task itself is triggered, because every predecessor has finished."""

    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("receive_barrier")
class ReceivedBarrier(Event):
    """The network thread receives a barrier; the task reads it later."""

    channel: int
    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("mail")
class MailRun(Event):
    """The task thread runs the actions that the network thread has queued for it."""


# ---------------------------------------------------------------- effects


@word("trigger")
class TriggerWithOptions(Effect):
    """The subtask takes its snapshot now. `unaligned`: whether in-flight records belong to the snapshot."""

    checkpoint: int
    unaligned: bool = False


@word("start_persisting")
class StartPersisting(Effect):
    """From here on, records that barriers overtake belong to the checkpoint."""

    checkpoint: int


@word("stop_persisting")
class StopPersisting(Effect):
    """No further record belongs to the checkpoint."""

    checkpoint: int


@word("persist")
class PersistRecord(Effect):
    """The record reaches the operator, and is stored as in-flight data of the checkpoint."""

    channel: int
    value: object


@word("prioritise")
class Prioritise(Effect):
    """The announced barrier of the channel overtakes the records before it."""

    channel: int


UnalignedEvent: TypeAlias = BarrierWithOptions | Announcement | Injection | Cancel | EndOfPartition | Advance
NetworkEvent: TypeAlias = ReceivedBarrier | MailRun
"""The additional events of Flink 1.11, whose network thread may start a checkpoint."""
GateEffect: TypeAlias = (
    Process
    | Block
    | Resume
    | Trigger
    | Abort
    | TriggerWithOptions
    | StartPersisting
    | StopPersisting
    | PersistRecord
    | Prioritise
    | Fail
)
"""The effects of a gate in any mode. Only polled gates have `Process` and `PersistRecord`."""
GateEffects: TypeAlias = tuple[GateEffect, ...]
