"""The interface of operators; `sources`, `processing` and `sinks` have the implementations.

An operator processes rows and takes snapshots. The subtask's thread makes all calls, except the call of the
asynchronous part of a snapshot.
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
        """Fire at most `most` due timers; returns the rows to send."""

    def wait(self) -> float | None:
        """The seconds until the next timer may be due, 0 if a timer is due; None without timers."""


class Operator(Protocol):
    """The operator of one subtask. By default it emits nothing and ignores notifications."""

    inputs: tuple[Process, ...] = ()
    """For each input, the function that processes its rows and returns the rows to send."""

    listeners: Sequence[object] = ()
    """The users' objects that may be checkpoint listeners."""
    timers: Timers | None = None
    """The timers of the function; None without timers."""

    @property
    def offset(self) -> int | None:
        """The number of rows that a source has read, including those before a restore; None if no source."""
        return None

    def before_barrier(self) -> Rows:
        """The rows to send before the next barrier."""
        return ()

    def finish(self) -> Rows:
        """End the input; returns the last rows, including those that `before_barrier` would return."""
        return ()

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Run the synchronous part; returns the asynchronous part, which returns encoded sections by name.

        `alone`: for a savepoint, the place of its files, which no checkpoint shares; None for a checkpoint.
        """

    def notify_complete(self, checkpoint: int) -> None:
        """Receive the notification that `checkpoint` is complete."""
        return

    def notify_abort(self, checkpoint: int) -> None:
        """Receive the notification that `checkpoint` was aborted."""
        return

    def close(self) -> None:
        """Free all resources of the operator, because the subtask has finished or failed."""
        return
