"""The input gate that aligns checkpoint barriers (mode exactly-once, handler level).

In each channel, the records before barrier n belong to checkpoint n, and the records after it do not. The
gate blocks a channel that has delivered barrier n until every open channel has delivered it. It then triggers
the snapshot and resumes the channels. Rules: ALIGN-01 to ALIGN-16, ALIGN-18 to ALIGN-22, ALIGN-24, and SUB-01
at one gate.

The gate receives barriers, cancellation markers and ends at once, also on a blocked channel. It does not see
records, and it does not hold back items. `polled_gate`, or the channels of a runtime, hold back the items.
"""

from typing import Any

from impl.core.component import NO_CHECKPOINT, events_of, require_checkpoint_id
from impl.core.effects import (
    ALIGNMENT_LIMIT_EXCEEDED,
    INPUT_END_OF_STREAM,
    ON_CANCELLATION_BARRIER,
    SUBSUMED,
    Fail,
)
from impl.core.errors import ProtocolError
from impl.core.gate.events import Abort, AlignedEvent, Block, Resume, Trigger
from impl.core.gate.input_channels import Gate
from impl.core.gate.profiles import NEWEST, PROFILES, Profile
from impl.core.gate.unaligned_events import GateEffect, GateEffects


class AlignedGate(Gate[AlignedEvent]):
    """The alignment over the channels 0 to `channels` - 1; arguments as in `Gate`.

    With `after_finish`, an ended channel counts as aligned (ALIGN-15). Without it, the end of a channel
    aborts the alignment (ALIGN-14).
    """

    def __init__(
        self, channels: int, profile: Profile = PROFILES[NEWEST], after_finish: bool | None = None
    ) -> None:
        super().__init__(channels, profile, after_finish)
        self._injected: set[int] = set()  # ALIGN-24: channels that count within one event without a block
        self._repeated = 0  # ALIGN-21
        self._current = NO_CHECKPOINT
        self._pending = False
        # Effects are immutable, so every alignment uses the same objects.
        self._block = tuple(Block(channel) for channel in range(channels))
        self._resume = tuple(Resume(channel) for channel in range(channels))

    @property
    def current(self) -> int:
        """The highest checkpoint id begun or cancelled; -1 before the first."""
        return self._current

    @property
    def pending(self) -> bool:
        """Whether the gate awaits further barriers of `current`."""
        return self._pending

    def barrier(self, channel: int, checkpoint: int) -> GateEffects:
        """The barrier of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        if checkpoint > self._current and self._channels == 1 and self._profile.passes_alone:
            self._current = checkpoint  # ALIGN-07
            return (*self._resume_late(channel), Trigger(checkpoint))
        effects: list[GateEffect] = []
        if checkpoint > self._current:
            if self._pending:  # ALIGN-03, SUB-01
                effects += self._give_up(SUBSUMED)
            self._current = checkpoint
            self._pending = True
        elif checkpoint < self._current or not self._pending:  # ALIGN-04: late
            return self._resume_late(channel)
        elif channel in self._blocked and self._profile.repeats_fail:  # ALIGN-20
            self._failed = True
            return (Fail(f"channel {channel} delivered the barrier of checkpoint {checkpoint} twice"),)
        elif channel in self._blocked and self._profile.repeats_count:  # ALIGN-21
            self._repeated += 1
        self._blocked.add(channel)  # ALIGN-16: a set, so a duplicate counts once
        effects.append(self._block[channel])
        if self._all_arrived():
            effects += self._complete()
        return tuple(effects)

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation marker of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        if checkpoint < self._current or (checkpoint == self._current and not self._pending):
            return ()  # ALIGN-12
        # ALIGN-09 to ALIGN-11: there is no separate abort for an older pending alignment.
        twice = self._pending and checkpoint > self._current and self._profile.cancels_twice
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
        return tuple(self._complete()) if self._all_arrived() else ()

    def inject(self, checkpoint: int) -> GateEffects:
        """The task itself is triggered: each open channel in turn counts without a block (ALIGN-24).

        Raises ProtocolError if the generation has no injections.
        """
        require_checkpoint_id(checkpoint)
        if not self._profile.injects:  # in a generation with injections no barrier fails this gate
            raise ProtocolError("this generation triggers only sources; send barriers on the channels")
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
        return effects + self._complete() if self._all_arrived() else effects

    def exceed_limit(self) -> GateEffects:
        """The store of waiting items is full: the pending alignment is aborted (ALIGN-22)."""
        return (*self._release(), Abort(self._current, ALIGNMENT_LIMIT_EXCEEDED))

    def observe(self) -> dict[str, Any]:
        """The state fields `current`, `pending`, `blocked` and `closed`."""
        return {
            "current": self._current,
            "pending": self._pending,
            "blocked": sorted(self._blocked),
            "closed": sorted(self._closed),
        }

    def _all_arrived(self) -> bool:
        """Whether every channel is blocked by the pending checkpoint or has ended (ALIGN-05)."""
        arrived = len(self._blocked) + len(self._injected) + self._repeated + len(self._closed)
        return arrived == self._channels

    def _complete(self) -> list[GateEffect]:
        """Trigger, then resume (ALIGN-06); up to 1.12 resume, then trigger."""
        trigger = Trigger(self._current)
        if self._profile.triggers_first:
            return [trigger, *self._release()]
        return [*self._release(), trigger]

    def _resume_late(self, channel: int) -> GateEffects:
        """Resume a channel whose sender stopped after its barrier; up to 1.10 no sender stops."""
        return (self._resume[channel],) if self._profile.resumes_late else ()

    def _give_up(self, reason: str) -> list[GateEffect]:
        """Resume, then abort (ALIGN-03, ALIGN-14); up to 1.11 abort, then resume."""
        abort = Abort(self._current, reason)
        if self._profile.releases_first:
            return [*self._release(), abort]
        return [abort, *self._release()]

    def _release(self) -> list[GateEffect]:
        """End the pending alignment and resume every blocked channel, in channel order (ALIGN-19)."""
        resumed: list[GateEffect] = [self._resume[channel] for channel in sorted(self._blocked)]
        self._blocked.clear()
        self._injected.clear()
        self._repeated = 0
        self._pending = False
        return resumed

    _events = events_of(AlignedEvent)
