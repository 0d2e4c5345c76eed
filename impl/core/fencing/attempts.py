"""The attempts that a storage has recorded, and what follows from them. Rules FENCE-01, FENCE-02, FENCE-05.

The runtime reads the records from its storage (`impl.state.checkpoints`); the component `fencing` has them in
memory. Both decide with the functions here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

CLOSED: Final = "closed"
"""The record of an attempt that a newer one has closed before it started."""
Start: TypeAlias = int | str | None
"""The checkpoint from which an attempt has started, None for the beginning; or CLOSED."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """`drawn`: every attempt. `starts`: the record of each attempt that has one."""

    drawn: frozenset[int]
    starts: Mapping[int, Start]

    @property
    def newest(self) -> int:
        """The newest attempt; 0 before the first."""
        return max(self.drawn, default=0)

    def to_close(self, attempt: int) -> list[int]:
        """The older attempts without a record, ascending: `attempt` must close them before it starts."""
        return sorted(one for one in self.drawn if one < attempt and one not in self.starts)

    def overtaken_by(self, checkpoint: int, publisher: int) -> int | None:
        """The first attempt after the publisher's that has started from before the checkpoint, else None.

        If there is one, the checkpoint is of a dead attempt, and no attempt may start from it.
        """
        for attempt, start in sorted(self.starts.items()):
            if attempt > publisher and not isinstance(start, str) and (start is None or start < checkpoint):
                return attempt
        return None

    def latest(self, published: Iterable[tuple[int, int]]) -> int | None:
        """The newest checkpoint of no dead attempt; `published`: pairs of a checkpoint and its publisher."""
        alive = [one for one, publisher in published if self.overtaken_by(one, publisher) is None]
        return max(alive, default=None)
