"""The receiver's end of a channel: what has come and the gate has not read.

Everything gets a number as it comes, and keeps it when it overtakes; so "before the barrier" is a comparison
of numbers, however the queue stands by then. Rules: UNAL-34 to UNAL-36.
"""

from collections import deque
from enum import Enum
from typing import Final, NamedTuple

from impl.core.channel.events import (
    AnnouncementRead,
    BarrierRead,
    DeclineStart,
    ReadEffect,
    RecordRead,
    StoreInput,
)
from impl.core.channel.sender import Barrier, Payload
from impl.core.effects import TASK_NOT_READY
from impl.core.errors import ProtocolError
from impl.core.gate.unaligned_events import Alignment

CHECKPOINT_SUBSUMED: Final = "CHECKPOINT_SUBSUMED"
_NOBODY: Final = -1


class Storing(Enum):
    """Which records that come now belong to a snapshot."""

    NONE = "none"
    ALL = "all"  # the snapshot's barrier has not come
    AFTER_BARRIER = "after barrier"  # it has: what comes belongs to the next one


class Announced(NamedTuple):
    """Word of a barrier that stands behind records."""

    checkpoint: int


class Numbered(NamedTuple):
    """An item and the number under which it came."""

    number: int
    item: Payload | Barrier


class ReceivingEnd:
    """One input channel of a task."""

    def __init__(self, restored: list[object], *, hears_regular: bool) -> None:
        """`restored`: what a checkpoint had here; `hears_regular`: barriers count that overtake nothing."""
        self._express: deque[Announced | Barrier] = deque()
        self._regular: deque[Numbered] = deque(Numbered(0, Payload(value)) for value in restored)
        self._to_recover = len(restored)
        self._hears_regular = hears_regular
        self._numbers = 0
        self._storing = Storing.NONE
        self._snapshot = _NOBODY
        self._newest = _NOBODY
        self._newest_number = 0

    @property
    def recovering(self) -> int:
        """How many restored records are still to be read."""
        return self._to_recover

    @property
    def has_urgent(self) -> bool:
        """A barrier that overtook, or word of one, is read next."""
        return bool(self._express)

    @property
    def is_empty(self) -> bool:
        """Nothing is unread."""
        return not self._express and not self._regular

    @property
    def awaiting(self) -> int | None:
        """The checkpoint whose barrier has not come although its snapshot has begun."""
        return self._snapshot if self._storing is Storing.ALL else None

    def arrive(self, item: Payload | Barrier) -> tuple[StoreInput, ...]:
        """The network brings an item."""
        self._numbers += 1
        if isinstance(item, Payload):
            self._regular.append(Numbered(self._numbers, item))
            if self._storing is Storing.ALL:
                return (StoreInput(self._snapshot, [item.value]),)
            return ()
        if item.overtakes:
            self._express.append(item)
        else:
            self._regular.append(Numbered(self._numbers, item))
            if item.alignment is Alignment.TIMEOUT:
                self._express.append(Announced(item.checkpoint))
        if item.overtakes or self._hears_regular:
            self._heard_of(item.checkpoint)
        return ()

    def _heard_of(self, checkpoint: int) -> None:
        """A barrier has come, on its way through the queue or past it."""
        oldest = self._snapshot + 1 if self._storing is Storing.NONE else self._snapshot
        if checkpoint < oldest:
            return
        self._storing = Storing.AFTER_BARRIER
        self._snapshot = checkpoint
        if checkpoint > self._newest:
            self._newest = checkpoint
            self._newest_number = self._numbers

    def read(self) -> tuple[ReadEffect, ...]:
        """The gate takes one item."""
        if self._express:
            first = self._express.popleft()
            if isinstance(first, Announced):
                return (AnnouncementRead(first.checkpoint),)
            return (BarrierRead(first.checkpoint, first.alignment),)
        if not self._regular:
            return ()
        item = self._regular.popleft().item
        if isinstance(item, Barrier):
            return (BarrierRead(item.checkpoint, item.alignment),)
        self._to_recover = max(0, self._to_recover - 1)
        return (RecordRead(item.value),)

    def start(self, checkpoint: int) -> tuple[StoreInput | DeclineStart, ...]:
        """The task's snapshot begins: store what is here and belongs before its barrier."""
        if self._to_recover:
            return (DeclineStart(checkpoint, TASK_NOT_READY),)
        passed = self._storing is Storing.AFTER_BARRIER and self._snapshot > checkpoint
        if self._newest > checkpoint or passed:
            return (DeclineStart(checkpoint, CHECKPOINT_SUBSUMED),)
        if self._newest < checkpoint:
            self._newest = _NOBODY
        if self._snapshot < checkpoint:
            self._storing = Storing.ALL
            self._snapshot = checkpoint
        here = [
            numbered.item.value
            for numbered in self._regular
            if isinstance(numbered.item, Payload) and self._is_before_barrier(numbered.number)
        ]
        return (StoreInput(checkpoint, here),) if here else ()

    def _is_before_barrier(self, number: int) -> bool:
        return self._newest == _NOBODY or number < self._newest_number

    def stop(self, checkpoint: int) -> None:
        """The snapshot has everything, or is given up; during recovery the last one said counts."""
        if self._to_recover or checkpoint >= self._snapshot:
            self._storing = Storing.NONE
            self._snapshot = checkpoint
        if self._newest == checkpoint:
            self._newest = _NOBODY

    def is_known(self, checkpoint: int) -> bool:
        """The barrier of `checkpoint` is the newest that came, is read to have come, and nothing ended it."""
        is_newest = self._storing is Storing.AFTER_BARRIER and self._newest == checkpoint
        return self._hears_regular and is_newest and Announced(checkpoint) not in self._express

    def prioritise(self, checkpoint: int) -> None:
        """The announced barrier of `checkpoint` overtakes; `ProtocolError` if none waits here."""
        announced = Barrier(checkpoint, Alignment.TIMEOUT)
        position = next((at for at, here in enumerate(self._regular) if here.item == announced), None)
        if position is None:
            raise ProtocolError(
                f"no barrier of checkpoint {checkpoint} with a time-out waits at the receiver; "
                "prioritise one that was announced and not yet taken"
            )
        del self._regular[position]
        self._express.append(Barrier(checkpoint, Alignment.UNALIGNED))

    def waiting(self) -> list[Payload | Barrier | Announced]:
        """All that is unread, in the order in which the gate would read it."""
        return [*self._express, *(numbered.item for numbered in self._regular)]
