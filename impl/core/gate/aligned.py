"""The input gate of one task: alignment of checkpoint barriers, exactly-once (handler level).

Barrier n splits each channel into what belongs to checkpoint n and what does not. The gate blocks a
channel that has delivered barrier n until every open channel has, triggers the snapshot, and only then
lets the channels go. Rules: ALIGN-01 to ALIGN-16, ALIGN-18 to ALIGN-22, ALIGN-24, and SUB-01 at one gate.

The gate is told of barriers, cancellations and ends, at once and even for a blocked channel. It does not
see records, and it does not hold anything back: that is the part of `network`, or of the real channels
of a runtime, which obey `block` and `resume`.
"""

from typing import Any, assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.effects import (
    ALIGNMENT_LIMIT_EXCEEDED,
    INPUT_END_OF_STREAM,
    ON_CANCELLATION_BARRIER,
    SUBSUMED,
    Fail,
)
from impl.core.errors import ProtocolError
from impl.core.gate.events import (
    Abort,
    AlignedEvent,
    Barrier,
    Block,
    Cancel,
    EndOfPartition,
    Inject,
    Resume,
    Trigger,
)
from impl.core.gate.input_channels import Gate
from impl.core.gate.profiles import GENERATIONS, NEWEST, Generation
from impl.core.gate.unaligned_events import GateEffect, GateEffects


class InputGate(Gate):
    """The alignment over the channels 0 to `channels` - 1.

    `checkpoints_after_tasks_finish`: whether a channel that ends counts as aligned (ALIGN-15) or ends the
    alignment (ALIGN-14); left out, as the generation has it.
    """

    def __init__(
        self,
        channels: int,
        *,
        checkpoints_after_tasks_finish: bool | None = None,
        generation: Generation = GENERATIONS[NEWEST],
    ) -> None:
        super().__init__(channels)
        after_finish = checkpoints_after_tasks_finish
        self._after_finish = generation.after_finish if after_finish is None else after_finish
        self._generation = generation
        self._injected: set[int] = set()  # ALIGN-24: counted within one event, not blocked
        self._extra = 0  # ALIGN-21: repeated barriers that were counted
        self._current = -1
        self._pending = False
        # Effects are immutable, so one of each serves every alignment.
        self._block = tuple(Block(channel) for channel in range(channels))
        self._resume = tuple(Resume(channel) for channel in range(channels))

    @property
    def current(self) -> int:
        """The highest checkpoint begun or cancelled here, -1 before the first."""
        return self._current

    @property
    def pending(self) -> bool:
        """Whether barriers of `current` have come, but not from every open channel."""
        return self._pending

    def barrier(self, channel: int, checkpoint: int) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        if checkpoint > self._current and self._channels == 1 and self._generation.single_passes:
            self._current = checkpoint  # ALIGN-07
            return (*self._answer(channel), Trigger(checkpoint))
        effects: list[GateEffect] = []
        if checkpoint > self._current:
            if self._pending:  # ALIGN-03, SUB-01: the older alignment ends here, once
                effects += self._give_up(SUBSUMED)
            self._current = checkpoint
            self._pending = True
        elif checkpoint < self._current or not self._pending:  # ALIGN-04: late
            return self._answer(channel)
        elif channel in self._blocked and self._generation.refuses_repeats:  # ALIGN-20
            self._failed = True
            return (Fail(f"channel {channel} delivered the barrier of checkpoint {checkpoint} twice"),)
        elif channel in self._blocked and self._generation.counts_repeats:  # ALIGN-21
            self._extra += 1
        self._blocked.add(channel)  # ALIGN-16: a set, so a duplicate counts once
        effects.append(self._block[channel])
        if self._everyone_arrived():
            effects += self._complete()
        return tuple(effects)

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        if checkpoint < self._current or (checkpoint == self._current and not self._pending):
            return ()  # ALIGN-12
        # ALIGN-09 to ALIGN-11: of an older pending alignment nothing is said, the newer abort covers it.
        twice = self._pending and checkpoint > self._current and self._generation.subsumes_on_cancel
        effects = self._release()
        self._current = checkpoint
        if twice:
            effects.append(Abort(checkpoint, SUBSUMED))
        return (*effects, Abort(checkpoint, ON_CANCELLATION_BARRIER))

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        self.require_open(channel)
        self._closed.add(channel)
        if not self._pending:
            return ()  # ALIGN-13
        if not self._after_finish:  # ALIGN-14
            return tuple(self._give_up(INPUT_END_OF_STREAM))
        self._blocked.discard(channel)  # ALIGN-15: from now on it counts as closed
        return tuple(self._complete()) if self._everyone_arrived() else ()

    def inject(self, checkpoint: int) -> GateEffects:
        """ALIGN-24: the task is triggered, and each open channel in turn delivers without being blocked."""
        require_checkpoint_id(checkpoint)
        if not self._generation.injects:
            raise ProtocolError("tasks of this generation are not triggered themselves; send barriers")
        effects: list[GateEffect] = []
        for channel in range(self._channels):
            if channel not in self._closed:
                effects += self._count_injected(channel, checkpoint)
        self._injected.clear()
        return tuple(effects)

    def _count_injected(self, channel: int, checkpoint: int) -> list[GateEffect]:
        effects: list[GateEffect] = []
        if self._current < checkpoint:
            effects = self._give_up(SUBSUMED) if self._pending else []
            self._current, self._pending = checkpoint, True
        elif not (self._pending and self._current == checkpoint):
            return [self._resume[channel]]
        if channel not in self._blocked:
            self._injected.add(channel)
        return effects + self._complete() if self._everyone_arrived() else effects

    def exceed_limit(self) -> GateEffects:
        """ALIGN-22: too much would be stored for the pending alignment, so it is given up."""
        return (*self._release(), Abort(self._current, ALIGNMENT_LIMIT_EXCEEDED))

    def observe(self) -> dict[str, Any]:
        """`current`, `pending`, `blocked` and `closed` (sorted channels)."""
        return {
            "current": self._current,
            "pending": self._pending,
            "blocked": sorted(self._blocked),
            "closed": sorted(self._closed),
        }

    def _everyone_arrived(self) -> bool:
        """ALIGN-05: every channel is blocked by the pending checkpoint, or closed."""
        there = len(self._blocked) + len(self._injected) + self._extra + len(self._closed)
        return there == self._channels

    def _complete(self) -> list[GateEffect]:
        """ALIGN-06: the snapshot first, then let go; up to 1.12 the other way round."""
        trigger = Trigger(self._current)
        if self._generation.release_then_trigger:
            return [*self._release(), trigger]
        return [trigger, *self._release()]

    def _answer(self, channel: int) -> GateEffects:
        """Let a sender go on that stopped after its barrier; up to 1.10 none stops."""
        return (self._resume[channel],) if self._generation.answers_late else ()

    def _give_up(self, reason: str) -> list[GateEffect]:
        """ALIGN-03, ALIGN-14: let go and abort; up to 1.11 the other way round."""
        abort = Abort(self._current, reason)
        if self._generation.abort_then_release:
            return [abort, *self._release()]
        return [*self._release(), abort]

    def _release(self) -> list[GateEffect]:
        """End the pending alignment: every blocked channel goes on, in channel order (ALIGN-19)."""
        resumed: list[GateEffect] = [self._resume[channel] for channel in sorted(self._blocked)]
        self._blocked.clear()
        self._injected.clear()
        self._extra = 0
        self._pending = False
        return resumed

    def handle(self, event: AlignedEvent) -> GateEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
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

    _events = events_of(AlignedEvent)
