"""The options of a savepoint (its *order*): the folder of its snapshots, and whether the job then stops.

A source receives the order with its trigger. All other subtasks receive it in the barrier, which overtakes no
record: a savepoint is always aligned, also in a job whose checkpoints are unaligned (UNAL-21).
"""

from typing import NamedTuple, Self

import orjson

from impl.state import SavepointFolder

_REMEMBERED = 16
"""An order is dropped when the id of a newer savepoint is larger by at least this number."""


class SavepointOrder(NamedTuple):
    """The options of one savepoint that tasks need."""

    folder: str
    stops: bool = False
    """The sources send no record after the savepoint, and the job ends when the savepoint is complete."""
    drains: bool = False
    """Before the savepoint the data ends: every function finishes, and sends its last rows."""

    def pack(self) -> bytes:
        """The order as a barrier carries it."""
        return orjson.dumps(self._asdict())

    @classmethod
    def unpack(cls, packed: bytes) -> Self | None:
        """The order in the barrier of a savepoint; None for the barrier of a checkpoint."""
        return cls(**orjson.loads(packed)) if packed else None


class Orders:
    """The savepoints that one subtask knows. Changed by one thread."""

    def __init__(self) -> None:
        self._known: dict[int, SavepointOrder] = {}

    def add(self, checkpoint: int, order: SavepointOrder | None) -> bool:
        """Add an order. Returns whether `checkpoint` is a savepoint."""
        if order is not None and checkpoint not in self._known:
            oldest = checkpoint - _REMEMBERED
            self._known = {one: known for one, known in self._known.items() if one > oldest}
            self._known[checkpoint] = order
        return checkpoint in self._known

    def of(self, checkpoint: int) -> SavepointOrder | None:
        """The order of a checkpoint; None if it is no savepoint."""
        return self._known.get(checkpoint)

    def packed(self, checkpoint: int) -> bytes:
        """The order as the barrier of a savepoint carries it; empty for a checkpoint."""
        order = self._known.get(checkpoint)
        return b"" if order is None else order.pack()

    def folder(self, checkpoint: int) -> SavepointFolder | None:
        """The folder of a savepoint's snapshots; None for a checkpoint."""
        order = self._known.get(checkpoint)
        return None if order is None else SavepointFolder(order.folder)
