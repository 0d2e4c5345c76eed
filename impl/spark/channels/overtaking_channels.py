"""Inbox and outputs of a subtask whose barriers overtake. They use the channel ends of `impl.core`.

The checkpoint stores the frames of records that a barrier overtakes here (UNAL-32, UNAL-34), and a restore
begins with these frames (UNAL-36). The checkpoint stores no cancellation markers and no ends of data, because
they are sent again after a restore.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import assert_never

from impl.core.channel.events import AnnouncementRead, BarrierRead, DeclineStart, RecordRead, StoreInput
from impl.core.channel.receiver import ChannelReceiver
from impl.core.channel.sender import Barrier, Payload
from impl.core.gate.unaligned_events import Alignment
from impl.graph.plan import Route
from impl.spark.channels.credits import CreditedChannel
from impl.spark.channels.frames import Kind, OvertakingBarrier, pack_barrier, unpack_barrier
from impl.spark.channels.inbox import Frame, Inbox, InboxClosedError
from impl.spark.channels.outputs import Outputs
from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM

Grant = Callable[[int, int], None]
OvertakenFrames = dict[str, list[bytes] | None]
"""Maps the subtask at the other end to the frames that a barrier has overtaken; None: not known yet."""


class OvertakingInbox(Inbox):
    """The inbox of a subtask whose input barriers overtake. `grant`: allows a sender to send more frames."""

    def __init__(self, channels: int, capacity: int, grant: Grant) -> None:
        super().__init__(channels, capacity)
        self._ends = [ChannelReceiver([], counts_aligned=True) for _ in range(channels)]
        self._came: dict[tuple[int, int], OvertakingBarrier] = {}
        self._stored: dict[int, list[list[bytes]]] = {}
        self._taken = [0] * channels
        self._grant = grant
        self._grant_at = max(1, capacity // 2)
        self._due: tuple[int, int] | None = None
        self._unread = 0

    def restore(self, frames: Mapping[int, Sequence[bytes]]) -> None:
        """Begin with the restored frames of records, by channel. Call it before the first `put`."""
        for channel, restored in frames.items():
            self._ends[channel] = ChannelReceiver(
                [(Kind.RECORDS, one) for one in restored], counts_aligned=True
            )

    def await_capacity(self, channel: int) -> None:
        """Return at once, because a sender sends only frames for which it has credits."""

    def put(self, channel: int, frame: Frame) -> None:
        """Append a frame. Never waits. Raises `InboxClosedError` after `close`."""
        with self._changed:
            if self._closed:
                raise InboxClosedError
            self._store(channel, self._ends[channel].arrive(self._item(channel, frame)))
            if frame[0] is Kind.RECORDS:
                self._unread += len(frame[1])
            self._changed.notify_all()

    @property
    def buffered(self) -> int:
        """The size of the records that wait, in bytes."""
        return self._unread

    def _item(self, channel: int, frame: Frame) -> Payload | Barrier:
        kind, payload = frame
        if kind is not Kind.BARRIER:
            return Payload(frame)
        came = unpack_barrier(payload)
        self._came[channel, came.checkpoint] = came
        return Barrier(came.checkpoint, Alignment(came.alignment))

    def prioritise(self, channel: int, checkpoint: int) -> None:
        """Let the announced barrier overtake the records before it."""
        with self._changed:
            self._ends[channel].prioritise(checkpoint)

    def _store(self, channel: int, effects: Iterable[StoreInput | DeclineStart]) -> str | None:
        """Keep the in-flight records of a snapshot. Returns the reason if it cannot begin, else None."""
        for effect in effects:
            match effect:
                case StoreInput():
                    assert isinstance(effect.records, list)
                    stored = self._stored.setdefault(effect.checkpoint, [[] for _ in self._ends])
                    stored[channel] += [payload for kind, payload in effect.records if kind is Kind.RECORDS]
                case DeclineStart():
                    return effect.reason
                case _:
                    assert_never(effect)
        return None

    def start(self, checkpoint: int) -> str | None:
        """Begin to store in-flight records on all channels. Returns the reason if that fails, else None."""
        with self._changed:
            self._stored[checkpoint] = [[] for _ in self._ends]
            declined = [self._store(c, end.start(checkpoint)) for c, end in enumerate(self._ends)]
        return next((reason for reason in declined if reason is not None), None)

    def stop(self, checkpoint: int) -> list[list[bytes]]:
        """Stop storing in-flight records; returns the frames that belong to the snapshot, by channel."""
        with self._changed:
            for end in self._ends:
                end.stop(checkpoint)
            stored = self._stored.pop(checkpoint, [[] for _ in self._ends])
            self._stored = {later: kept for later, kept in self._stored.items() if later > checkpoint}
        return stored

    def _turn(self, blocked: Collection[int], urgent_only: bool) -> tuple[int, Frame] | None:
        count = len(self._ends)
        order = [(self._next + step) % count for step in range(count)]
        for channel in order:
            if self._ends[channel].has_urgent:
                return channel, self._read(channel)
        for channel in () if urgent_only else order:
            if channel not in blocked and not self._ends[channel].is_empty:
                self._next = (channel + 1) % count
                return channel, self._read(channel)
        return None

    def _read(self, channel: int) -> Frame:
        end = self._ends[channel]
        restored = end.recovering > 0
        (effect,) = end.read()
        match effect:
            case AnnouncementRead():
                came = self._came[channel, effect.checkpoint]
                return Kind.ANNOUNCEMENT, pack_barrier(came._replace(alignment=Alignment.TIMEOUT))
            case BarrierRead():
                came = self._came.pop((channel, effect.checkpoint))
                return Kind.BARRIER, pack_barrier(came._replace(alignment=effect.alignment))
            case RecordRead():
                frame: Frame = effect.value  # type: ignore[assignment]
            case _:
                assert_never(effect)
        if frame[0] is Kind.RECORDS and not restored:
            self._unread -= len(frame[1])
            self._taken[channel] += 1
            if self._taken[channel] >= self._grant_at:
                self._due = (channel, self._taken[channel])
                self._taken[channel] = 0
        return frame

    def after_take(self) -> None:
        """Grant the credits that the last `take` has made due."""
        due, self._due = self._due, None
        if due is not None:
            self._grant(*due)


class OvertakingOutputs(Outputs):
    """Output channels that wait for credits, and in which barriers overtake."""

    def __init__(
        self,
        channels: Mapping[str, CreditedChannel],
        routes: Sequence[Route],
        batch_rows: int,
        max_parallelism: int = DEFAULT_MAX_PARALLELISM,
    ) -> None:
        super().__init__(channels, routes, batch_rows, max_parallelism)
        self._channels = tuple(channels.values())

    @property
    def is_available(self) -> bool:
        """Whether in every channel fewer frames of records wait than its limit."""
        return all(channel.is_available for channel in self._channels)

    def barrier(
        self, checkpoint: int, alignment: Alignment, timestamp: int, options: bytes = b""
    ) -> OvertakenFrames:
        """Send a barrier to every channel; returns the frames of records that it has overtaken."""
        self.flush()
        return self._each(lambda channel: channel.barrier(checkpoint, alignment, timestamp, options))

    def time_out(self, checkpoint: int) -> OvertakenFrames:
        """Let the barrier overtake in each channel where it still waits; returns the overtaken frames."""
        return self._each(lambda channel: channel.time_out(checkpoint))

    def give_up(self, checkpoint: int) -> None:
        """Abort the checkpoint. Barriers of it that still wait stay in order and overtake nothing."""
        for channel in self._channels:
            channel.give_up(checkpoint)

    def _each(self, send: Callable[[CreditedChannel], list[bytes] | None]) -> OvertakenFrames:
        return {name: send(channel) for name, channel in zip(self._names, self._channels, strict=True)}

    def drain(self) -> None:
        """Wait until all frames are sent. Raises `ConnectionLostError` if a connection is lost before."""
        for channel in self._channels:
            channel.drain()
