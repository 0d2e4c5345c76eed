"""The unaligned and alternating gates of Flink 1.12: the first barrier decides whether a checkpoint aligns.

An aligned first barrier begins an alignment. An unaligned first barrier begins a snapshot with in-flight
input. A later barrier of the other kind, or a second barrier on a blocked channel, fails the task (UNAL-21).
Announcements and time-outs have no effect. In mode `unaligned` every barrier overtakes, whatever its options.
The rules are those of `unaligned`, as far as they hold for 1.12.
"""

from impl.core.gate.events import Abort, Resume
from impl.core.gate.profiles import Profile
from impl.core.gate.unaligned import Options, TaskFailedError, UnalignedGate
from impl.core.gate.unaligned_events import StartPersisting, StopPersisting, TriggerWithOptions


class FirstDecidesGate(UnalignedGate):
    """The gate of 1.12. `alternating`: its mode is alternating, else unaligned. Other arguments as in `Gate`.

    Only a gate of mode alternating aligns.
    """

    def __init__(
        self, channels: int, profile: Profile, after_finish: bool | None = None, *, alternating: bool
    ) -> None:
        super().__init__(channels, profile, after_finish)
        self._alternating = alternating
        self._overtaking = not alternating

    def _overtakes(self, options: Options) -> bool:
        """Whether a first barrier with these options makes its checkpoint unaligned."""
        return options.overtakes

    def _on_begin(self, options: Options) -> None:
        if self._alternating:
            self._overtaking = self._overtakes(options)

    def _read(self, channel: int, checkpoint: int, options: Options, *, sender_stops: bool) -> None:
        if self._is_late(checkpoint):
            if self._alternating and not self._overtakes(options):
                self._effects.append(Resume(channel))
            return
        self._begin(checkpoint, options)
        if self._alternating and self._overtakes(options) != self._overtaking:
            raise TaskFailedError(f"checkpoint {checkpoint} began with a barrier of the other kind")
        if channel in self._blocked:
            raise TaskFailedError(f"channel {channel} delivered the barrier of checkpoint {checkpoint} twice")
        self._repeated += channel in self._arrived
        self._arrived.add(channel)
        self._count(channel, options, sender_stops=sender_stops)

    def _count(self, channel: int, options: Options, *, sender_stops: bool) -> None:
        if not self._overtaking:
            self._block(channel)
            if self._all_arrived():
                self._release()
                self._effects.append(TriggerWithOptions(self._current))
                self._reset()
            return
        if not self._persisting:
            self._persisting = True
            trigger = TriggerWithOptions(self._current, unaligned=options.overtakes)
            self._effects += (StartPersisting(self._current), trigger)
        if self._all_arrived():
            self._finish()

    def _abort(self, reason: str) -> None:
        """If the last checkpoint was unaligned, the persisting stops, also when no checkpoint is pending."""
        if self._overtaking:
            self._effects.append(StopPersisting(self._current))
        self._release()
        self._effects.append(Abort(self._current, reason))
        self._reset()
