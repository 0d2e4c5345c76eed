"""The requests for checkpoints that wait for their turn: savepoints first, else in the order of asking.

Rules: COORD-03, COORD-11. The queue decides the order; whether its head may start is the coordinator's.
"""

from typing import Final

from impl.core.errors import ProtocolError
from impl.core.events import CheckpointType

QUEUE_LIMIT: Final = 1000
"""CheckpointRequestDecider keeps this many requests."""


class RequestQueue:
    """Waiting requests, head first. `limit` bounds how many there may be."""

    def __init__(self, limit: int = QUEUE_LIMIT) -> None:
        self._limit = limit
        self._savepoints: list[CheckpointType] = []
        self._checkpoints: list[CheckpointType] = []

    def __len__(self) -> int:
        return len(self._savepoints) + len(self._checkpoints)

    @property
    def waiting(self) -> tuple[CheckpointType, ...]:
        """All waiting requests, head first."""
        return (*self._savepoints, *self._checkpoints)

    @property
    def head(self) -> CheckpointType | None:
        """The request whose turn it is, None for an empty queue."""
        waiting = self._savepoints or self._checkpoints
        return waiting[0] if waiting else None

    def join(self, requested: CheckpointType) -> None:
        """A request joins; `ProtocolError` if the queue is full."""
        if len(self) >= self._limit:
            raise ProtocolError(
                f"at most {self._limit} requests wait, and that many do; let pending checkpoints end first"
            )
        if requested is CheckpointType.CHECKPOINT:
            self._checkpoints.append(requested)
        else:
            self._savepoints.append(requested)

    def leave(self) -> None:
        """The head leaves, because it starts or is rejected."""
        del (self._savepoints or self._checkpoints)[0]

    def clear(self) -> tuple[CheckpointType, ...]:
        """All requests leave; answers them, head first."""
        left = self.waiting
        self._savepoints.clear()
        self._checkpoints.clear()
        return left
