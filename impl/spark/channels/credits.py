"""A channel whose sender waits for credits, so that a barrier can overtake what waits.

The receiver always reads its socket, and its queue is bounded all the same: it has granted so many frames of
records and grants more as it takes them. What has no credit waits here, and what waits here an unaligned
barrier goes past (UNAL-32). One thread sends, one hears of credits; the subtask never waits to send.
"""

import struct
import threading
from collections.abc import Callable, Sequence

from impl.core import Effects
from impl.core.channel.events import LoseOutput, StoreOutput
from impl.core.channel.sender import Barrier, ChannelSender, Payload
from impl.core.gate.unaligned_events import Alignment
from impl.spark.channels.frames import Connection, Kind, OvertakingBarrier, pack_barrier
from impl.spark.errors import ConnectionLostError, FrameError, SparkRuntimeError, UnknownEffectError

_CREDITS = struct.Struct(">I")


def pack_credits(count: int) -> bytes:
    """So many frames of records may come, as the payload of a CREDIT frame."""
    return _CREDITS.pack(count)


class CreditedChannel:
    """The sender's end of one channel to a subtask that grants `credits` frames to begin with.

    `restored`: frames of records that a checkpoint has of this end, oldest first. `wake` is called when
    there is room again, `lost` when the receiver is gone, `left` when a barrier with a time-out left in time.
    """

    def __init__(
        self,
        connection: Connection,
        credits: int,  # noqa: A002 - the word of flow control
        restored: Sequence[bytes],
        wake: Callable[[], None],
        lost: Callable[[SparkRuntimeError], None],
        left: Callable[[int], None] = lambda checkpoint: None,
    ) -> None:
        self._connection = connection
        self._capacity = credits
        self._credits = credits
        waiting: list[object] = [(Kind.RECORDS, frame) for frame in restored]
        self._end = ChannelSender(waiting, converts_timed_out=True, urgent_pass_block=True)
        self._sent_with: dict[int, tuple[int, bytes]] = {}
        self._waiting = len(restored)
        self._sending = False
        self._closed = False
        self._ended = False
        self._is_broken = False
        self._wake = wake
        self._lost = lost
        self._left = left
        self._changed = threading.Condition()
        for work in (self._send_all, self._hear_of_credits):
            threading.Thread(target=work, name="channel", daemon=True).start()

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """The frame waits for its turn; raises `ConnectionLostError` if the receiver is gone."""
        with self._changed:
            if self._closed:
                raise ConnectionLostError(f"could not send {kind.name}: the channel is closed")
            self._end.write((kind, payload))
            self._waiting += kind is Kind.RECORDS
            self._changed.notify_all()

    def barrier(
        self, checkpoint: int, alignment: Alignment, timestamp: int, order: bytes = b""
    ) -> list[bytes] | None:
        """Send a barrier; answers the frames of records that it passes, oldest first.

        One with a time-out passes none for now, and what it may pass is not known yet: None. One that is
        aligned passes none. `order`: a savepoint's.
        """
        with self._changed:
            if self._closed:
                raise ConnectionLostError("could not send a barrier: the channel is closed")
            self._sent_with[checkpoint] = (timestamp, order)
            said = self._end.barrier(checkpoint, alignment)
            self._changed.notify_all()
        return [] if alignment is Alignment.ALIGNED else _part(said, checkpoint)

    def time_out(self, checkpoint: int) -> list[bytes] | None:
        """The barrier, if it still waits, goes past what is before it; answers that, None if it has left."""
        with self._changed:
            said = self._end.time_out(checkpoint)
            self._changed.notify_all()
        return _part(said, checkpoint)

    def give_up(self, checkpoint: int) -> None:
        """The barrier waits for its turn; nobody asks any more for what it would have passed."""
        with self._changed:
            self._end.abort(checkpoint)

    @property
    def has_room(self) -> bool:
        """Another frame of records may be written without growing beyond bounds."""
        return self._waiting < self._capacity

    def drain(self) -> None:
        """Wait until everything is sent; raises `ConnectionLostError` if the receiver is gone before."""
        with self._changed:
            while self._sending or (self._end.first is not None and not self._closed):
                self._changed.wait()
            unsent = self._is_broken or self._end.first is not None
        if unsent:
            raise ConnectionLostError("could not send what waited: the channel is closed")

    def cut(self) -> None:
        """The connection breaks."""
        self._connection.cut()

    def close(self) -> None:
        """Nothing is sent any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._connection.close()

    # ------------------------------------------------------------ the two threads

    def _send_all(self) -> None:
        try:
            while (item := self._next()) is not None:
                if isinstance(item, Barrier):
                    self._connection.send(Kind.BARRIER, self._packed(item))
                else:
                    self._connection.send(*item.value)  # type: ignore[misc]
                self._is_sent()
        except SparkRuntimeError as lost:
            self._is_broken = True
            self._is_sent()
            self._gone(lost)

    def _next(self) -> Payload | Barrier | None:
        """Wait for an item that may leave; None when the channel is closed."""
        with self._changed:
            while not self._closed and not self._may_leave():
                self._changed.wait()
            if self._closed:
                return None
            item, said = self._end.leave()
            self._end.resume()  # the receiver blocks what it does not want to read
            if isinstance(item, Payload) and item.value[0] is Kind.RECORDS:  # type: ignore[index]
                self._credits -= 1
                self._waiting -= 1
            if isinstance(item, Payload) and item.value[0] is Kind.END_OF_PARTITION:  # type: ignore[index]
                self._ended = True
            self._sending = True
        self._wake()
        if said and isinstance(item, Barrier):
            self._left(item.checkpoint)
        return item

    def _packed(self, barrier: Barrier) -> bytes:
        told = self._sent_with.pop(barrier.checkpoint)
        return pack_barrier(OvertakingBarrier(barrier.checkpoint, barrier.alignment.value, *told))

    def _may_leave(self) -> bool:
        first = self._end.first
        if isinstance(first, Payload) and first.value[0] is Kind.RECORDS:  # type: ignore[index]
            return self._credits > 0
        return first is not None

    def _is_sent(self) -> None:
        with self._changed:
            self._sending = False
            self._changed.notify_all()

    def _hear_of_credits(self) -> None:
        try:
            while True:
                kind, payload = self._connection.receive()
                if kind is not Kind.CREDIT or len(payload) != _CREDITS.size:
                    raise FrameError(f"expected credits, {len(payload)} bytes of {kind.name} came")
                with self._changed:
                    self._credits += _CREDITS.unpack(payload)[0]
                    self._changed.notify_all()
        except SparkRuntimeError as lost:
            self._gone(lost)

    def _gone(self, lost: SparkRuntimeError) -> None:
        with self._changed:
            known = self._closed or self._ended  # a receiver that has read the end may leave
            self._closed = True
            self._changed.notify_all()
        if not known:
            self._lost(lost)


def _part(said: Effects, checkpoint: int) -> list[bytes] | None:
    """The frames of records that the barrier has passed; None if that is not told."""
    for effect in said:
        if isinstance(effect, LoseOutput):
            continue  # of an older checkpoint, which has been given up
        if not isinstance(effect, StoreOutput) or not isinstance(effect.records, list):
            raise UnknownEffectError.of("sending end of a channel", effect)
        if effect.checkpoint == checkpoint:
            return [payload for kind, payload in effect.records if kind is Kind.RECORDS]
    return None
