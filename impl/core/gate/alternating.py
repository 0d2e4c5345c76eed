"""The input gate that aligns first, and stops aligning when that takes too long.

While it aligns, aligned barriers block their channels as in `gate`, and announcements are kept. An
unaligned barrier, a barrier or an end that comes too late, or the timer end this phase: the kept
announcements are turned into requests to overtake, and the rest is as in `unaligned`. The timer fires
within `advance` only. Rules: UNAL-11 to UNAL-13, UNAL-15 to UNAL-20.
"""

from enum import Enum, auto

from impl.core.gate.profiles import GENERATIONS, NEWEST, Generation
from impl.core.gate.unaligned import Refused, Request, UnalignedGate
from impl.core.gate.unaligned_events import (
    Alignment,
    GateEffects,
    Prioritise,
    TriggerWithOptions,
)


class Phase(Enum):
    """How far the pending checkpoint has come."""

    WAITING = auto()
    """No barrier was read; it is announced, or nothing is pending."""
    ALIGNING = auto()
    HURRIED = auto()
    """No barrier was read, and the first one triggers."""
    PERSISTING = auto()


class AlternatingGate(UnalignedGate):
    """An unaligned gate with an aligned phase; `patience` is its time-out in milliseconds, 0 for none."""

    def __init__(
        self,
        channels: int,
        *,
        after_finish: bool = True,
        generation: Generation = GENERATIONS[NEWEST],
        patience: int = 0,
    ) -> None:
        super().__init__(channels, after_finish=after_finish, generation=generation)
        self._patience = patience
        self._phase = Phase.WAITING
        self._announced: set[int] = set()
        self._opened_at = 0
        self._alarm: int | None = None

    def advance(self, ms: int) -> GateEffects:
        """Virtual time passes; the timer fires if it is due."""
        said = super().advance(ms)
        if self._alarm is None or self._alarm > self._now:
            return said
        self._alarm = None
        if self._phase in (Phase.WAITING, Phase.ALIGNING):  # UNAL-16, UNAL-17
            assert self._opened_by is not None
            try:
                self._hurry(self._opened_by)
            except Refused as refused:
                self._fail(refused)
        return self._told()

    def _on_open(self, request: Request) -> None:
        self._opened_at = self._now
        if self._patience and request.alignment is Alignment.TIMEOUT:  # UNAL-15
            self._alarm = max(self._now, self._counted_from(request) + self._patience)

    def _note(self, channel: int) -> None:
        if self._phase in (Phase.WAITING, Phase.ALIGNING):
            self._announced.add(channel)  # UNAL-13: it counts for nothing yet
        else:
            super()._note(channel)

    def _count(self, channel: int, request: Request, *, sender_stops: bool) -> None:
        if self._phase in (Phase.HURRIED, Phase.PERSISTING):
            super()._count(channel, request, sender_stops=sender_stops)
            return
        if request.overtakes:  # UNAL-12
            self._hurry(request)
            super()._count(channel, request, sender_stops=False)
            return
        self._announced.discard(channel)
        if sender_stops:
            self._block(channel)
        if self._everyone_arrived():  # UNAL-11: complete is complete, however late
            self._complete()
        elif self._took_too_long(request):  # UNAL-18
            self._phase = Phase.ALIGNING
            self._hurry(request)
        else:
            self._phase = Phase.ALIGNING

    def _ended(self, channel: int) -> None:
        self._announced.discard(channel)
        if self._phase is not Phase.ALIGNING:
            super()._ended(channel)
            return
        opened_by = self._opened_by
        assert opened_by is not None
        if opened_by.overtakes:
            raise Refused(f"checkpoint {self._current} was announced as unaligned, and is aligned")
        if self._everyone_arrived():
            self._complete()
        elif self._took_too_long(opened_by):  # UNAL-19
            self._hurry(opened_by)

    def _hurry(self, request: Request) -> None:
        """Stop aligning: announced barriers shall overtake, and what has begun is triggered now."""
        self._said += [Prioritise(channel) for channel in sorted(self._announced)]
        self._announced.clear()
        if self._phase is Phase.ALIGNING:
            self._start(request)
        else:
            self._phase = Phase.HURRIED

    def _start(self, request: Request) -> None:
        super()._start(request)
        self._phase = Phase.PERSISTING

    def _complete(self) -> None:
        """All aligned: snapshot, then let go."""
        self._said.append(TriggerWithOptions(self._current))
        self._release()
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        self._phase = Phase.WAITING
        self._announced.clear()
        self._alarm = None  # UNAL-20

    def _took_too_long(self, request: Request) -> bool:
        if not self._patience or request.alignment is not Alignment.TIMEOUT:
            return False
        return self._now - self._counted_from(request) > self._patience

    def _counted_from(self, request: Request) -> int:
        return self._opened_at if self._generation.patience_from_first_word else request.timestamp
