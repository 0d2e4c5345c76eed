"""Waiting requests: their order, their number, and which may start. Rules COORD-03, COORD-11.

A request states the type of checkpoint and its priority. The module knows a queue of requests;
`model.coordinator.trigger` starts them.
"""

from typing import NamedTuple

from model.store.store import CHECKPOINT

QUEUE_LIMIT = 1000
"""Flink's maximum number of waiting requests."""


class Request(NamedTuple):
    """A user, or the coordinator's own scheduler, requests a checkpoint."""

    type: int
    """CHECKPOINT, SAVEPOINT or STOP of `model.store.store`."""
    forced: bool
    """It may start whatever else is pending."""
    periodic: bool
    """The scheduler repeats it, and the minimum pause applies to it."""
    awaits_answer: bool
    """A user awaits an answer; the scheduler does not."""


def joined(queue: tuple[Request, ...], request: Request) -> tuple[Request, ...]:
    """The queue with the request after all requests of higher or the same priority."""
    place = 0
    for waiting in queue:
        if not precedes(request, waiting):
            place += 1
    return (*queue[:place], request, *queue[place:])


def precedes(request: Request, other: Request) -> bool:
    """Savepoints before checkpoints, then forced before not forced, then others before periodic."""
    if (request.type == CHECKPOINT) != (other.type == CHECKPOINT):
        return other.type == CHECKPOINT
    if request.forced != other.forced:
        return request.forced
    return not request.periodic and other.periodic


def has_capacity(queue: tuple[Request, ...]) -> bool:
    """One more request may join, perhaps in place of a periodic one."""
    return len(queue) < QUEUE_LIMIT or queue[-1].periodic


def may_start(head: Request, pending: int, max_concurrent: int) -> bool:
    """The head of the queue need not wait for the end of a pending checkpoint (COORD-03)."""
    return head.forced or pending < max_concurrent
