"""A polled gate of mode `unaligned` or `alternating`: records are persisted, are processed, or wait.

While a snapshot runs, the records that a channel delivers before its barrier are in-flight data of that
snapshot (UNAL-23). The sender of a blocked channel has stopped after an aligned barrier, so every item of the
channel waits, announcements and unaligned barriers too (UNAL-24).
"""

from dataclasses import replace
from typing import assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.events import Advance, Event
from impl.core.gate.events import Block, Cancel, EndOfPartition, Record, Resume
from impl.core.gate.polled_gate import Polled
from impl.core.gate.two_threads import TwoThreadsGate
from impl.core.gate.unaligned import UnalignedGate
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

    The items of a channel wait from its `block` to its next `resume`. A late injection may resume it too.
    """

    def __init__(self, gate: UnalignedGate) -> None:
        super().__init__(gate)
        self._stopped: set[int] = set()

    def _holds(self, channel: int) -> bool:
        return channel in self._stopped

    def _read(self, event: Event) -> GateEffects:
        if isinstance(event, Record) and self._gate.is_persisted(event.channel):
            return (PersistRecord(event.channel, event.value),)
        return self._block_and_resume(super()._read(event))

    def _block_and_resume(self, effects: GateEffects) -> GateEffects:
        """Block and resume the channels as the effects demand; returns `effects`."""
        for effect in effects:
            if isinstance(effect, Block):
                self._stopped.add(effect.channel)
            elif isinstance(effect, Resume):
                self._stopped.discard(effect.channel)
        return effects

    def handle(self, event: Record | UnalignedEvent) -> GateEffects:
        """Take one typed event; returns its effects in order. Injections and `advance` wait for no channel.

        A barrier or announcement without a timestamp gets the present virtual time.
        """
        match event:
            case BarrierWithOptions(channel, checkpoint) | Announcement(channel, checkpoint):
                if isinstance(event, Announcement):
                    self._gate.require_announcements()
                options = self._gate.options(checkpoint, event.alignment, event.savepoint, event.timestamp)
                return self._arrive(channel, replace(event, timestamp=options.timestamp))
            case Cancel(channel, checkpoint):
                require_checkpoint_id(checkpoint)
                return self._arrive(channel, event)
            case Record(channel) | EndOfPartition(channel):
                return self._arrive(channel, event)
            case Injection() | Advance():
                return self._deliver(self._block_and_resume(self._gate.handle(event)))
            case _:
                assert_never(event)

    _events = events_of(Record | UnalignedEvent)


class PolledTwoThreadsGate(PolledUnalignedGate):
    """A two-threads gate at the polled level. It never blocks a channel, so no item ever waits."""

    def __init__(self, gate: TwoThreadsGate) -> None:
        super().__init__(gate)
        self._two_threads = gate

    def handle(self, event: Record | UnalignedEvent | NetworkEvent) -> GateEffects:
        """Take one typed event; returns its effects in order."""
        if isinstance(event, ReceivedBarrier | MailRun):
            return self._two_threads.handle(event)
        return super().handle(event)

    _events = events_of(Record | UnalignedEvent | NetworkEvent)
