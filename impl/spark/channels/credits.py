"""A channel whose sender needs credits, so that a barrier can overtake the records that wait for credits.

A credit allows the sender to send one frame of records. The receiver grants a number of credits at first, and
more when it takes frames out of its queue. So its queue is bounded although it always reads its socket.
Frames without a credit wait at the sender, where an unaligned barrier overtakes them (UNAL-32). One thread of
the sender sends frames, and another one reads credits. The thread of the subtask never waits to send.
"""

import struct
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from impl.core.channel.events import LoseOutput, SenderEffect, StoreOutput
from impl.core.channel.sender import Barrier, ChannelSender, Payload
from impl.core.gate.unaligned_events import Alignment
from impl.spark.channels.frames import Connection, Kind, OvertakingBarrier, pack_barrier
from impl.spark.errors import ConnectionLostError, FrameError, SparkRuntimeError

_CREDITS = struct.Struct(">I")


def pack_credits(count: int) -> bytes:
    """The payload of a CREDIT frame that grants `count` frames of records."""
    return _CREDITS.pack(count)


def _ignore(checkpoint: int) -> None:
    """The default of `ChannelListener.barrier_left`, which does nothing."""


class ChannelListener(NamedTuple):
    """The callbacks that a channel calls from its own threads."""

    item_left: Callable[[], None]
    """Called after an item has left the queue, so that the channel may accept a frame of records again."""
    lost: Callable[[SparkRuntimeError], None]
    """Called when the connection to the receiver is lost."""
    barrier_left: Callable[[int], None] = _ignore
    """Called with a checkpoint whose barrier has left the queue before its alignment has timed out."""


class CreditedChannel:
    """The sender's end of one channel. `credits`: the number of frames that the receiver grants at first.

    `restored`: the frames of records that the restored checkpoint has for this end, oldest first.
    """

    def __init__(
        self,
        connection: Connection,
        credits: int,  # noqa: A002 - the standard term of flow control
        restored: Sequence[bytes],
        listener: ChannelListener,
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
        self._listener = listener
        self._changed = threading.Condition()
        for work in (self._send_all, self._read_credits):
            threading.Thread(target=work, name="channel", daemon=True).start()

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Append a frame to the queue. Raises `ConnectionLostError` if the connection is lost or closed."""
        with self._changed:
            if self._closed:
                raise ConnectionLostError(f"could not send {kind.name}: the channel is closed")
            self._end.write((kind, payload))
            self._waiting += kind is Kind.RECORDS
            self._changed.notify_all()

    def barrier(
        self, checkpoint: int, alignment: Alignment, timestamp: int, options: bytes = b""
    ) -> list[bytes] | None:
        """Send a barrier; returns the frames of records that it overtakes, oldest first.

        For an aligned barrier, returns no frames. For a barrier with a time-out, returns None, because the
        frames are not known yet. `options`: the packed options of a savepoint; empty for a checkpoint.
        """
        with self._changed:
            if self._closed:
                raise ConnectionLostError("could not send a barrier: the channel is closed")
            self._sent_with[checkpoint] = (timestamp, options)
            effects = self._end.barrier(checkpoint, alignment)
            self._changed.notify_all()
        return [] if alignment is Alignment.ALIGNED else _overtaken(effects, checkpoint)

    def time_out(self, checkpoint: int) -> list[bytes] | None:
        """If the barrier still waits, let it overtake, and return the overtaken frames; else return None."""
        with self._changed:
            effects = self._end.time_out(checkpoint)
            self._changed.notify_all()
        return _overtaken(effects, checkpoint)

    def give_up(self, checkpoint: int) -> None:
        """Abort the checkpoint. If its barrier still waits, it stays in order and overtakes nothing."""
        with self._changed:
            self._end.abort(checkpoint)

    @property
    def is_available(self) -> bool:
        """Whether fewer frames of records wait than the limit of the queue."""
        return self._waiting < self._capacity

    def drain(self) -> None:
        """Wait until all items are sent. Raises `ConnectionLostError` if the connection is lost before."""
        with self._changed:
            while self._sending or (self._end.first is not None and not self._closed):
                self._changed.wait()
            unsent = self._is_broken or self._end.first is not None
        if unsent:
            raise ConnectionLostError("could not send the waiting items: the channel is closed")

    def cut(self) -> None:
        """Break the connection, like a network failure."""
        self._connection.cut()

    def close(self) -> None:
        """Close the connection. Frames that still wait are lost."""
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
        """Wait until the first item may be sent, and return it; None when the channel is closed."""
        with self._changed:
            while not self._closed and not self._may_leave():
                self._changed.wait()
            if self._closed:
                return None
            item, effects = self._end.leave()
            self._end.resume()  # this sender is never blocked: the receiver blocks the channel by its reads
            if isinstance(item, Payload) and item.value[0] is Kind.RECORDS:  # type: ignore[index]
                self._credits -= 1
                self._waiting -= 1
            if isinstance(item, Payload) and item.value[0] is Kind.END_OF_PARTITION:  # type: ignore[index]
                self._ended = True
            self._sending = True
        self._listener.item_left()
        if effects and isinstance(item, Barrier):
            self._listener.barrier_left(item.checkpoint)
        return item

    def _packed(self, barrier: Barrier) -> bytes:
        timestamp, options = self._sent_with.pop(barrier.checkpoint)
        alignment = barrier.alignment.value
        return pack_barrier(OvertakingBarrier(barrier.checkpoint, alignment, timestamp, options))

    def _may_leave(self) -> bool:
        first = self._end.first
        if isinstance(first, Payload) and first.value[0] is Kind.RECORDS:  # type: ignore[index]
            return self._credits > 0
        return first is not None

    def _is_sent(self) -> None:
        with self._changed:
            self._sending = False
            self._changed.notify_all()

    def _read_credits(self) -> None:
        try:
            while True:
                kind, payload = self._connection.receive()
                if kind is not Kind.CREDIT or len(payload) != _CREDITS.size:
                    raise FrameError(f"expected credits, got {len(payload)} bytes of {kind.name}")
                with self._changed:
                    self._credits += _CREDITS.unpack(payload)[0]
                    self._changed.notify_all()
        except SparkRuntimeError as lost:
            self._gone(lost)

    def _gone(self, lost: SparkRuntimeError) -> None:
        with self._changed:
            known = self._closed or self._ended  # a receiver may close after it has read the end
            self._closed = True
            self._changed.notify_all()
        if not known:
            self._listener.lost(lost)


def _overtaken(effects: Sequence[SenderEffect], checkpoint: int) -> list[bytes] | None:
    """The frames of records that the barrier has overtaken, oldest first; None if they are not known yet."""
    for effect in effects:
        match effect:
            case StoreOutput():
                assert isinstance(effect.records, list)
                if effect.checkpoint == checkpoint:
                    return [payload for kind, payload in effect.records if kind is Kind.RECORDS]
            case LoseOutput():
                pass  # the effect belongs to an older checkpoint, which was aborted
            case _:
                assert_never(effect)
    return None
