"""The queue of waiting requests: its order, its bound, and which request can start. Rules COORD-03, COORD-11.

A request states the type of checkpoint and its priority. `model.coordinator.trigger` starts the requests.
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
    """The request starts however many checkpoints are pending."""
    periodic: bool
    """The scheduler repeats the request, and the minimum pause applies to it."""
    awaits_answer: bool
    """A user awaits an answer. The scheduler awaits none."""


def joined(queue: tuple[Request, ...], request: Request) -> tuple[Request, ...]:
    """The queue with `request` after all requests of higher or equal priority."""
    place = 0
    for waiting in queue:
        if not precedes(request, waiting):
            place += 1
    return (*queue[:place], request, *queue[place:])


def precedes(request: Request, other: Request) -> bool:
    """Whether the request has a higher priority: savepoints, then forced, then non-periodic requests."""
    if (request.type == CHECKPOINT) != (other.type == CHECKPOINT):
        return other.type == CHECKPOINT
    if request.forced != other.forced:
        return request.forced
    return not request.periodic and other.periodic


def has_capacity(queue: tuple[Request, ...]) -> bool:
    """Whether one more request can join the queue. In a full queue it replaces a periodic one at the end."""
    return len(queue) < QUEUE_LIMIT or queue[-1].periodic


def may_start(head: Request, pending: int, max_concurrent: int) -> bool:
    """Whether the head of the queue can start while `pending` checkpoints are pending (COORD-03)."""
    return head.forced or pending < max_concurrent
