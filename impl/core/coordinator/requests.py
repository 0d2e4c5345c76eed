"""The requests for checkpoints that wait for their turn, and the next one to start.

Rules: COORD-03, COORD-11, COORD-13, COORD-14. Savepoints and stops come before checkpoints, forced requests
before others, the user's before the scheduler's, earlier before later. `PostponedRequest` replaces the queue
in releases before 1.11.
"""

from bisect import insort
from typing import Final, NamedTuple

from impl.core.coordinator.events import (
    ALREADY_QUEUED,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    TOO_MANY_CONCURRENT_CHECKPOINTS,
)
from impl.core.events import CheckpointType

QUEUE_LIMIT: Final = 1000
"""Largest number of waiting requests, as in Flink's CheckpointRequestDecider."""


class Request(NamedTuple):
    """One request. `number`: its place in the order of arrival; `own`: the coordinator has made it."""

    type: CheckpointType
    forced: bool
    periodic: bool
    own: bool
    number: int

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """The sort key of the queue; the lowest is served first."""
        return self.type is CheckpointType.CHECKPOINT, not self.forced, self.periodic, self.number


class Choice(NamedTuple):
    """The request that starts, or a request that is too early (see the glossary). Both None: no request."""

    served: Request | None = None
    too_early: Request | None = None


class RequestQueue:
    """Waiting requests, head first. `limit`: their largest number."""

    def __init__(self, limit: int = QUEUE_LIMIT) -> None:
        self._limit = limit
        self._waiting: list[Request] = []

    @property
    def waiting(self) -> tuple[Request, ...]:
        """All waiting requests, head first."""
        return tuple(self._waiting)

    def join(self, request: Request) -> Request | None:
        """Add a request; returns the request that a full queue rejects, None if there is none.

        A full queue rejects its last request if that is periodic, else the new one.
        """
        if len(self._waiting) >= self._limit and not self._waiting[-1].periodic:
            return request
        insort(self._waiting, request, key=lambda one: one.rank)
        return self._waiting.pop() if len(self._waiting) > self._limit else None

    def choose(self, *, has_capacity: bool, pausing: bool) -> Choice:
        """Remove and return the head of the queue, if it may start or must be dropped.

        `has_capacity`: one more checkpoint may be pending; else only a forced request is served (COORD-03).
        `pausing`: the minimum pause lasts; a periodic head is then removed and not served (COORD-14).
        """
        if not self._waiting:
            return Choice()
        head = self._waiting[0]
        if not has_capacity and not head.forced:
            return Choice()
        self._waiting.remove(head)
        if pausing and head.periodic and not head.forced:
            return Choice(too_early=head)
        return Choice(served=head)

    def clear(self) -> tuple[Request, ...]:
        """Remove and return all requests, head first."""
        left = self.waiting
        self._waiting.clear()
        return left


class PostponedRequest:
    """Up to 1.10: a request starts at once or is dropped. This flag records that one was postponed."""

    def __init__(self) -> None:
        self._postponed = False

    def refusal(self, request: Request, *, has_capacity: bool, pausing: bool) -> str | None:
        """The reason why `request` is dropped; None if it may start.

        Arguments as in `RequestQueue.choose`.
        """
        if request.forced:
            return None
        if self._postponed:
            return ALREADY_QUEUED
        if not has_capacity:
            self._postponed = True
            return TOO_MANY_CONCURRENT_CHECKPOINTS
        return MINIMUM_TIME_BETWEEN_CHECKPOINTS if pausing else None

    def take(self) -> bool:
        """Return whether a request was postponed, and clear this flag."""
        postponed, self._postponed = self._postponed, False
        return postponed
