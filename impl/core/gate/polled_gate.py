"""The gate as a task sees it that polls it: what comes on a blocked channel waits in the network.

A real network holds back a blocked channel by credits; here the waiting messages stand in a queue for
each channel. They are handed on within the event that releases their channel, after its own effects, in
the order of arrival over all channels, as long as their channel stays open to them: a barrier handed on
may block its channel again, and what stands behind it goes on waiting. Rule: ALIGN-17; the alignment
itself is `gate`.

Up to Flink 1.10 it is the gate that keeps the waiting messages, in a store that may have a limit; what
the task sees is the same (ALIGN-23), until an alignment is given up because of that limit (ALIGN-22).
"""

from collections import deque
from typing import Final, assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.gate.aligned import InputGate
from impl.core.gate.events import AlignedEvent, Barrier, Cancel, EndOfPartition, Inject, Process, Record
from impl.core.gate.input_channels import Polled
from impl.core.gate.unaligned_events import GateEffect, GateEffects

PAGE_SIZE: Final = 32 * 1024
"""Bytes that a stored message counts for: the cache of Flink reckons in whole pages."""


class PolledGate(Polled[InputGate]):
    """An input gate behind a network that obeys `block` and `resume`.

    `limit_bytes`: what may wait at most; None for no limit.
    """

    def __init__(self, gate: InputGate, limit_bytes: int | None = None) -> None:
        super().__init__(gate)
        self._room = None if limit_bytes is None else limit_bytes // PAGE_SIZE
        self._arrivals = 0
        self._waiting: dict[int, deque[tuple[int, Record | AlignedEvent]]] = {}

    def record(self, channel: int, value: object) -> GateEffects:
        """A record arrives: it is processed now, or waits with its channel (ALIGN-17)."""
        self._require_sendable(channel)
        if self._gate.is_blocked(channel):
            return self._wait(channel, Record(channel, value))
        return (Process(channel, value),)

    def barrier(self, channel: int, checkpoint: int) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`."""
        self._require_sendable(channel)
        require_checkpoint_id(checkpoint)
        if self._gate.is_blocked(channel):
            return self._wait(channel, Barrier(channel, checkpoint))
        return self._hand_on(self._gate.barrier(channel, checkpoint))

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation of `checkpoint` arrives on `channel`."""
        self._require_sendable(channel)
        require_checkpoint_id(checkpoint)
        if self._gate.is_blocked(channel):
            return self._wait(channel, Cancel(channel, checkpoint))
        return self._hand_on(self._gate.cancel(channel, checkpoint))

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends; on a blocked channel the end waits like everything else."""
        self._require_sendable(channel)
        if self._gate.is_blocked(channel):
            self._ending.add(channel)
            return self._wait(channel, EndOfPartition(channel))
        return self._hand_on(self._gate.end_of_partition(channel))

    def inject(self, checkpoint: int) -> GateEffects:
        """The task itself is triggered: no message of a channel, so nothing waits."""
        return self._hand_on(self._gate.inject(checkpoint))

    def _wait(self, channel: int, event: Record | AlignedEvent) -> GateEffects:
        self._arrivals += 1
        self._waiting.setdefault(channel, deque()).append((self._arrivals, event))
        if self._room is not None and sum(map(len, self._waiting.values())) > self._room:
            return self._hand_on(self._gate.exceed_limit())
        return ()

    def _hand_on(self, effects: GateEffects) -> GateEffects:
        """The effects of an event, followed by those of all that it lets through."""
        if not self._waiting:
            return effects
        said: list[GateEffect] = list(effects)
        while (event := self._oldest_released()) is not None:
            if isinstance(event, Record):
                said.append(Process(event.channel, event.value))
            else:
                said += self._gate.handle(event)
        return tuple(said)

    def _oldest_released(self) -> Record | AlignedEvent | None:
        """Take out the message that arrived first among those whose channel is not blocked."""
        released = [channel for channel in self._waiting if not self._gate.is_blocked(channel)]
        if not released:
            return None
        channel = min(released, key=lambda one: self._waiting[one][0][0])
        _, event = self._waiting[channel].popleft()
        if not self._waiting[channel]:
            del self._waiting[channel]
        if isinstance(event, EndOfPartition):
            self._ending.discard(channel)
        return event

    def handle(self, event: Record | AlignedEvent) -> GateEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case Record(channel, value):
                return self.record(channel, value)
            case Barrier(channel, checkpoint):
                return self.barrier(channel, checkpoint)
            case Cancel(channel, checkpoint):
                return self.cancel(channel, checkpoint)
            case EndOfPartition(channel):
                return self.end_of_partition(channel)
            case Inject(checkpoint):
                return self.inject(checkpoint)
            case _:
                assert_never(event)

    _events = events_of(Record | AlignedEvent)
