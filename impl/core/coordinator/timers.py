"""What happens to a coordinator because time passes: expiries, and the requests of its own scheduler.

Rules: COORD-10, and COORD-12 where the scheduler stops. Time passes only when somebody says so.
"""

from collections.abc import Sequence
from typing import Final

from impl.core.coordinator.completion import abort, suspend
from impl.core.coordinator.events import CHECKPOINT_EXPIRED, COORDINATOR_SUSPEND, CoordinatorEffect
from impl.core.coordinator.job import RUNNING
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.coordinator.state import Books
from impl.core.coordinator.trigger import ask, take_turns
from impl.core.effects import Fail
from impl.core.events import CheckpointType

BAD_ARGUMENT: Final = Fail("IllegalArgumentException")


def pass_until(books: Books, until: int) -> list[CoordinatorEffect]:
    """What is due up to `until` happens, each at its own moment; at one moment expiries come first."""
    effects: list[CoordinatorEffect] = []
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


def give_turn(books: Books) -> list[CoordinatorEffect]:
    """COORD-11: what waits gets its turn, and the scheduler asks where that is due at this moment."""
    return take_turns(books) + pass_until(books, books.now)


def give_turn_after_decline(books: Books, checkpoint: int) -> list[CoordinatorEffect]:
    """Without a queue nothing is made up for while a newer checkpoint than the declined one is pending."""
    if not books.generation.queues_requests and any(one > checkpoint for one in books.pending):
        return []
    return give_turn(books)


def hear_of_job(books: Books) -> list[CoordinatorEffect]:
    """The job has a new status; once it runs its new executions are deployed."""
    effects = _listen(books)
    if books.job.status == RUNNING:
        effects += _deploy(books)
    return effects + pass_until(books, books.now)


def hear_of_tasks(books: Books, tasks: Sequence[str]) -> list[CoordinatorEffect]:
    """These tasks have new statuses, one after the other."""
    effects: list[CoordinatorEffect] = []
    if not _listens_to_tasks(books):
        return effects
    for task in tasks:
        if books.job.runs(task) and not books.shut_down and not books.scheduler.runs:
            effects += start_scheduler(books)  # the execution graph does, whatever the other tasks do
        books.listener.heard(task, is_up=books.job.is_up(task))
        effects += _listen(books)
    return effects


def replace_executions(books: Books, tasks: Sequence[str]) -> list[CoordinatorEffect]:
    """These tasks get new executions, which are deployed when the job runs."""
    books.job.begin_attempts(tasks)
    books.listener.replaced(tasks)
    return _deploy(books) if books.job.status == RUNNING else []


def _deploy(books: Books) -> list[CoordinatorEffect]:
    """New executions are scheduled; then those whose tasks run, or have finished, do so."""
    fresh = books.listener.deploy(books.job.tasks)
    if not fresh or not _listens_to_tasks(books):
        return []
    return _listen(books) + hear_of_tasks(books, [task for task in fresh if books.job.is_up(task)])


def _listens_to_tasks(books: Books) -> bool:
    return books.scheduler.configured and books.generation.schedules_by_tasks


def _listen(books: Books) -> list[CoordinatorEffect]:
    """The listener starts and stops the scheduler; without an interval nobody listens to a start."""
    wanted = books.job.status == RUNNING
    if not books.scheduler.configured:
        return [] if wanted else stop_scheduler(books)
    if books.generation.schedules_by_tasks:
        wanted = wanted and books.listener.awaits_nobody
        if wanted is books.listener.started:
            return []
    books.listener.started = wanted
    return start_scheduler(books) if wanted else stop_scheduler(books)


def start_scheduler(books: Books) -> list[CoordinatorEffect]:
    """It runs from now on, and its first slot comes after a delay."""
    if books.shut_down:
        return [BAD_ARGUMENT]
    leaves_alone = books.generation.starts_without_suspending and not books.scheduler.runs
    effects = [] if leaves_alone else stop_scheduler(books)
    books.scheduler.start(books.now)
    return effects


def stop_scheduler(books: Books) -> list[CoordinatorEffect]:
    """COORD-12: with the scheduler all that waits or is pending ends."""
    books.scheduler.stop()
    return suspend(books, COORDINATOR_SUSPEND)


def _next_expired(books: Books, until: int) -> PendingCheckpoint | None:
    """The pending checkpoint with the earliest deadline up to `until`; of equal ones the smaller id."""
    due = [one for one in books.pending.values() if one.deadline <= until]
    return min(due, key=lambda one: (one.deadline, one.checkpoint), default=None)
