"""The requests for checkpoints that wait for their turn, and which of them has it.

Rules: COORD-03, COORD-11. The order: what stops the job or is a savepoint before checkpoints, forced before
not forced, somebody's wish before the schedule's, the earlier before the later. The queue decides; what a
start needs beyond that is the coordinator's. `Turnstile` is how releases before 1.11 did without a queue.
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
"""CheckpointRequestDecider keeps this many requests."""


class Request(NamedTuple):
    """One request. `number` counts them; `own`: the coordinator's scheduler asks, nobody hears a refusal."""

    type: CheckpointType
    forced: bool = False
    periodic: bool = False
    own: bool = False
    number: int = 0

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """Requests are served in ascending order of this."""
        return self.type is CheckpointType.CHECKPOINT, not self.forced, self.periodic, self.number


class Choice(NamedTuple):
    """Whose turn it is; or who came before the minimum pause was over and leaves unserved."""

    served: Request | None = None
    too_early: Request | None = None


class RequestQueue:
    """Waiting requests, head first. `limit` bounds how many there may be."""

    def __init__(self, limit: int = QUEUE_LIMIT) -> None:
        self._limit = limit
        self._waiting: list[Request] = []

    @property
    def waiting(self) -> tuple[Request, ...]:
        """All waiting requests, head first."""
        return tuple(self._waiting)

    def join(self, request: Request) -> Request | None:
        """A request joins; answers the one that there is no room for, None if there is.

        A full queue turns away its last one if the schedule asked for that, else the newcomer.
        """
        if len(self._waiting) >= self._limit and not self._waiting[-1].periodic:
            return request
        insort(self._waiting, request, key=lambda one: one.rank)
        return self._waiting.pop() if len(self._waiting) > self._limit else None

    def choose(self, *, room: bool, pausing: bool) -> Choice:
        """The head leaves if it may. `room`: one more may be pending; `pausing`: the pause is not over.

        Without room only a forced request is served (COORD-03). Only the schedule's requests keep the
        pause, and one that comes within it is not served later.
        """
        if not self._waiting:
            return Choice()
        head = self._waiting[0]
        if not room and not head.forced:
            return Choice()
        del self._waiting[0]
        if pausing and head.periodic and not head.forced:
            return Choice(too_early=head)
        return Choice(served=head)

    def clear(self) -> tuple[Request, ...]:
        """All requests leave; answers them, head first."""
        left = self.waiting
        self._waiting.clear()
        return left


class Turnstile:
    """Lets a request through or drops it; remembers only that one was put off."""

    def __init__(self) -> None:
        self._put_off = False

    def refusal(self, request: Request, *, room: bool, pausing: bool) -> str | None:
        """Why `request` is dropped, None if it may start at once."""
        if request.forced:
            return None
        if self._put_off:
            return ALREADY_QUEUED
        if not room:
            self._put_off = True
            return TOO_MANY_CONCURRENT_CHECKPOINTS
        return MINIMUM_TIME_BETWEEN_CHECKPOINTS if pausing else None

    def call(self) -> bool:
        """Whether a request was put off; it is forgotten with the answer."""
        put_off, self._put_off = self._put_off, False
        return put_off
