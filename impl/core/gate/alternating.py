"""The input gate that aligns first, and lets barriers overtake when the alignment takes too long.

In the first phase, an aligned barrier blocks its channel as in `aligned`, and the gate remembers
announcements. This phase ends at an unaligned barrier, at a barrier or an end of a channel after the
time-out, or when the timer fires. The announced barriers then overtake, and the gate continues as in
`unaligned`. The timer fires only within `advance`. Rules: UNAL-11 to UNAL-13, UNAL-15 to UNAL-20.
"""

from enum import Enum, auto

from impl.core.gate.profiles import NEWEST, PROFILES, Profile
from impl.core.gate.unaligned import Options, TaskFailedError, UnalignedGate
from impl.core.gate.unaligned_events import Alignment, GateEffects, Prioritise, TriggerWithOptions


class Phase(Enum):
    """The phase of the pending checkpoint at the gate."""

    WAITING = auto()
    """The gate has read no barrier: the checkpoint is only announced, or no checkpoint is pending."""
    ALIGNING = auto()
    OVERTAKING = auto()
    """The alignment was given up before the gate read a barrier. The first barrier triggers the snapshot."""
    PERSISTING = auto()


class AlternatingGate(UnalignedGate):
    """An unaligned gate with an aligned phase.

    `timeout_ms`: the time limit of an alignment, 0 for none. Other arguments as in `Gate`.
    """

    def __init__(
        self,
        channels: int,
        profile: Profile = PROFILES[NEWEST],
        after_finish: bool | None = None,
        timeout_ms: int = 0,
    ) -> None:
        super().__init__(channels, profile, after_finish)
        self._timeout_ms = timeout_ms
        self._phase = Phase.WAITING
        self._announced: set[int] = set()
        self._begun_at = 0
        self._timer: int | None = None

    def advance(self, ms: int) -> GateEffects:
        """Virtual time passes, in milliseconds; a timer that is due fires."""
        effects = super().advance(ms)
        if self._timer is None or self._timer > self._now:
            return effects
        self._timer = None
        if self._phase in (Phase.WAITING, Phase.ALIGNING):  # UNAL-16, UNAL-17
            assert self._begun_by is not None
            try:
                self._give_up_alignment(self._begun_by)
            except TaskFailedError as failed:
                self._fail(failed)
        return self._take_effects()

    def _on_begin(self, options: Options) -> None:
        self._begun_at = self._now
        if self._timeout_ms and options.alignment is Alignment.TIMEOUT:  # UNAL-15
            self._timer = max(self._now, self._timed_from(options) + self._timeout_ms)

    def _on_announcement(self, channel: int) -> None:
        if self._phase in (Phase.WAITING, Phase.ALIGNING):
            self._announced.add(channel)  # UNAL-13: an announcement does not count
        else:
            super()._on_announcement(channel)

    def _count(self, channel: int, options: Options, *, sender_stops: bool) -> None:
        if self._phase in (Phase.OVERTAKING, Phase.PERSISTING):
            super()._count(channel, options, sender_stops=sender_stops)
            return
        if options.overtakes:  # UNAL-12
            self._give_up_alignment(options)
            super()._count(channel, options, sender_stops=False)
            return
        self._announced.discard(channel)
        if sender_stops:
            self._block(channel)
        if self._all_arrived():  # UNAL-11: a complete alignment triggers, however late it is
            self._complete()
        elif self._is_timed_out(options):  # UNAL-18
            self._phase = Phase.ALIGNING
            self._give_up_alignment(options)
        else:
            self._phase = Phase.ALIGNING

    def _on_end(self, channel: int) -> None:
        self._announced.discard(channel)
        if self._phase is not Phase.ALIGNING:
            super()._on_end(channel)
            return
        begun_by = self._begun_by
        assert begun_by is not None
        if begun_by.overtakes:
            raise TaskFailedError(f"checkpoint {self._current} was announced as unaligned, but aligns")
        if self._all_arrived():
            self._complete()
        elif self._is_timed_out(begun_by):  # UNAL-19
            self._give_up_alignment(begun_by)

    def _give_up_alignment(self, options: Options) -> None:
        """The announced barriers overtake; if a barrier has been read, the snapshot starts now."""
        self._effects += [Prioritise(channel) for channel in sorted(self._announced)]
        if self._phase is Phase.ALIGNING:
            self._start(options)
        else:
            self._phase = Phase.OVERTAKING

    def _start(self, options: Options) -> None:
        super()._start(options)
        self._phase = Phase.PERSISTING

    def _complete(self) -> None:
        """All channels are aligned: trigger, then resume them."""
        self._effects.append(TriggerWithOptions(self._current))
        self._release()
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        self._phase = Phase.WAITING
        self._announced.clear()
        self._timer = None  # UNAL-20

    def _is_timed_out(self, options: Options) -> bool:
        if not self._timeout_ms or options.alignment is not Alignment.TIMEOUT:
            return False
        return self._now - self._timed_from(options) > self._timeout_ms

    def _timed_from(self, options: Options) -> int:
        """The virtual time from which the time-out counts."""
        return self._begun_at if self._profile.times_from_first else options.timestamp
