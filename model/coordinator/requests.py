"""Waiting requests: their order, how many may wait, and which may start. Rules COORD-03, COORD-11.

A request says what is asked for and how urgently. The file knows a queue of them; what a start does is
`model.coordinator.trigger`.
"""

from typing import NamedTuple

from model.store.store import CHECKPOINT

QUEUE_LIMIT = 1000
"""How many requests may wait, as Flink limits it."""


class Request(NamedTuple):
    """Somebody, or the coordinator's own scheduler, wants a checkpoint."""

    type: int
    """CHECKPOINT, SAVEPOINT or STOP, as `model.store.store` has them."""
    forced: bool
    """It starts whatever else is pending."""
    periodic: bool
    """It is one of many, and the min pause is meant for it."""
    asked: bool
    """Somebody awaits an answer; the scheduler does not."""


def joined(queue: tuple[Request, ...], request: Request) -> tuple[Request, ...]:
    """The queue with one more: behind all that goes before it, and behind its equals."""
    place = 0
    for waiting in queue:
        if not goes_before(request, waiting):
            place += 1
    return (*queue[:place], request, *queue[place:])


def goes_before(request: Request, other: Request) -> bool:
    """Savepoints before checkpoints, then forced before not forced, then others before periodic."""
    if (request.type == CHECKPOINT) != (other.type == CHECKPOINT):
        return other.type == CHECKPOINT
    if request.forced != other.forced:
        return request.forced
    return not request.periodic and other.periodic


def has_room(queue: tuple[Request, ...]) -> bool:
    """One more may join, if need be in the place of a periodic one."""
    return len(queue) < QUEUE_LIMIT or queue[-1].periodic


def may_start(head: Request, pending: int, max_concurrent: int) -> bool:
    """Whether the head of the queue need not wait for the end of a pending checkpoint (COORD-03)."""
    return head.forced or pending < max_concurrent
