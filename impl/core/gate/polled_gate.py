"""Gates at the polled level: the items of a blocked channel wait in the network (ALIGN-17).

A real network holds back a blocked channel by credits; here the items wait in one queue for each channel. The
event that resumes a channel also delivers its items, after its own effects, in the order of arrival over all
channels. If a delivered barrier blocks its channel again, the items behind it continue to wait.

Up to Flink 1.10 the gate itself stores the waiting items, and its store may have a limit. The task sees no
difference (ALIGN-23), until an alignment is aborted because of the limit (ALIGN-22).
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import Any, Final, Generic, TypeVar, assert_never

from impl.core.component import Component, events_of, require_checkpoint_id
from impl.core.errors import ProtocolError
from impl.core.events import Event
from impl.core.gate.aligned import AlignedGate
from impl.core.gate.events import AlignedEvent, Barrier, Cancel, EndOfPartition, Inject, Process, Record
from impl.core.gate.input_channels import Gate
from impl.core.gate.unaligned_events import GateEffect, GateEffects

PAGE_SIZE: Final = 32 * 1024
"""The bytes that each stored item counts as: Flink's store counts whole pages."""

AnyGate = TypeVar("AnyGate", bound=Gate[Any])


class Polled(Component[Any, GateEffect], Generic[AnyGate]):
    """A gate, and the network before it, which holds back the items of a channel from `block` to `resume`."""

    def __init__(self, gate: AnyGate) -> None:
        self._gate = gate
        self._arrivals = count()
        self._waiting: dict[int, deque[tuple[int, Event]]] = {}
        self._ending: set[int] = set()  # channels whose end waits

    def _take(self, word: type[Event], values: Iterable[object]) -> GateEffects:
        return self.handle(word(*values))

    def observe(self) -> dict[str, Any]:
        """The state of the gate; waiting items are not part of it."""
        return self._gate.observe()

    @abstractmethod
    def _holds(self, channel: int) -> bool:
        """Whether the items of the channel wait."""

    def _read(self, event: Event) -> GateEffects:
        """The gate reads one item."""
        if isinstance(event, Record):
            return (Process(event.channel, event.value),)
        return self._gate.handle(event)

    def _require_sendable(self, channel: int) -> None:
        """Raise ProtocolError if no item may follow on the channel, also if its end still waits."""
        self._gate.require_open(channel)
        if channel in self._ending:
            raise ProtocolError(
                f"the end of channel {channel} has arrived and waits while the channel is blocked, so no "
                "event may follow; send on another channel or make a new gate"
            )

    def _arrive(self, channel: int, event: Event) -> GateEffects:
        """An item arrives on a channel: the gate reads it now, or it waits."""
        self._require_sendable(channel)
        if not self._holds(channel):
            return self._deliver(self._read(event))
        if isinstance(event, EndOfPartition):
            self._ending.add(channel)
        self._waiting.setdefault(channel, deque()).append((next(self._arrivals), event))
        return ()

    def _deliver(self, effects: GateEffects) -> GateEffects:
        """`effects`, and then the effects of the items that are delivered because of them."""
        if not self._waiting:
            return effects
        all_effects: list[GateEffect] = list(effects)
        while (event := self._oldest_released()) is not None:
            all_effects += self._read(event)
        return tuple(all_effects)

    def _oldest_released(self) -> Event | None:
        """Remove and return the oldest item whose channel is not held back; None if there is no such item."""
        released = [channel for channel in self._waiting if not self._holds(channel)]
        if not released or self._gate.has_failed:
            return None
        channel = min(released, key=lambda one: self._waiting[one][0][0])
        _, event = self._waiting[channel].popleft()
        if not self._waiting[channel]:
            del self._waiting[channel]
        if isinstance(event, EndOfPartition):
            self._ending.discard(channel)
        return event


class PolledGate(Polled[AlignedGate]):
    """An aligned gate at the polled level. `limit_bytes`: limit of waiting bytes; None: none (ALIGN-22)."""

    def __init__(self, gate: AlignedGate, limit_bytes: int | None = None) -> None:
        super().__init__(gate)
        self._limit_pages = None if limit_bytes is None else limit_bytes // PAGE_SIZE

    def _holds(self, channel: int) -> bool:
        return self._gate.is_blocked(channel)

    def _arrive(self, channel: int, event: Event) -> GateEffects:
        effects = super()._arrive(channel, event)
        if self._limit_pages is None or sum(map(len, self._waiting.values())) <= self._limit_pages:
            return effects
        return (*effects, *self._deliver(self._gate.exceed_limit()))

    def handle(self, event: Record | AlignedEvent) -> GateEffects:
        """Take one typed event; returns its effects in order. An injection waits for no channel."""
        match event:
            case Barrier(channel, checkpoint) | Cancel(channel, checkpoint):
                require_checkpoint_id(checkpoint)
                return self._arrive(channel, event)
            case Record(channel) | EndOfPartition(channel):
                return self._arrive(channel, event)
            case Inject():
                return self._deliver(self._gate.handle(event))
            case _:
                assert_never(event)

    _events = events_of(Record | AlignedEvent)
