"""A polled gate of mode `unaligned` or `alternating`: records are persisted, are processed, or wait.

While a snapshot runs, the records that a channel delivers before its barrier are in-flight data of that
snapshot (UNAL-23). The sender of a blocked channel has stopped after an aligned barrier, so every item of the
channel waits, announcements and unaligned barriers too (UNAL-24).
"""

from typing import assert_never

from impl.core.component import events_of
from impl.core.events import Advance, Event
from impl.core.gate.events import Block, Cancel, EndOfPartition, Record, Resume
from impl.core.gate.polled_gate import Polled
from impl.core.gate.two_threads import TwoThreadsGate
from impl.core.gate.unaligned import OptionFields, UnalignedGate
from impl.core.gate.unaligned_events import (
    Announcement,
    BarrierWithOptions,
    GateEffects,
    Injection,
    MailRun,
    NetworkEvent,
    PersistRecord,
    ReceivedBarrier,
    UnalignedEvent,
)


class PolledUnalignedGate(Polled[UnalignedGate]):
    """An unaligned or alternating gate at the polled level.

    A channel waits from its `block` to its next `resume`, which may also come from a late injection.
    """

    def __init__(self, gate: UnalignedGate) -> None:
        super().__init__(gate)
        self._stopped: set[int] = set()

    def barrier(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`; its timestamp is the present if left out."""
        self._require_sendable(channel)
        arrived = self._gate.options(checkpoint, *options)
        return self._arrive(channel, BarrierWithOptions(channel, checkpoint, *arrived))

    def announce(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The announcement of a barrier arrives on `channel`."""
        self._require_sendable(channel)
        arrived = self._gate.options(checkpoint, *options)
        return self._arrive(channel, Announcement(channel, checkpoint, *arrived))

    def inject(self, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The task itself is triggered; this waits for no channel."""
        return self._deliver(self._obey(self._gate.inject(checkpoint, *options)))

    def advance(self, ms: int) -> GateEffects:
        """Virtual time passes, in milliseconds."""
        return self._deliver(self._obey(self._gate.advance(ms)))

    def _holds(self, channel: int) -> bool:
        return channel in self._stopped

    def _read(self, event: Event) -> GateEffects:
        if isinstance(event, Record) and self._gate.is_persisted(event.channel):
            return (PersistRecord(event.channel, event.value),)
        return self._obey(super()._read(event))

    def _obey(self, effects: GateEffects) -> GateEffects:
        """Block and resume the channels as the effects demand; returns `effects`."""
        for effect in effects:
            if isinstance(effect, Block):
                self._stopped.add(effect.channel)
            elif isinstance(effect, Resume):
                self._stopped.discard(effect.channel)
        return effects

    def handle(self, event: Record | UnalignedEvent) -> GateEffects:
        """Take one typed event; returns its effects in order."""
        match event:
            case Record(channel, value):
                return self.record(channel, value)
            case BarrierWithOptions(channel, checkpoint, alignment, savepoint, timestamp):
                return self.barrier(channel, checkpoint, alignment, savepoint, timestamp)
            case Announcement(channel, checkpoint, alignment, savepoint, timestamp):
                return self.announce(channel, checkpoint, alignment, savepoint, timestamp)
            case Injection(checkpoint, alignment, savepoint, timestamp):
                return self.inject(checkpoint, alignment, savepoint, timestamp)
            case Cancel(channel, checkpoint):
                return self.cancel(channel, checkpoint)
            case EndOfPartition(channel):
                return self.end_of_partition(channel)
            case Advance(ms):
                return self.advance(ms)
            case _:
                assert_never(event)

    _events = events_of(Record | UnalignedEvent)


class PolledTwoThreadsGate(PolledUnalignedGate):
    """A two-threads gate at the polled level. It never blocks a channel, so no item ever waits."""

    def __init__(self, gate: TwoThreadsGate) -> None:
        super().__init__(gate)
        self._two_threads = gate

    def receive_barrier(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The network thread receives a barrier."""
        return self._two_threads.receive_barrier(channel, checkpoint, *options)

    def mail(self) -> GateEffects:
        """The task thread runs its mailbox."""
        return self._two_threads.mail()

    def handle(self, event: Record | UnalignedEvent | NetworkEvent) -> GateEffects:
        """Take one typed event; returns its effects in order."""
        match event:
            case ReceivedBarrier(channel, checkpoint, alignment, savepoint, timestamp):
                return self.receive_barrier(channel, checkpoint, alignment, savepoint, timestamp)
            case MailRun():
                return self.mail()
            case _:
                return super().handle(event)

    _events = events_of(Record | UnalignedEvent | NetworkEvent)
