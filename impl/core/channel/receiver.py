"""The receiver's end of a channel: the items that have arrived and that the gate has not read.

Every item gets a number when it arrives, and keeps this number when it overtakes. A record precedes a barrier
if its number is lower. Rules: UNAL-34 to UNAL-36.
"""

from collections import deque
from enum import Enum
from typing import Final, NamedTuple

from impl.core.channel import events
from impl.core.channel.sender import Barrier, Payload
from impl.core.component import NO_CHECKPOINT
from impl.core.effects import TASK_NOT_READY
from impl.core.errors import ProtocolError
from impl.core.gate.unaligned_events import Alignment

CHECKPOINT_SUBSUMED: Final = "CHECKPOINT_SUBSUMED"


class Storing(Enum):
    """Which of the records that arrive belong to the snapshot."""

    NONE = "none"
    ALL = "all"
    """The barrier of the snapshot has not arrived."""
    AFTER_BARRIER = "after barrier"
    """The barrier has arrived; the records behind it do not belong to the snapshot."""


class Announced(NamedTuple):
    """The announcement of a barrier that waits behind records."""

    checkpoint: int


class Numbered(NamedTuple):
    """An item and its number of arrival."""

    number: int
    item: Payload | Barrier


class ChannelReceiver:
    """One input channel of a task.

    `restored`: the records that a checkpoint stored at the receiver. `counts_aligned`: whether the arrival of
    an aligned barrier also ends the storing of records. In flink-1.12 only an unaligned barrier ends it.
    """

    def __init__(self, restored: list[object], *, counts_aligned: bool) -> None:
        self._urgent: deque[Announced | Barrier] = deque()
        self._regular: deque[Numbered] = deque(Numbered(0, Payload(value)) for value in restored)
        self._recovering = len(restored)
        self._counts_aligned = counts_aligned
        self._numbers = 0
        self._storing = Storing.NONE
        self._snapshot = NO_CHECKPOINT
        self._newest = NO_CHECKPOINT
        self._newest_number = 0

    @property
    def recovering(self) -> int:
        """The number of restored records that the gate has not read."""
        return self._recovering

    @property
    def has_urgent(self) -> bool:
        """Whether the next item is an unaligned barrier or an announcement."""
        return bool(self._urgent)

    @property
    def is_empty(self) -> bool:
        """Whether no item waits."""
        return not self._urgent and not self._regular

    @property
    def awaiting(self) -> int | None:
        """The checkpoint whose snapshot has begun and whose barrier has not arrived; None for none."""
        return self._snapshot if self._storing is Storing.ALL else None

    def arrive(self, item: Payload | Barrier) -> tuple[events.StoreInput, ...]:
        """The network delivers an item."""
        self._numbers += 1
        if isinstance(item, Payload):
            self._regular.append(Numbered(self._numbers, item))
            if self._storing is Storing.ALL:
                return (events.StoreInput(self._snapshot, [item.value]),)
            return ()
        if item.overtakes:
            self._urgent.append(item)
        else:
            self._regular.append(Numbered(self._numbers, item))
            if item.alignment is Alignment.TIMEOUT:
                self._urgent.append(Announced(item.checkpoint))
        if item.overtakes or self._counts_aligned:
            self._on_barrier(item.checkpoint)
        return ()

    def _on_barrier(self, checkpoint: int) -> None:
        """The barrier of `checkpoint` has arrived."""
        oldest = self._snapshot + 1 if self._storing is Storing.NONE else self._snapshot
        if checkpoint < oldest:
            return
        self._storing = Storing.AFTER_BARRIER
        self._snapshot = checkpoint
        if checkpoint > self._newest:
            self._newest = checkpoint
            self._newest_number = self._numbers

    def read(self) -> tuple[events.ReadEffect, ...]:
        """The gate reads one item. There is no effect if no item waits."""
        if self._urgent:
            first = self._urgent.popleft()
            if isinstance(first, Announced):
                return (events.AnnouncementRead(first.checkpoint),)
            return (events.BarrierRead(first.checkpoint, first.alignment),)
        if not self._regular:
            return ()
        item = self._regular.popleft().item
        if isinstance(item, Barrier):
            return (events.BarrierRead(item.checkpoint, item.alignment),)
        self._recovering = max(0, self._recovering - 1)
        return (events.RecordRead(item.value),)

    def start(self, checkpoint: int) -> tuple[events.StoreInput | events.DeclineStart, ...]:
        """The snapshot of `checkpoint` begins: store the waiting records that precede its barrier."""
        if self._recovering:
            return (events.DeclineStart(checkpoint, TASK_NOT_READY),)
        passed = self._storing is Storing.AFTER_BARRIER and self._snapshot > checkpoint
        if self._newest > checkpoint or passed:
            return (events.DeclineStart(checkpoint, CHECKPOINT_SUBSUMED),)
        if self._newest < checkpoint:
            self._newest = NO_CHECKPOINT
        if self._snapshot < checkpoint:
            self._storing = Storing.ALL
            self._snapshot = checkpoint
        waiting = [
            numbered.item.value
            for numbered in self._regular
            if isinstance(numbered.item, Payload)
            and (self._newest == NO_CHECKPOINT or numbered.number < self._newest_number)
        ]
        return (events.StoreInput(checkpoint, waiting),) if waiting else ()

    def stop(self, checkpoint: int) -> None:
        """End the storing for `checkpoint` and older ones, because its snapshot is complete or aborted.

        While restored records are unread, a call for a checkpoint older than the snapshot's ends it too.
        """
        if self._recovering or checkpoint >= self._snapshot:
            self._storing = Storing.NONE
            self._snapshot = checkpoint
        if self._newest == checkpoint:
            self._newest = NO_CHECKPOINT

    def is_known(self, checkpoint: int) -> bool:
        """Whether the barrier of `checkpoint` may be prioritised.

        True if it is the newest barrier that has arrived, the gate has read its announcement, its snapshot
        has not ended, and no newer snapshot has begun. In flink-1.12 always False.
        """
        is_newest = self._storing is Storing.AFTER_BARRIER and self._newest == checkpoint
        return self._counts_aligned and is_newest and Announced(checkpoint) not in self._urgent

    def prioritise(self, checkpoint: int) -> None:
        """The announced barrier of `checkpoint` overtakes. Raises ProtocolError if it does not wait here."""
        announced = Barrier(checkpoint, Alignment.TIMEOUT)
        position = next((at for at, waiting in enumerate(self._regular) if waiting.item == announced), None)
        if position is None:
            raise ProtocolError(
                f"no barrier of checkpoint {checkpoint} with a time-out waits at the receiver; "
                "prioritise a barrier that was announced and that the gate has not read"
            )
        del self._regular[position]
        self._urgent.append(Barrier(checkpoint, Alignment.UNALIGNED))

    def waiting(self) -> list[Payload | Barrier | Announced]:
        """All items, in the order in which the gate reads them."""
        return [*self._urgent, *(numbered.item for numbered in self._regular)]
