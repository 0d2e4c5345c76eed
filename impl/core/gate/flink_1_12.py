"""The unaligned and alternating gates of Flink 1.12: the first barrier of a checkpoint decides for all.

An aligned first barrier makes it an alignment, an unaligned one a snapshot with in-flight input; a later
barrier of the other kind, or a second one on a blocked channel, is refused (UNAL-21). Nothing is announced
and nothing times out. In mode `unaligned` every barrier overtakes, whatever it asks for. Who decided last
also answers a cancellation while nothing is pending. Rules as in `unaligned`, as far as they hold for 1.12.
"""

from impl.core.gate.events import Abort, Resume
from impl.core.gate.profiles import Generation
from impl.core.gate.unaligned import Refused, Request, UnalignedGate
from impl.core.gate.unaligned_events import (
    Alignment,
    GateEffects,
    StartPersisting,
    StopPersisting,
    TriggerWithOptions,
)


class DecidingGate(UnalignedGate):
    """A gate that asks the first barrier of each checkpoint; `alternating`: whether its answer counts."""

    def __init__(
        self, channels: int, *, after_finish: bool, generation: Generation, alternating: bool
    ) -> None:
        super().__init__(channels, after_finish=after_finish, generation=generation)
        self._alternating = alternating
        self._overtaking = not alternating

    def announce(
        self,
        channel: int,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> GateEffects:
        """Nobody listens to announcements yet."""
        self.require_open(channel)
        self.request(checkpoint, alignment, savepoint, timestamp)
        return ()

    def _goes_ahead(self, request: Request) -> bool:
        """Whether a first barrier decides for overtaking."""
        return request.overtakes

    def _on_open(self, request: Request) -> None:
        if self._alternating:
            self._overtaking = self._goes_ahead(request)

    def _read(self, channel: int, checkpoint: int, request: Request, *, sender_stops: bool) -> None:
        if self._is_over(checkpoint):
            if self._alternating and not self._goes_ahead(request):
                self._said.append(Resume(channel))
            return
        self._open(checkpoint, request)
        if self._alternating and self._goes_ahead(request) != self._overtaking:
            raise Refused(f"checkpoint {checkpoint} began with a barrier of the other kind")
        if channel in self._blocked:
            raise Refused(f"channel {channel} delivered the barrier of checkpoint {checkpoint} twice")
        self._repeated += channel in self._arrived
        self._arrived.add(channel)
        self._count(channel, request, sender_stops=sender_stops)

    def _count(self, channel: int, request: Request, *, sender_stops: bool) -> None:
        if not self._overtaking:
            self._block(channel)
            if self._everyone_arrived():
                self._release()
                self._said.append(TriggerWithOptions(self._current))
                self._reset()
            return
        if not self._persisting:
            self._persisting = True
            trigger = TriggerWithOptions(self._current, unaligned=request.overtakes)
            self._said += (StartPersisting(self._current), trigger)
        if self._everyone_arrived():
            self._finish()

    def _give_up(self, reason: str) -> None:
        """Who overtook last is told to stop, whether something is pending or not."""
        if self._overtaking:
            self._said.append(StopPersisting(self._current))
        self._release()
        self._said.append(Abort(self._current, reason))
        self._reset()
