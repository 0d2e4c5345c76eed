"""The sender's end of a channel: a queue in which unaligned barriers jump ahead.

Two deques: `_express` for barriers that overtake, `_regular` for everything else. A barrier with a time-out
is regular until its time is out. Rules: UNAL-32, UNAL-33.
"""

from collections import deque
from dataclasses import dataclass

from impl.core.channel.events import LoseOutput, SenderEffect, StoreOutput
from impl.core.gate.unaligned_events import Alignment


@dataclass(frozen=True, slots=True)
class Payload:
    """A record on its way."""

    value: object


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier on its way."""

    checkpoint: int
    alignment: Alignment

    @property
    def overtakes(self) -> bool:
        """It waits behind no record."""
        return self.alignment is Alignment.UNALIGNED


class SendingEnd:
    """What a task has written into one channel and the network has not yet taken."""

    def __init__(self, restored: list[object], *, converts: bool, express_while_held: bool) -> None:
        """`restored`: what a checkpoint had here; `converts`: a waiting barrier may be made to overtake.

        `express_while_held`: what overtakes does not wait for the receiver to align.
        """
        self._express: deque[Barrier] = deque()
        self._regular: deque[Payload | Barrier] = deque(Payload(value) for value in restored)
        self._converts = converts
        self._express_while_held = express_while_held
        self._open_part: int | None = None
        self._held = False

    def write(self, value: object) -> None:
        """A record of the task."""
        self._regular.append(Payload(value))

    def barrier(self, checkpoint: int, alignment: Alignment) -> tuple[SenderEffect, ...]:
        """The task's snapshot of `checkpoint` is taken."""
        if alignment is Alignment.UNALIGNED:
            self._express.append(Barrier(checkpoint, alignment))
            return (StoreOutput(checkpoint, _values(self._regular)),)
        self._regular.append(Barrier(checkpoint, alignment))
        if alignment is not Alignment.TIMEOUT or not self._converts:
            return ()
        forgotten = self._open_part
        self._open_part = checkpoint
        return () if forgotten is None else (LoseOutput(forgotten),)

    def time_out(self, checkpoint: int) -> tuple[SenderEffect, ...]:
        """The barrier of `checkpoint`, if it waits here, overtakes what it waited for."""
        if self._open_part != checkpoint:
            return ()
        waits = Barrier(checkpoint, Alignment.TIMEOUT)
        position = self._regular.index(waits)
        overtaken = [item.value for item in list(self._regular)[:position] if isinstance(item, Payload)]
        del self._regular[position]
        self._express.append(Barrier(checkpoint, Alignment.UNALIGNED))
        self._open_part = None
        return (StoreOutput(checkpoint, overtaken),)

    def give_up(self, checkpoint: int) -> tuple[SenderEffect, ...]:
        """Nobody waits for this end's part of `checkpoint`."""
        if self._open_part != checkpoint:
            return ()
        self._open_part = None
        return (LoseOutput(checkpoint),)

    def leave(self) -> tuple[Payload | Barrier | None, tuple[SenderEffect, ...]]:
        """The item that travels next, None if none may."""
        if self._express and (self._express_while_held or not self._held):
            return self._express.popleft(), ()
        if self._held or not self._regular:
            return None, ()
        item = self._regular.popleft()
        if isinstance(item, Payload):
            return item, ()
        self._held = True
        if item.alignment is Alignment.TIMEOUT and item.checkpoint == self._open_part:
            self._open_part = None
            return item, (StoreOutput(item.checkpoint, []),)
        return item, ()

    def let_go(self) -> None:
        """The receiver has aligned; what follows the barrier may travel."""
        self._held = False

    @property
    def first(self) -> Payload | Barrier | None:
        """What would leave next; None if nothing may."""
        if self._express:
            return self._express[0]
        return self._regular[0] if self._regular and not self._held else None

    @property
    def held(self) -> bool:
        """At most barriers that overtake may travel."""
        return self._held

    @property
    def open_part(self) -> int | None:
        """The checkpoint whose part is not decided yet."""
        return self._open_part

    def waiting(self) -> list[Payload | Barrier]:
        """All that waits, in the order in which it would leave."""
        return [*self._express, *self._regular]


def _values(items: deque[Payload | Barrier]) -> list[object]:
    return [item.value for item in items if isinstance(item, Payload)]
