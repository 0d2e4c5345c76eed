"""The sender's end of a channel, where unaligned barriers move ahead of records (UNAL-32, UNAL-33).

Unaligned barriers wait in a separate queue. A barrier with a time-out waits among the records until its
alignment times out.
"""

from collections import deque
from dataclasses import dataclass

from impl.core.channel.events import LoseOutput, SenderEffect, StoreOutput
from impl.core.gate.unaligned_events import Alignment


@dataclass(frozen=True, slots=True)
class Payload:
    """A record in a queue."""

    value: object


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier in a queue."""

    checkpoint: int
    alignment: Alignment

    @property
    def overtakes(self) -> bool:
        """Whether the barrier moves ahead of records."""
        return self.alignment is Alignment.UNALIGNED


class ChannelSender:
    """The items that a task has written into one channel and the network has not transferred.

    `restored`: the records that a checkpoint stored at the sender. `converts_timed_out`: whether a barrier
    with a time-out becomes unaligned when it times out. `urgent_pass_block`: whether the network also
    transfers unaligned barriers while the sender is blocked.
    """

    def __init__(self, restored: list[object], *, converts_timed_out: bool, urgent_pass_block: bool) -> None:
        self._urgent: deque[Barrier] = deque()
        self._regular: deque[Payload | Barrier] = deque(Payload(value) for value in restored)
        self._converts_timed_out = converts_timed_out
        self._urgent_pass_block = urgent_pass_block
        self._promised: int | None = None
        self._blocked = False

    def write(self, value: object) -> None:
        """The task emits a record."""
        self._regular.append(Payload(value))

    def barrier(self, checkpoint: int, alignment: Alignment) -> tuple[SenderEffect, ...]:
        """The task emits the barrier of `checkpoint`."""
        if alignment is Alignment.UNALIGNED:
            self._urgent.append(Barrier(checkpoint, alignment))
            waiting = [item.value for item in self._regular if isinstance(item, Payload)]
            return (StoreOutput(checkpoint, waiting),)
        self._regular.append(Barrier(checkpoint, alignment))
        if alignment is not Alignment.TIMEOUT or not self._converts_timed_out:
            return ()
        replaced, self._promised = self._promised, checkpoint
        return () if replaced is None else (LoseOutput(replaced),)

    def time_out(self, checkpoint: int) -> tuple[SenderEffect, ...]:
        """The barrier of `checkpoint` with a time-out becomes unaligned, if `promised` is this checkpoint."""
        if self._promised != checkpoint:
            return ()
        position = self._regular.index(Barrier(checkpoint, Alignment.TIMEOUT))
        overtaken = [item.value for item in list(self._regular)[:position] if isinstance(item, Payload)]
        del self._regular[position]
        self._urgent.append(Barrier(checkpoint, Alignment.UNALIGNED))
        self._promised = None
        return (StoreOutput(checkpoint, overtaken),)

    def abort(self, checkpoint: int) -> tuple[SenderEffect, ...]:
        """`checkpoint` was aborted. If `promised` is this checkpoint, the sender stores nothing for it."""
        if self._promised != checkpoint:
            return ()
        self._promised = None
        return (LoseOutput(checkpoint),)

    def leave(self) -> tuple[Payload | Barrier | None, tuple[SenderEffect, ...]]:
        """Remove the next item to transfer; returns the item and the effects. No item may leave: None."""
        if self._urgent and (self._urgent_pass_block or not self._blocked):
            return self._urgent.popleft(), ()
        if self._blocked or not self._regular:
            return None, ()
        item = self._regular.popleft()
        if isinstance(item, Payload):
            return item, ()
        self._blocked = True
        if item.alignment is Alignment.TIMEOUT and item.checkpoint == self._promised:
            self._promised = None
            return item, (StoreOutput(item.checkpoint, []),)
        return item, ()

    def resume(self) -> None:
        """The receiver has aligned: the items behind the barrier may be transferred."""
        self._blocked = False

    @property
    def first(self) -> Payload | Barrier | None:
        """The next item to transfer if `urgent_pass_block` is set; None if no item may be transferred."""
        if self._urgent:
            return self._urgent[0]
        return self._regular[0] if self._regular and not self._blocked else None

    @property
    def blocked(self) -> bool:
        """Whether an aligned barrier has left and the receiver has not resumed the sender."""
        return self._blocked

    @property
    def promised(self) -> int | None:
        """The checkpoint whose barrier with a time-out waits here; None for none.

        Its output records are promised: the sender stores them, perhaps none, when the barrier times out or
        leaves. Always None without `converts_timed_out`.
        """
        return self._promised

    def waiting(self) -> list[Payload | Barrier]:
        """All items, in the order of their transfer."""
        return [*self._urgent, *self._regular]
