"""A polled gate of mode `unaligned` or `alternating`: records are persisted, processed, or wait.

While a snapshot runs, what a channel delivers before its barrier is in-flight data of that snapshot
(UNAL-23). A blocked channel delivers nothing at all: its sender stopped after an aligned barrier, so that
announcements and unaligned barriers wait there like everything else, and are handed on in the order of
arrival over all channels when their channel goes on (UNAL-24).
"""

from collections import deque
from typing import assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.events import Advance
from impl.core.gate.events import Block, Cancel, EndOfPartition, Process, Record, Resume
from impl.core.gate.input_channels import Polled
from impl.core.gate.two_threads import TwoThreadsGate
from impl.core.gate.unaligned import UnalignedGate
from impl.core.gate.unaligned_events import (
    Alignment,
    Announcement,
    BarrierWithOptions,
    GateEffect,
    GateEffects,
    Injection,
    MailRun,
    NetworkEvent,
    PersistRecord,
    ReceivedBarrier,
    UnalignedEvent,
)


class PolledUnalignedGate(Polled[UnalignedGate]):
    """An unaligned or alternating gate behind a network that obeys `block` and `resume`."""

    def __init__(self, gate: UnalignedGate) -> None:
        super().__init__(gate)
        self._waiting: deque[tuple[int, Record | UnalignedEvent]] = deque()
        self._held: set[int] = set()  # blocked, and not resumed since: not even by a late injection

    def record(self, channel: int, value: object) -> GateEffects:
        """A record arrives on `channel`."""
        return self._arrive(channel, Record(channel, value))

    def barrier(
        self, channel: int, checkpoint: int, alignment: Alignment, savepoint: bool, timestamp: int | None
    ) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`; its time is that of its arrival if left out."""
        self._require_sendable(channel)
        at = self._gate.request(checkpoint, alignment, savepoint, timestamp).timestamp
        return self._arrive(channel, BarrierWithOptions(channel, checkpoint, alignment, savepoint, at))

    def announce(
        self, channel: int, checkpoint: int, alignment: Alignment, savepoint: bool, timestamp: int | None
    ) -> GateEffects:
        """The announcement of a barrier arrives on `channel`."""
        self._require_sendable(channel)
        at = self._gate.request(checkpoint, alignment, savepoint, timestamp).timestamp
        return self._arrive(channel, Announcement(channel, checkpoint, alignment, savepoint, at))

    def inject(
        self, checkpoint: int, alignment: Alignment, savepoint: bool, timestamp: int | None
    ) -> GateEffects:
        """The task itself is triggered; that waits for no channel."""
        return self._hand_on(self._gate.inject(checkpoint, alignment, savepoint, timestamp))

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation of `checkpoint` arrives on `channel`."""
        require_checkpoint_id(checkpoint)
        return self._arrive(channel, Cancel(channel, checkpoint))

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends; on a blocked channel the end waits like everything else."""
        self._require_sendable(channel)
        if channel in self._held:
            self._ending.add(channel)
        return self._arrive(channel, EndOfPartition(channel))

    def advance(self, ms: int) -> GateEffects:
        """Virtual time passes."""
        return self._hand_on(self._gate.advance(ms))

    def _arrive(self, channel: int, event: Record | UnalignedEvent) -> GateEffects:
        """Read the event now, or let it wait with its channel."""
        if not isinstance(event, EndOfPartition):
            self._require_sendable(channel)
        if channel in self._held:
            self._waiting.append((channel, event))
            return ()
        return self._hand_on(self._read(channel, event))

    def _read(self, channel: int, event: Record | UnalignedEvent) -> GateEffects:
        if not isinstance(event, Record):
            return self._gate.handle(event)
        if self._gate.is_persisted(channel):
            return (PersistRecord(channel, event.value),)
        return (Process(channel, event.value),)

    def _hand_on(self, effects: GateEffects) -> GateEffects:
        """The effects of an event, followed by those of all that it lets through."""
        self._obey(effects)
        if not self._waiting:
            return effects
        said: list[GateEffect] = list(effects)
        while (next_one := self._oldest_released()) is not None:
            more = self._read(*next_one)
            self._obey(more)
            said += more
        return tuple(said)

    def _obey(self, effects: GateEffects) -> None:
        for effect in effects:
            if isinstance(effect, Block):
                self._held.add(effect.channel)
            elif isinstance(effect, Resume):
                self._held.discard(effect.channel)

    def _oldest_released(self) -> tuple[int, Record | UnalignedEvent] | None:
        """Take out what arrived first among that of channels that are open."""
        if self._gate.has_failed:
            return None
        for position, (channel, event) in enumerate(self._waiting):
            if channel not in self._held:
                del self._waiting[position]
                if isinstance(event, EndOfPartition):
                    self._ending.discard(channel)
                return channel, event
        return None

    def handle(self, event: Record | UnalignedEvent) -> GateEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
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
    """The same of the gate that two threads share; nothing is ever held there."""

    def __init__(self, gate: TwoThreadsGate) -> None:
        super().__init__(gate)
        self._shared = gate

    def receive_barrier(
        self, channel: int, checkpoint: int, alignment: Alignment, savepoint: bool, timestamp: int | None
    ) -> GateEffects:
        """The network has received a barrier."""
        return self._shared.receive_barrier(channel, checkpoint, alignment, savepoint, timestamp)

    def mail(self) -> GateEffects:
        """The task empties its mailbox."""
        return self._shared.mail()

    def handle(self, event: Record | UnalignedEvent | NetworkEvent) -> GateEffects:
        """As of any such gate, and of what the network does."""
        match event:
            case ReceivedBarrier(channel, checkpoint, alignment, savepoint, timestamp):
                return self.receive_barrier(channel, checkpoint, alignment, savepoint, timestamp)
            case MailRun():
                return self.mail()
            case _:
                return super().handle(event)

    _events = events_of(Record | UnalignedEvent | NetworkEvent)
