"""What subtasks run: `sources`, `processing` and `sinks` have the operators.

One shape for all: rows in, rows out, a snapshot in two parts, and what a restore needs to go on from it. The
engine calls them from one thread, but for the asynchronous part of a snapshot.
"""

from collections.abc import Callable
from typing import Protocol

from impl.batches import Rows
from impl.state import AsynchronousPart
from impl.state.shared import SharedFiles

Process = Callable[[Rows], Rows]


class Operator(Protocol):
    """What a subtask runs behind its gate."""

    @property
    def inputs(self) -> tuple[Process, ...]:
        """For each input: takes rows, answers what is to be sent on."""
        ...

    def before_barrier(self) -> Rows:
        """A barrier is about to be sent; answers what has to be sent on before it."""
        ...

    def finish(self) -> Rows:
        """The end of the data; answers the last rows to be sent on."""
        ...

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Take the state as it is now; the asynchronous part answers its sections, encoded, by name.

        `alone`: the files of a savepoint, which shares nothing with any checkpoint.
        """
        ...

    def notify_complete(self, checkpoint: int) -> None:
        """`checkpoint` is complete."""
        ...

    def notify_abort(self, checkpoint: int) -> None:
        """`checkpoint` was aborted."""
        ...

    def close(self) -> None:
        """The subtask ends, well or not."""
        ...
