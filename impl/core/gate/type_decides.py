"""The unaligned and alternating gates of Flink 1.11: the type of a checkpoint decides whether it aligns.

Savepoints align and every other checkpoint overtakes (UNAL-28), as if each kind had a separate gate. The
overtaking gate does not notice that its last barrier has arrived. It does not stop the persisting, and the
checkpoint stays pending until a newer checkpoint, a cancellation or a channel's end ends it (UNAL-29).
Rules: UNAL-27 to UNAL-29, and the other rules of `unaligned` as far as they hold for 1.11.
"""

from impl.core.effects import INPUT_END_OF_STREAM, SUBSUMED
from impl.core.gate.events import Abort, Resume
from impl.core.gate.first_decides import FirstDecidesGate
from impl.core.gate.unaligned import Options
from impl.core.gate.unaligned_events import TriggerWithOptions


class TypeDecidesGate(FirstDecidesGate):
    """The gate of 1.11; arguments as in `FirstDecidesGate`."""

    def _overtakes(self, options: Options) -> bool:
        return not options.savepoint  # UNAL-28

    def _begin(self, checkpoint: int, options: Options) -> None:
        if self._pending and checkpoint != self._current:
            if self._alternating and self._overtakes(options) != self._overtaking:
                self._end(SUBSUMED, abort_first=False)
            elif self._has_every_barrier():
                self._reset()
            else:
                self._end(SUBSUMED, abort_first=True)
        super()._begin(checkpoint, options)

    def _count(self, channel: int, options: Options, *, sender_stops: bool) -> None:
        if self._channels == 1 and not self._overtaking:
            self._effects += (Resume(channel), TriggerWithOptions(self._current))
            self._reset()
            return
        super()._count(channel, options, sender_stops=sender_stops)

    def _finish(self) -> None:
        """The last barrier has no effect (UNAL-29)."""

    def _abort(self, reason: str) -> None:
        self._end(reason, abort_first=reason == INPUT_END_OF_STREAM)

    def _end(self, reason: str, *, abort_first: bool) -> None:
        """Abort `current`, before or after its blocked channels are resumed."""
        if abort_first:
            self._effects.append(Abort(self._current, reason))
            self._release()
        else:
            self._release()
            self._effects.append(Abort(self._current, reason))
        self._reset()

    def _has_every_barrier(self) -> bool:
        return self._overtaking and self._all_arrived()

    def _all_arrived(self) -> bool:
        return len(self._arrived | self._closed) == self._channels  # a repeated barrier does not count
