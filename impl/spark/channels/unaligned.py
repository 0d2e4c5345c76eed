"""Inbox and outputs of a subtask whose barriers overtake: both ends of `impl.core` under a lock.

What a barrier overtakes here is part of the checkpoint: frames of records, as they came (UNAL-32, UNAL-34).
A restore begins with them (UNAL-36). Markers and ends of data are no records: after a restore they are sent
again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from impl.core.channel.events import AnnouncementRead, BarrierRead, DeclineStart, RecordRead, StoreInput
from impl.core.channel.receiver import ChannelReceiver
from impl.core.channel.sender import Barrier, Payload
from impl.core.gate.unaligned_events import Alignment
from impl.graph.plan import Route
from impl.spark.channels.credits import CreditedChannel
from impl.spark.channels.frames import Kind, OvertakingBarrier, pack_barrier, unpack_barrier
from impl.spark.channels.inbox import Frame, Inbox, InboxClosedError
from impl.spark.channels.outputs import Outputs
from impl.spark.errors import UnknownEffectError
from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM

Grant = Callable[[int, int], None]
Parts = dict[str, list[bytes] | None]
"""By the subtask at the other end: the frames of records that a barrier has passed, None: not known yet."""


class OvertakingInbox(Inbox):
    """Channels in which barriers overtake. `grant` tells the sender of a channel how many frames may come."""

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
        """Begin with what a checkpoint has of these channels; before anything comes."""
        for channel, restored in frames.items():
            self._ends[channel] = ChannelReceiver(
                [(Kind.RECORDS, one) for one in restored], counts_aligned=True
            )

    def await_room(self, channel: int) -> None:
        """There is room: only what was granted comes."""

    def put(self, channel: int, frame: Frame) -> None:
        """Something has come; never waits, because only what was granted comes. Raises `InboxClosedError`."""
        with self._changed:
            if self._closed:
                raise InboxClosedError
            self._store(channel, self._ends[channel].arrive(self._item(channel, frame)))
            if frame[0] is Kind.RECORDS:
                self._unread += len(frame[1])
            self._changed.notify_all()

    @property
    def buffered(self) -> int:
        """Bytes of records that have come and wait to be taken."""
        return self._unread

    def _item(self, channel: int, frame: Frame) -> Payload | Barrier:
        kind, payload = frame
        if kind is not Kind.BARRIER:
            return Payload(frame)
        came = unpack_barrier(payload)
        self._came[channel, came.checkpoint] = came
        return Barrier(came.checkpoint, Alignment(came.alignment))

    def prioritise(self, channel: int, checkpoint: int) -> None:
        """The barrier that was announced goes past what stands before it."""
        with self._changed:
            self._ends[channel].prioritise(checkpoint)

    def _store(self, channel: int, effects: Collection[object]) -> str | None:
        """Keep what belongs to a snapshot; answers why one cannot begin, if so."""
        for effect in effects:
            if isinstance(effect, DeclineStart):
                return effect.reason
            if not isinstance(effect, StoreInput) or not isinstance(effect.records, list):
                raise UnknownEffectError.of("receiving end of a channel", effect)
            parts = self._stored.setdefault(effect.checkpoint, [[] for _ in self._ends])
            parts[channel] += [payload for kind, payload in effect.records if kind is Kind.RECORDS]
        return None

    def start(self, checkpoint: int) -> str | None:
        """A snapshot begins on all channels at once; answers the reason if it cannot."""
        with self._changed:
            self._stored[checkpoint] = [[] for _ in self._ends]
            declined = [self._store(c, end.start(checkpoint)) for c, end in enumerate(self._ends)]
        return next((reason for reason in declined if reason is not None), None)

    def stop(self, checkpoint: int) -> list[list[bytes]]:
        """Nothing more belongs to the snapshot; answers what does, by channel."""
        with self._changed:
            for end in self._ends:
                end.stop(checkpoint)
            parts = self._stored.pop(checkpoint, [[] for _ in self._ends])
            self._stored = {later: kept for later, kept in self._stored.items() if later > checkpoint}
        return parts

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
        (said,) = end.read()
        if isinstance(said, AnnouncementRead):
            came = self._came[channel, said.checkpoint]
            return Kind.ANNOUNCEMENT, pack_barrier(came._replace(alignment=Alignment.TIMEOUT))
        if isinstance(said, BarrierRead):
            came = self._came.pop((channel, said.checkpoint))
            return Kind.BARRIER, pack_barrier(came._replace(alignment=said.alignment))
        if not isinstance(said, RecordRead):
            raise UnknownEffectError.of("receiving end of a channel", said)
        frame: Frame = said.value  # type: ignore[assignment]
        if frame[0] is Kind.RECORDS and not restored:
            self._unread -= len(frame[1])
            self._taken[channel] += 1
            if self._taken[channel] >= self._grant_at:
                self._due = (channel, self._taken[channel])
                self._taken[channel] = 0
        return frame

    def after_take(self) -> None:
        """Grant what has become due; the lock is not held."""
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
    def has_room(self) -> bool:
        """More may be emitted: no channel holds more than its bound."""
        return all(channel.has_room for channel in self._channels)

    def barrier(self, checkpoint: int, alignment: Alignment, timestamp: int, order: bytes = b"") -> Parts:
        """Send a barrier to every channel; answers what it has passed, by subtask, None: not known yet."""
        self.flush()
        return self._each(lambda channel: channel.barrier(checkpoint, alignment, timestamp, order))

    def time_out(self, checkpoint: int) -> Parts:
        """The barrier goes past what it waits for; None where it has left."""
        return self._each(lambda channel: channel.time_out(checkpoint))

    def give_up(self, checkpoint: int) -> None:
        """Nobody asks any more for what the barrier would have passed."""
        for channel in self._channels:
            channel.give_up(checkpoint)

    def _each(self, ask: Callable[[CreditedChannel], list[bytes] | None]) -> Parts:
        return {name: ask(channel) for name, channel in zip(self._names, self._channels, strict=True)}

    def drain(self) -> None:
        """Wait until everything is sent."""
        for channel in self._channels:
            channel.drain()
