"""The options of a savepoint: the folder of its snapshots, and whether the job then stops.

A source receives the options with its trigger. All other subtasks receive them in the barrier, which
overtakes no record: a savepoint is always aligned, also in a job whose checkpoints are unaligned (UNAL-21).
"""

from typing import NamedTuple, Self

import orjson

from impl.state import SavepointFolder

_REMEMBERED = 16
"""Options are removed when a newer savepoint has an id that is larger by at least this number."""


class SavepointOptions(NamedTuple):
    """The options of one savepoint that a task needs."""

    folder: str
    stops: bool = False
    """Whether the sources send no record after the savepoint, and the job ends when it is complete."""
    drains: bool = False
    """Whether the data ends before the savepoint: every function finishes, and sends its last rows."""

    def pack(self) -> bytes:
        """The options as bytes, which the barrier of the savepoint contains."""
        return orjson.dumps(self._asdict())

    @classmethod
    def unpack(cls, packed: bytes) -> Self | None:
        """The options from the bytes in a savepoint's barrier; None for the barrier of a checkpoint."""
        return cls(**orjson.loads(packed)) if packed else None


class KnownSavepoints:
    """The newest savepoints of one subtask, with their options. Changed by one thread."""

    def __init__(self) -> None:
        self._known: dict[int, SavepointOptions] = {}

    def add(self, checkpoint: int, options: SavepointOptions | None) -> bool:
        """Add the options of a savepoint. Returns whether `checkpoint` is a savepoint."""
        if options is not None and checkpoint not in self._known:
            oldest = checkpoint - _REMEMBERED
            self._known = {one: known for one, known in self._known.items() if one > oldest}
            self._known[checkpoint] = options
        return checkpoint in self._known

    def of(self, checkpoint: int) -> SavepointOptions | None:
        """The options of a savepoint; None for a checkpoint."""
        return self._known.get(checkpoint)

    def packed(self, checkpoint: int) -> bytes:
        """The options of a savepoint as bytes for its barrier; empty for a checkpoint."""
        options = self._known.get(checkpoint)
        return b"" if options is None else options.pack()

    def folder(self, checkpoint: int) -> SavepointFolder | None:
        """The folder of a savepoint's snapshots; None for a checkpoint."""
        options = self._known.get(checkpoint)
        return None if options is None else SavepointFolder(options.folder)
