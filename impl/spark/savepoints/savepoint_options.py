"""The options of a savepoint: the folder of its snapshots, and whether the job then stops.

A source receives the options with its trigger. All other subtasks receive them in the barrier, which
overtakes no record: a savepoint is always aligned, also in a job whose checkpoints are unaligned (UNAL-21).
"""

from typing import NamedTuple, Self

import orjson

from impl.state import SavepointFolder

_REMEMBERED = 16
"""Options are dropped when the id of a newer savepoint is larger by at least this number."""


class SavepointOptions(NamedTuple):
    """The options of one savepoint that tasks need."""

    folder: str
    stops: bool = False
    """The sources send no record after the savepoint, and the job ends when the savepoint is complete."""
    drains: bool = False
    """Before the savepoint the data ends: every function finishes, and sends its last rows."""

    def pack(self) -> bytes:
        """The options as a barrier carries them."""
        return orjson.dumps(self._asdict())

    @classmethod
    def unpack(cls, packed: bytes) -> Self | None:
        """The options in the barrier of a savepoint; None for the barrier of a checkpoint."""
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
        """The options of a checkpoint; None if it is no savepoint."""
        return self._known.get(checkpoint)

    def packed(self, checkpoint: int) -> bytes:
        """The options as the barrier of a savepoint carries them; empty for a checkpoint."""
        options = self._known.get(checkpoint)
        return b"" if options is None else options.pack()

    def folder(self, checkpoint: int) -> SavepointFolder | None:
        """The folder of a savepoint's snapshots; None for a checkpoint."""
        options = self._known.get(checkpoint)
        return None if options is None else SavepointFolder(options.folder)
