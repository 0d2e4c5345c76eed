"""The unaligned and alternating gates of Flink 1.11: the type of a checkpoint decides, not its options.

Savepoints align and every other checkpoint overtakes, each kind as if it had a gate of its own. The one that
overtakes hears of no end: nobody is told to stop persisting, and a checkpoint whose barriers have all come
counts as pending until a newer one, an end, a cancellation or a savepoint takes its place (UNAL-29). Rules
UNAL-27 to UNAL-29, the others as far as they hold for 1.11.
"""

from typing import NoReturn

from impl.core.effects import INPUT_END_OF_STREAM, SUBSUMED
from impl.core.errors import ProtocolError
from impl.core.gate.events import Abort, Resume
from impl.core.gate.flink_1_12 import DecidingGate
from impl.core.gate.unaligned import Request
from impl.core.gate.unaligned_events import (
    Alignment,
    TriggerWithOptions,
)


class TypedGate(DecidingGate):
    """A gate that asks each checkpoint for its type; in mode unaligned all of them overtake."""

    def announce(
        self,
        channel: int,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> NoReturn:
        """Always refused: there are no announcements before 1.12."""
        self.require_open(channel)
        raise ProtocolError("this generation has no announcements; send the barrier itself")

    def _goes_ahead(self, request: Request) -> bool:
        return not request.savepoint  # UNAL-28

    def _open(self, checkpoint: int, request: Request) -> None:
        if self._pending and checkpoint != self._current:
            if self._alternating and self._goes_ahead(request) != self._overtaking:
                self._end(SUBSUMED, release_last=False)  # the other gate is cleared, then has it aborted
            elif self._is_whole():
                self._reset()
            else:
                self._end(SUBSUMED, release_last=True)
        super()._open(checkpoint, request)

    def _count(self, channel: int, request: Request, *, sender_stops: bool) -> None:
        if self._channels == 1 and not self._overtaking:
            self._said += (Resume(channel), TriggerWithOptions(self._current))
            self._reset()
            return
        super()._count(channel, request, sender_stops=sender_stops)

    def _finish(self) -> None:
        """UNAL-29: nobody notices that the last barrier has come."""

    def _give_up(self, reason: str) -> None:
        self._end(reason, release_last=reason == INPUT_END_OF_STREAM)

    def _end(self, reason: str, *, release_last: bool) -> None:
        """The pending checkpoint, or the cancelled one, is aborted before or after channels are let go."""
        if release_last:
            self._said.append(Abort(self._current, reason))
            self._release()
        else:
            self._release()
            self._said.append(Abort(self._current, reason))
        self._reset()

    def _is_whole(self) -> bool:
        return self._overtaking and self._everyone_arrived()

    def _everyone_arrived(self) -> bool:
        return len(self._arrived | self._closed) == self._channels  # a repeated barrier is no other's
