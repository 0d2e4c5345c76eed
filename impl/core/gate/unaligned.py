"""The input gate that never aligns: the first barrier triggers, the others only end the persisting.

A snapshot that does not wait for the slow channels has to hold what they still deliver before their
barriers. From the first barrier on the gate therefore has in-flight input persisted, channel by channel,
until the barrier of the last channel is there. Rules: UNAL-01 to UNAL-10, UNAL-13, UNAL-14, UNAL-21,
UNAL-22. Handler level: records and what waits on blocked channels are the business of `inflight`.

`AlternatingGate` (in `alternating`) puts an aligned phase before this; the places where it does so are the
methods that say so.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, assert_never

from impl.core.component import events_of, require_checkpoint_id
from impl.core.effects import INPUT_END_OF_STREAM, ON_CANCELLATION_BARRIER, SUBSUMED, Fail
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import Advance
from impl.core.gate.events import Abort, Block, Cancel, EndOfPartition, Resume
from impl.core.gate.input_channels import Gate
from impl.core.gate.profiles import GENERATIONS, NEWEST, Generation
from impl.core.gate.unaligned_events import (
    Alignment,
    Announcement,
    BarrierWithOptions,
    GateEffect,
    GateEffects,
    Injection,
    Prioritise,
    StartPersisting,
    StopPersisting,
    TriggerWithOptions,
    UnalignedEvent,
)


class Request(NamedTuple):
    """The options of one barrier."""

    alignment: Alignment
    savepoint: bool
    timestamp: int

    @property
    def overtakes(self) -> bool:
        """It was sent unaligned: its sender did not stop after it."""
        return self.alignment is Alignment.UNALIGNED


class Refused(Exception):  # noqa: N818 - the task fails with it, the gate itself is sound
    """The event can only be answered with an exception (UNAL-21)."""


class UnalignedGate(Gate):
    """The channels 0 to `channels` - 1, of which none waits for another.

    `after_finish`: an ended channel counts for the pending checkpoint, else it aborts it.
    """

    def __init__(
        self, channels: int, *, after_finish: bool = True, generation: Generation = GENERATIONS[NEWEST]
    ) -> None:
        super().__init__(channels)
        self._after_finish = after_finish
        self._generation = generation
        self._now = 0
        self._current = -1
        self._pending = False
        self._persisting = False
        self._opened_by: Request | None = None
        self._arrived: set[int] = set()
        self._repeated = 0
        self._said: list[GateEffect] = []

    # ------------------------------------------------------------ what may be asked

    def is_persisted(self, channel: int) -> bool:
        """Whether what the channel delivers now belongs to the running snapshot (UNAL-23)."""
        return self._persisting and channel not in self._arrived and channel not in self._closed

    def request(
        self, checkpoint: int, alignment: Alignment, savepoint: bool, timestamp: int | None
    ) -> Request:
        """The options of an event; `ProtocolError` if the protocol does not know such a checkpoint."""
        require_checkpoint_id(checkpoint)
        if savepoint and alignment is Alignment.UNALIGNED:
            raise ProtocolError("a savepoint is never unaligned; send another alignment with it")
        if timestamp is not None and timestamp < 0:
            raise ProtocolError(f"a timestamp is an int from 0 on, came {timestamp}; time begins at 0")
        return Request(alignment, savepoint, self._now if timestamp is None else timestamp)

    # ------------------------------------------------------------ what may happen

    def barrier(
        self,
        channel: int,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> GateEffects:
        """The barrier of `checkpoint` is read on `channel`."""
        self.require_open(channel)
        request = self.request(checkpoint, alignment, savepoint, timestamp)
        try:
            self._read(channel, checkpoint, request, sender_stops=not request.overtakes)
        except Refused as refused:
            self._fail(refused)
        return self._told()

    def announce(
        self,
        channel: int,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> GateEffects:
        """`channel` tells that the barrier of `checkpoint` stands in it."""
        self.require_open(channel)
        request = self.request(checkpoint, alignment, savepoint, timestamp)
        if not self._is_over(checkpoint):  # UNAL-05: of what is over nothing is noted
            self._open(checkpoint, request)
            self._note(channel)
        return self._told()

    def inject(
        self,
        checkpoint: int,
        alignment: Alignment = Alignment.ALIGNED,
        savepoint: bool = False,
        timestamp: int | None = None,
    ) -> GateEffects:
        """The task itself is triggered: no channel delivered a barrier, so none is stopped (UNAL-22)."""
        self.require_working()
        if not self._generation.after_finish:
            raise ProtocolError("this generation triggers only sources; send barriers on the channels")
        request = self.request(checkpoint, alignment, savepoint, timestamp)
        try:
            for channel in range(self._channels):
                if channel not in self._closed:
                    self._read(channel, checkpoint, request, sender_stops=False)
        except Refused as refused:
            self._fail(refused)
        return self._told()

    def cancel(self, channel: int, checkpoint: int) -> GateEffects:
        """The cancellation of `checkpoint` is read on `channel`."""
        self.require_open(channel)
        require_checkpoint_id(checkpoint)
        counted = checkpoint == self._current and self._arrived
        if checkpoint > self._current or counted:  # UNAL-06; else UNAL-07, also of one only announced
            self._current = checkpoint
            self._give_up(ON_CANCELLATION_BARRIER)
        return self._told()

    def end_of_partition(self, channel: int) -> GateEffects:
        """The channel ends."""
        self.require_open(channel)
        self._closed.add(channel)
        if self._pending and not self._after_finish:
            self._give_up(INPUT_END_OF_STREAM)  # UNAL-08
        elif self._pending:
            self._arrived.add(channel)  # UNAL-09: from now on it counts
            self._blocked.discard(channel)
            try:
                self._ended(channel)
            except Refused as refused:
                self._fail(refused)
        return self._told()

    def advance(self, ms: int) -> GateEffects:
        """Virtual time passes, in milliseconds."""
        self.require_working()
        if ms < 0:
            raise ProtocolError(f"time only passes, came {ms} ms; send an int from 0 on")
        self._now += ms
        return self._told()

    def observe(self) -> dict[str, Any]:
        """`current`, `pending` and sorted channels."""
        return {
            "current": self._current,
            "pending": self._pending,
            "blocked": sorted(self._blocked),
            "closed": sorted(self._closed),
            "arrived": sorted(self._arrived),
            "persisting": [channel for channel in range(self._channels) if self.is_persisted(channel)],
        }

    # ------------------------------------------------------------ where an aligned phase may come first

    def _on_open(self, request: Request) -> None:
        """A checkpoint has been opened."""

    def _note(self, channel: int) -> None:
        """An announcement of the pending checkpoint: whatever overtakes may do so at once (UNAL-14)."""
        self._said.append(Prioritise(channel))

    def _count(self, channel: int, request: Request, *, sender_stops: bool) -> None:
        """A barrier of the pending checkpoint has arrived on `channel`."""
        if sender_stops:
            self._block(channel)
        if not self._persisting:
            self._start(request)
        if self._everyone_arrived():
            self._finish()

    def _ended(self, channel: int) -> None:
        """A channel has ended and counts for the pending checkpoint."""
        if not self._everyone_arrived():
            return
        if self._persisting:
            self._finish()
        else:
            self._reset()  # only announced: there is nothing to say

    # ------------------------------------------------------------ the parts

    def _is_over(self, checkpoint: int) -> bool:
        return checkpoint < self._current or (checkpoint == self._current and not self._pending)

    def _read(self, channel: int, checkpoint: int, request: Request, *, sender_stops: bool) -> None:
        if self._is_over(checkpoint):  # UNAL-05: who stopped may go on
            if not request.overtakes:
                self._said.append(Resume(channel))
            return
        self._open(checkpoint, request)
        if channel in self._arrived and self._generation.counts_repeats:
            self._repeated += 1  # ALIGN-21
        self._arrived.add(channel)
        self._count(channel, request, sender_stops=sender_stops)

    def _open(self, checkpoint: int, request: Request) -> None:
        """The first that is heard of a checkpoint opens it, and ends a pending one (UNAL-04)."""
        if checkpoint == self._current:
            return
        if self._pending:
            self._give_up(SUBSUMED)
        self._current = checkpoint
        self._pending = True
        self._opened_by = request
        self._on_open(request)

    def _start(self, request: Request) -> None:
        """UNAL-01: store in-flight input, then snapshot. UNAL-21: not of every checkpoint."""
        may_be_hurried = not request.savepoint or self._generation.hurries_savepoints
        if request.alignment is Alignment.FORCED_ALIGNED or not may_be_hurried:
            raise Refused(f"checkpoint {self._current} has to be aligned and cannot go on unaligned")
        self._persisting = True
        self._said += (StartPersisting(self._current), TriggerWithOptions(self._current, unaligned=True))

    def _finish(self) -> None:
        """UNAL-03: the in-flight data is complete."""
        self._said.append(StopPersisting(self._current))
        self._release()
        self._reset()

    def _give_up(self, reason: str) -> None:
        """The pending checkpoint, if there is one, ends without success; `current` is aborted."""
        if self._persisting:
            self._said.append(StopPersisting(self._current))
        self._release()
        self._said.append(Abort(self._current, reason))
        self._reset()

    def _reset(self) -> None:
        """Nothing is pending any more."""
        self._pending = False
        self._persisting = False
        self._opened_by = None
        self._arrived.clear()
        self._repeated = 0

    def _block(self, channel: int) -> None:
        self._blocked.add(channel)  # UNAL-10
        self._said.append(Block(channel))

    def _release(self) -> None:
        self._said += [Resume(channel) for channel in sorted(self._blocked)]
        self._blocked.clear()

    def _everyone_arrived(self) -> bool:
        missing = self._channels - len(self._arrived | self._closed)
        return missing <= self._repeated

    def _fail(self, refused: Refused) -> None:
        self._failed = True
        self._said.append(Fail(str(refused)))

    def _told(self) -> GateEffects:
        """The effects of the event, which are handed out once."""
        said, self._said = tuple(self._said), []
        return said

    def handle(self, event: UnalignedEvent) -> GateEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case BarrierWithOptions(channel, checkpoint, alignment, savepoint, timestamp):
                return self.barrier(channel, checkpoint, alignment, savepoint, timestamp)
            case Announcement(channel, checkpoint, alignment, savepoint, timestamp):
                return self.announce(channel, checkpoint, alignment, savepoint, timestamp)
            case Injection(checkpoint, alignment, savepoint, timestamp):
                return self.inject(checkpoint, alignment, savepoint, timestamp)
            case Cancel(channel, checkpoint):
                return self.cancel(channel, checkpoint)
            case EndOfPartition(channel):
                return self.end_of_partition(channel)
            case Advance(ms):
                return self.advance(ms)
            case _:
                assert_never(event)

    _events = events_of(UnalignedEvent)


def milliseconds(config: Mapping[str, object], key: str) -> int:
    """The int from 0 on under `key`, 0 if it is left out; `ConfigError` if it is none."""
    value = config.get(key, 0)
    if type(value) is not int or value < 0:
        raise ConfigError(f"{key} has to be an int from 0 on, came {value!r}; correct the configuration")
    return value
