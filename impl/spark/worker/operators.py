"""The interface of operators; `sources`, `processing` and `sinks` have the implementations.

An operator processes rows and takes snapshots. One thread makes all calls, except that of the asynchronous
part of a snapshot.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from impl.batches import Rows
from impl.graph.plan import Row
from impl.state import AsynchronousPart
from impl.state.shared import SharedFiles

Process = Callable[[Rows], Rows]


class Timers(Protocol):
    """The timers of an operator."""

    def fire(self, most: int) -> Sequence[Row]:
        """Fire at most `most` due timers; returns the rows to be sent."""

    def wait(self) -> float | None:
        """Seconds until a timer may be due, 0 if one is; None without timers."""


class Operator(Protocol):
    """The operator of one subtask. By default it emits nothing and ignores notifications."""

    inputs: tuple[Process, ...] = ()
    """For each input a function from its rows to the rows to be sent."""

    listeners: Sequence[object] = ()
    """The user's objects that may be checkpoint listeners."""
    timers: Timers | None = None
    """The timers of a function that has them."""

    @property
    def offset(self) -> int | None:
        """Rows of a source read until now, those before a restore included; None if it is no source."""
        return None

    def before_barrier(self) -> Rows:
        """The rows to be sent before the next barrier."""
        return ()

    def finish(self) -> Rows:
        """The input has ended. Returns the last rows, with those that a barrier would have sent."""
        return ()

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Run the synchronous part; returns the asynchronous part, which returns encoded sections by name.

        `alone`: the files of a savepoint, which shares no file with a checkpoint.
        """

    def notify_complete(self, checkpoint: int) -> None:
        """`checkpoint` is complete."""
        return

    def notify_abort(self, checkpoint: int) -> None:
        """`checkpoint` was aborted."""
        return

    def close(self) -> None:
        """Free what the operator has opened: the subtask has finished or failed."""
        return
