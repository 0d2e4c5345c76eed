"""The queue of waiting requests: its order, its bound, and the condition to start. Rules COORD-03, COORD-11.

A request states the type of checkpoint and its priority. `model.coordinator.trigger` starts the requests.
"""

from typing import NamedTuple

from model.store.store import CHECKPOINT

QUEUE_LIMIT = 1000
"""Flink's maximum number of waiting requests."""


class Request(NamedTuple):
    """A request of a user or of the coordinator's scheduler for a checkpoint."""

    type: int
    """CHECKPOINT, SAVEPOINT or STOP of `model.store.store`."""
    forced: bool
    """The request may start however many checkpoints are pending."""
    periodic: bool
    """The minimum pause applies to the request. Requests of the scheduler are periodic."""
    awaits_answer: bool
    """A user has sent the request, so the coordinator reports a rejection. The scheduler gets no report."""


def joined(queue: tuple[Request, ...], request: Request) -> tuple[Request, ...]:
    """The queue after `request` has joined, behind all requests of higher or equal priority."""
    place = 0
    for waiting in queue:
        if not precedes(request, waiting):
            place += 1
    return (*queue[:place], request, *queue[place:])


def precedes(request: Request, other: Request) -> bool:
    """Whether `request` has a higher priority: savepoints come first, then forced, then not periodic ones."""
    if (request.type == CHECKPOINT) != (other.type == CHECKPOINT):
        return other.type == CHECKPOINT
    if request.forced != other.forced:
        return request.forced
    return not request.periodic and other.periodic


def has_capacity(queue: tuple[Request, ...]) -> bool:
    """Whether one more request can join. In a full queue it can replace a last request that is periodic."""
    return len(queue) < QUEUE_LIMIT or queue[-1].periodic


def may_start(head: Request, pending: int, max_concurrent: int) -> bool:
    """Whether the head of the queue can start while `pending` checkpoints are pending (COORD-03)."""
    return head.forced or pending < max_concurrent
