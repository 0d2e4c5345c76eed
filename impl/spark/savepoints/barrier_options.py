"""What a savepoint's barrier tells every task beyond its id: where the snapshot goes, and what follows.

An order comes to a source with its trigger and to everybody else in the barrier itself, behind all records
that were sent before it: a savepoint is always aligned, also where checkpoints overtake (UNAL-21).
"""

from pathlib import Path
from typing import Any, NamedTuple, Self

import orjson

from impl.state import SavepointFolder


class SavepointOrder(NamedTuple):
    """One savepoint, as its tasks are told of it."""

    folder: str
    stops: bool = False
    """No record is sent behind it: the job ends when it is complete."""
    drains: bool = False
    """Before that, every task takes it as the end of its data, and sends what it holds back."""

    def pack(self) -> bytes:
        """The order as it travels in a barrier."""
        return orjson.dumps(self._asdict())

    @classmethod
    def of(cls, told: dict[str, Any] | None) -> Self | None:
        """The order in a trigger; None for that of a checkpoint."""
        return None if told is None else cls(**told)

    @classmethod
    def unpack(cls, packed: bytes) -> Self | None:
        """The order in a barrier; None for a checkpoint's."""
        return cls.of(orjson.loads(packed)) if packed else None


class Orders:
    """The savepoints that one subtask has been told of. Used by one thread."""

    def __init__(self) -> None:
        self._known: dict[int, SavepointOrder] = {}

    def hear(self, checkpoint: int, order: SavepointOrder | None) -> bool:
        """An order has come; whether it is news. Older ones are over: barriers come in order."""
        if order is None or checkpoint in self._known:
            return False
        self._known = {one: known for one, known in self._known.items() if one > checkpoint - _REMEMBERED}
        self._known[checkpoint] = order
        return True

    def of(self, checkpoint: int) -> SavepointOrder | None:
        """The order of a checkpoint; None if it is no savepoint."""
        return self._known.get(checkpoint)

    def packed(self, checkpoint: int) -> bytes:
        """What its barrier carries."""
        order = self._known.get(checkpoint)
        return b"" if order is None else order.pack()

    def folder(self, checkpoint: int) -> SavepointFolder | None:
        """Where its snapshots go; None: where those of checkpoints go."""
        order = self._known.get(checkpoint)
        return None if order is None else SavepointFolder(Path(order.folder))


_REMEMBERED = 16
