"""What happens to a coordinator because time passes: expiries, and the requests of its own scheduler.

Rules: COORD-10, and COORD-12 where the scheduler stops. Time passes only when somebody says so.
"""

from typing import Final

from impl.core.books import Books
from impl.core.coordinator_effects import CHECKPOINT_EXPIRED, COORDINATOR_SUSPEND
from impl.core.effects import Effect, Fail
from impl.core.ending import abort, suspend
from impl.core.events import CheckpointType
from impl.core.pending import PendingCheckpoint
from impl.core.starting import ask, take_turns

BAD_ARGUMENT: Final = Fail("IllegalArgumentException")


def pass_until(books: Books, until: int) -> list[Effect]:
    """What is due up to `until` happens, each at its own moment; at one moment expiries come first."""
    effects: list[Effect] = []
    while True:
        slot = books.scheduler.next_slot
        expired = _next_expired(books, until if slot is None else min(until, slot))
        if expired is not None:
            books.now = expired.deadline
            effects += abort(books, expired, CHECKPOINT_EXPIRED)
            effects += take_turns(books)
        elif slot is not None and slot <= until:
            books.now = slot
            books.scheduler.slot_passed()
            effects += ask(books, books.request(CheckpointType.CHECKPOINT, periodic=True, own=True))
        else:
            break
    books.now = until
    return effects


def give_turn(books: Books) -> list[Effect]:
    """COORD-11: what waits gets its turn, and the scheduler asks where that is due at this moment."""
    return take_turns(books) + pass_until(books, books.now)


def give_turn_after_decline(books: Books, checkpoint: int) -> list[Effect]:
    """Without a queue nothing is made up for while a newer checkpoint than the declined one is pending."""
    if not books.generation.queues_requests and any(one > checkpoint for one in books.pending):
        return []
    return give_turn(books)


def start_scheduler(books: Books) -> list[Effect]:
    """If the job is ready and there is anything to schedule; a first slot without delay has come."""
    if not books.job.ready or not books.scheduler.configured:
        return []
    if books.shut_down:
        return [BAD_ARGUMENT]
    effects = stop_scheduler(books)
    books.scheduler.start(books.now)
    return effects + pass_until(books, books.now)


def stop_scheduler(books: Books) -> list[Effect]:
    """COORD-12: with the scheduler all that waits or is pending ends."""
    books.scheduler.stop()
    return suspend(books, COORDINATOR_SUSPEND)


def _next_expired(books: Books, until: int) -> PendingCheckpoint | None:
    """The pending checkpoint with the earliest deadline up to `until`; of equal ones the smaller id."""
    due = [one for one in books.pending.values() if one.deadline <= until]
    return min(due, key=lambda one: (one.deadline, one.checkpoint), default=None)
