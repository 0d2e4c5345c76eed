"""What modes `unaligned` and `alternating` add to the vocabulary of a gate.

A barrier carries options: how its checkpoint wants to be aligned, whether it is a savepoint, and when it
was triggered. On the wire they may be left out; then it is an aligned checkpoint that was triggered now.
"""

from enum import StrEnum
from typing import TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Advance, Event
from impl.core.gate.events import Abort, Block, Cancel, EndOfPartition, Process, Resume, Trigger
from impl.core.wire import word


class Alignment(StrEnum):
    """How a checkpoint wants to be aligned."""

    ALIGNED = "aligned"
    UNALIGNED = "unaligned"
    FORCED_ALIGNED = "forced-aligned"
    TIMEOUT = "timeout"


# ---------------------------------------------------------------- events


@word("barrier")
class BarrierWithOptions(Event):
    """A barrier is read on a channel."""

    channel: int
    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("announce")
class Announcement(Event):
    """A channel tells of a barrier that stands in it, behind records."""

    channel: int
    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("inject")
class Injection(Event):
    """The coordinator triggers the task itself: the barrier comes on every open channel at once."""

    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("receive_barrier")
class ReceivedBarrier(Event):
    """The network has received a barrier, which the task has not read yet."""

    channel: int
    checkpoint: int
    alignment: Alignment = Alignment.ALIGNED
    savepoint: bool = False
    timestamp: int | None = None


@word("mail")
class MailRun(Event):
    """The task does what the network has put into its mailbox."""


# ---------------------------------------------------------------- effects


@word("trigger")
class TriggerWithOptions(Effect):
    """Snapshot the task; `unaligned`: while barriers of it are still on their way."""

    checkpoint: int
    unaligned: bool = False


@word("start_persisting")
class StartPersisting(Effect):
    """Store what channels deliver until their barriers come."""

    checkpoint: int


@word("stop_persisting")
class StopPersisting(Effect):
    """Store in-flight input no more."""

    checkpoint: int


@word("persist")
class PersistRecord(Effect):
    """Hand the record to the operator, and store it as in-flight data of the running snapshot."""

    channel: int
    value: object


@word("prioritise")
class Prioritise(Effect):
    """Let the announced barrier of the channel overtake what stands before it."""

    channel: int


UnalignedEvent: TypeAlias = BarrierWithOptions | Announcement | Injection | Cancel | EndOfPartition | Advance
NetworkEvent: TypeAlias = ReceivedBarrier | MailRun
"""What the thread of the network adds in Flink 1.11."""
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
"""Of a gate in any mode; `Process` and `PersistRecord` of polled gates only."""
GateEffects: TypeAlias = tuple[GateEffect, ...]
