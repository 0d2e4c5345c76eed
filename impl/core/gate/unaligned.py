"""The input gate that never aligns: the first barrier triggers, the last barrier ends the persisting.

The snapshot does not wait for slow channels, so it must contain the records that they deliver before their
barriers. From the first barrier on, the task persists the in-flight input of each channel until the barrier
of that channel arrives. Rules: UNAL-01 to UNAL-10, UNAL-13, UNAL-14, UNAL-21, UNAL-22. This is the handler
level; records and the items of blocked channels belong to `polled_unaligned_gate`.

`AlternatingGate` (module `alternating`) aligns first. A comment below marks the methods that it overrides.
"""

from typing import Any, NamedTuple

from impl.core.component import NO_CHECKPOINT, events_of, require_checkpoint_id
from impl.core.effects import INPUT_END_OF_STREAM, ON_CANCELLATION_BARRIER, SUBSUMED, Fail
from impl.core.errors import ProtocolError
from impl.core.gate.events import Abort, Block, Resume
from impl.core.gate.input_channels import Gate
from impl.core.gate.profiles import NEWEST, PROFILES, Profile
from impl.core.gate.unaligned_events import (
    Alignment,
    GateEffect,
    GateEffects,
    Prioritise,
    StartPersisting,
    StopPersisting,
    TriggerWithOptions,
    UnalignedEvent,
)

OptionFields = tuple[Alignment, bool, int | None]
"""The options of a barrier on the wire: its alignment, whether it is a savepoint, and its timestamp.

The timestamp is in virtual milliseconds; None: the present.
"""


class Options(NamedTuple):
    """The options of one barrier."""

    alignment: Alignment
    savepoint: bool
    timestamp: int

    @property
    def overtakes(self) -> bool:
        """Whether the barrier was sent unaligned, so that the sender has not stopped after it."""
        return self.alignment is Alignment.UNALIGNED


class TaskFailedError(Exception):
    """The gate must fail the task (UNAL-21). The method of the event turns it into the effect `fail`."""


class UnalignedGate(Gate[UnalignedEvent]):
    """A gate whose channels do not wait for each other. Arguments as in `Gate`."""

    def __init__(
        self, channels: int, profile: Profile = PROFILES[NEWEST], after_finish: bool | None = None
    ) -> None:
        super().__init__(channels, profile, after_finish)
        self._now = 0
        self._current = NO_CHECKPOINT
        self._pending = False
        self._persisting = False
        self._begun_by: Options | None = None
        self._arrived: set[int] = set()
        self._repeated = 0
        self._effects: list[GateEffect] = []

    # ------------------------------------------------------------ queries

    def is_persisted(self, channel: int) -> bool:
        """Whether a record that the channel delivers now belongs to the running snapshot (UNAL-23)."""
        return self._persisting and channel not in self._arrived  # an ended channel delivers no record

    def options(
        self, checkpoint: int, alignment: Alignment, savepoint: bool, timestamp: int | None
    ) -> Options:
        """The options of an event; the timestamp None becomes the present virtual time.

        Raises ProtocolError if the id or the timestamp is negative, or a savepoint is unaligned.
        """
        require_checkpoint_id(checkpoint)
        if savepoint and alignment is Alignment.UNALIGNED:
            raise ProtocolError("a savepoint is never unaligned; send another alignment with it")
        if timestamp is not None and timestamp < 0:
            raise ProtocolError(f"a timestamp is an int from 0 on, got {timestamp}; time begins at 0")
        return Options(alignment, savepoint, self._now if timestamp is None else timestamp)

    # ------------------------------------------------------------ events

    def barrier(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The task reads the barrier of `checkpoint` on `channel`."""
        self.require_open(channel)
        read = self.options(checkpoint, *options)
        try:
            self._read(channel, checkpoint, read, sender_stops=not read.overtakes)
        except TaskFailedError as failed:
            self._fail(failed)
        return self._take_effects()

    def announce(self, channel: int, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The announcement of a barrier of `checkpoint` arrives on `channel`."""
        self.require_open(channel)
        self.require_announcements()
        read = self.options(checkpoint, *options)
        if not self._profile.first_decides and not self._is_late(checkpoint):  # UNAL-05
            self._begin(checkpoint, read)
            self._on_announcement(channel)
        return self._take_effects()

    def require_announcements(self) -> None:
        """Raises ProtocolError if the generation has no announcements."""
        if self._profile.type_decides:
            raise ProtocolError("this generation has no announcements; send the barrier itself")

    def inject(self, checkpoint: int, *options: *OptionFields) -> GateEffects:
        """The task itself is triggered; no sender has sent a barrier, so no channel is blocked (UNAL-22)."""
        self.require_working()
        if not self._profile.injects:
            raise ProtocolError("this generation triggers only sources; send barriers on the channels")
        read = self.options(checkpoint, *options)
        try:
            for channel in range(self._channels):
                if channel not in self._closed:
                    self._read(channel, checkpoint, read, sender_stops=False)
        except TaskFailedError as failed:
            self._fail(failed)
        return self._take_effects()

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The task reads the cancellation marker of `checkpoint` on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        counted = checkpoint == self._current and self._arrived
        if checkpoint > self._current or counted:  # UNAL-06; else UNAL-07
            self._current = checkpoint
            self._abort(ON_CANCELLATION_BARRIER)
        return self._take_effects()

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        self.require_open(channel)
        self._closed.add(channel)
        if self._pending and not self._after_finish:
            self._abort(INPUT_END_OF_STREAM)  # UNAL-08
        elif self._pending:
            self._arrived.add(channel)  # UNAL-09: an ended channel counts
            self._blocked.discard(channel)
            try:
                self._on_end(channel)
            except TaskFailedError as failed:
                self._fail(failed)
        return self._take_effects()

    def advance(self, ms: int) -> GateEffects:
        """Virtual time passes, in milliseconds. Raises ProtocolError if `ms` is negative."""
        self.require_working()
        if ms < 0:
            raise ProtocolError(f"time only passes, got {ms} ms; send an int from 0 on")
        self._now += ms
        return self._take_effects()

    def observe(self) -> dict[str, Any]:
        """The state fields `current`, `pending`, `blocked`, `closed`, `arrived` and `persisting`."""
        return {
            "current": self._current,
            "pending": self._pending,
            "blocked": sorted(self._blocked),
            "closed": sorted(self._closed),
            "arrived": sorted(self._arrived),
            "persisting": sorted(set(range(self._channels)) - self._arrived - self._closed)
            if self._persisting
            else [],
        }

    # ------------------------------------------------------------ an alternating gate overrides these

    def _on_begin(self, options: Options) -> None:
        """A checkpoint has begun."""

    def _on_announcement(self, channel: int) -> None:
        """The pending checkpoint is announced on a channel: its barrier overtakes at once (UNAL-14)."""
        self._effects.append(Prioritise(channel))

    def _count(self, channel: int, options: Options, *, sender_stops: bool) -> None:
        """A barrier of the pending checkpoint has arrived on a channel."""
        if sender_stops:
            self._block(channel)
        if not self._persisting:
            self._start(options)
        if self._all_arrived():
            self._finish()

    def _on_end(self, channel: int) -> None:
        """A channel has ended and counts for the pending checkpoint."""
        if not self._all_arrived():
            return
        if self._persisting:
            self._finish()
        else:
            self._reset()  # the checkpoint was only announced

    # ------------------------------------------------------------ steps

    def _is_late(self, checkpoint: int) -> bool:
        return checkpoint < self._current or (checkpoint == self._current and not self._pending)

    def _read(self, channel: int, checkpoint: int, options: Options, *, sender_stops: bool) -> None:
        if self._is_late(checkpoint):  # UNAL-05: a sender that stopped may continue
            if not options.overtakes:
                self._effects.append(Resume(channel))
            return
        self._begin(checkpoint, options)
        if channel in self._arrived and self._profile.repeats_count:
            self._repeated += 1  # ALIGN-21
        self._arrived.add(channel)
        self._count(channel, options, sender_stops=sender_stops)

    def _begin(self, checkpoint: int, options: Options) -> None:
        """Begin the checkpoint at its first barrier or announcement; it subsumes a pending one (UNAL-04)."""
        if checkpoint == self._current:
            return
        if self._pending:
            self._abort(SUBSUMED)
        self._current = checkpoint
        self._pending = True
        self._begun_by = options
        self._on_begin(options)

    def _start(self, options: Options) -> None:
        """Persist in-flight input, then trigger (UNAL-01).

        Raises TaskFailedError if the checkpoint must be aligned (UNAL-21).
        """
        may_overtake = not options.savepoint or self._profile.savepoints_overtake
        if options.alignment is Alignment.FORCED_ALIGNED or not may_overtake:
            raise TaskFailedError(f"checkpoint {self._current} must be aligned and cannot continue unaligned")
        self._persisting = True
        self._effects += (StartPersisting(self._current), TriggerWithOptions(self._current, unaligned=True))

    def _finish(self) -> None:
        """All in-flight data is persisted (UNAL-03)."""
        self._effects.append(StopPersisting(self._current))
        self._release()
        self._reset()

    def _abort(self, reason: str) -> None:
        """Abort `current`; afterwards no checkpoint is pending."""
        if self._persisting:
            self._effects.append(StopPersisting(self._current))
        self._release()
        self._effects.append(Abort(self._current, reason))
        self._reset()

    def _reset(self) -> None:
        """No checkpoint is pending."""
        self._pending = False
        self._persisting = False
        self._begun_by = None
        self._arrived.clear()
        self._repeated = 0

    def _block(self, channel: int) -> None:
        self._blocked.add(channel)  # UNAL-10
        self._effects.append(Block(channel))

    def _release(self) -> None:
        self._effects += [Resume(channel) for channel in sorted(self._blocked)]
        self._blocked.clear()

    def _all_arrived(self) -> bool:
        missing = self._channels - len(self._arrived | self._closed)
        return missing <= self._repeated

    def _fail(self, failed: TaskFailedError) -> None:
        self._failed = True
        self._effects.append(Fail(str(failed)))

    def _take_effects(self) -> GateEffects:
        """Remove and return the collected effects."""
        effects, self._effects = tuple(self._effects), []
        return effects

    _events = events_of(UnalignedEvent)
