"""How a pending checkpoint ends: it completes, is aborted, or its storing fails; and how all of them do.

Rules: COORD-06, COORD-08, COORD-09, COORD-12, SUB-02 to SUB-05. None of these steps lets anything start:
whoever ends a checkpoint gives the waiting requests their turn afterwards (COORD-11).
"""

from collections.abc import Sequence

from impl.core.coordinator.events import (
    CHECKPOINT_SUBSUMED,
    FINALIZE_CHECKPOINT_FAILURE,
    PRE_CHECK_REASONS,
    Complete,
    CoordinatorEffect,
    DiscardState,
    FailJob,
    Notice,
    NotifyCoordinator,
    NotifyTaskAbort,
    NotifyTaskComplete,
    NotifyTaskSubsumed,
    Rejected,
    StoreFailure,
)
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.coordinator.requests import Request
from impl.core.coordinator.state import Books
from impl.core.effects import Fail
from impl.core.events import CheckpointType
from impl.core.gate.events import Abort
from impl.core.store.store import Completed

STORE_EXCEPTION = "CheckpointException"


def complete(books: Books, pending: PendingCheckpoint) -> list[CoordinatorEffect]:
    """COORD-08: into the store, older pending ones out, and only then the tasks are told.

    Where the store fails the last effect is the `Fail` that whoever brought the last part gets to see.
    """
    checkpoint = pending.checkpoint
    pending.complete()
    del books.pending[checkpoint]
    books.turns += books.generation.turns_after_end
    done = Completed(checkpoint, pending.type, pending.shared)
    books.retained.shared.completed(checkpoint, done.shared)
    early = not books.generation.completes_after_storing
    effects: list[CoordinatorEffect] = [Complete(checkpoint)] if early else []
    counts_late = books.generation.counts_success_after_storing
    if not counts_late:
        books.failures.completed(checkpoint)
    dropped: tuple[Completed, ...] = ()
    if _is_stored(books, pending):
        failure = books.retained.fails_now(done)
        if failure is not None:
            return effects + _not_stored(books, pending, done, failure)
        dropped = books.retained.add(done)
        effects += books.retained.deletions(dropped)
        if books.generation.turn_after_deletion:
            books.turns += sum(one.type is CheckpointType.CHECKPOINT for one in dropped)
    if not early:
        effects.append(Complete(checkpoint))
    if counts_late:
        books.failures.completed(checkpoint)
    books.pause_ends = books.now + books.options.min_pause_ms
    if pending.type is CheckpointType.SAVEPOINT and books.generation.savepoints_stand_apart:
        return effects  # SUB-05: it is its user's, and replaces nothing
    return effects + _subsume_older(books, checkpoint) + _tell_complete(books, pending, dropped)


def abort(
    books: Books, pending: PendingCheckpoint, reason: str, *, declined: bool = False
) -> list[CoordinatorEffect]:
    """A pending checkpoint ends: what it collected is lost, the failure counts, and everybody is told."""
    outlived = pending.abort()
    del books.pending[pending.checkpoint]
    books.turns += books.generation.turns_after_end
    effects: list[CoordinatorEffect] = [Abort(pending.checkpoint, reason)]
    if pending.type is CheckpointType.STOP:
        effects += fail_stop(books, reason)
    is_registered = books.generation.registers_at_acknowledgement and not pending.is_savepoint
    for task in pending.plan.tasks:
        state, shared = pending.brought_by(task)
        effects += lost(books, state, () if is_registered else shared)
    if reason != CHECKPOINT_SUBSUMED:
        _forget_what_was_put_off(books)
    effects += count_failure(books, pending, reason, declined)
    effects += _tell_abort(books, pending)
    if outlived is None:
        return effects
    if not books.generation.aborts_end_master_phase:
        books.outlived = outlived
        return effects
    books.turns += 1
    return effects + fail_start(books, pending, reason)


def give_up_start(books: Books, pending: PendingCheckpoint, reason: str) -> list[CoordinatorEffect]:
    """Somebody in the master phase has failed: the phase is over before its checkpoint is aborted."""
    pending.skip_master_phase()
    books.turns += 1
    return abort(books, pending, reason)


def fail_start(books: Books, pending: PendingCheckpoint, reason: str) -> list[CoordinatorEffect]:
    """COORD-31: a start came to nothing because its checkpoint had ended."""
    return count_failure(books, pending, reason) if books.generation.counts_failed_starts else []


def fail_stop(books: Books, reason: str) -> list[CoordinatorEffect]:
    """In the oldest generation whoever asked for a stop hears first that it failed, and fails the job."""
    if books.generation.stops_fail_once or reason in PRE_CHECK_REASONS:
        return []
    return [FailJob(reason)]


def _forget_what_was_put_off(books: Books) -> None:
    """With nothing pending the scheduler begins anew where a request was put off."""
    forgets = books.generation.forgets_on_abort and not books.pending and books.scheduler.runs
    if forgets and books.turnstile.call():
        books.scheduler.begin_anew(books.now)


def suspend(books: Books, reason: str) -> list[CoordinatorEffect]:
    """COORD-12: first what waits, then what is pending, so that no end starts anything."""
    books.turnstile.call()
    effects: list[CoordinatorEffect] = []
    for request in books.queue.clear():
        effects += rejected(request, reason)
    effects += abort_all(books, reason)
    books.turns = 0  # nothing waits
    return effects


def abort_all(books: Books, reason: str) -> list[CoordinatorEffect]:
    """Every pending checkpoint ends, oldest first."""
    effects: list[CoordinatorEffect] = []
    for pending in tuple(books.pending.values()):
        effects += abort(books, pending, reason)
    return effects


def rejected(request: Request, reason: str) -> list[CoordinatorEffect]:
    """A request starts nothing; the scheduler need not hear of its own."""
    return [] if request.own else [Rejected(request.type, reason)]


def lost(books: Books, state: object, shared: Sequence[str]) -> list[CoordinatorEffect]:
    """COORD-06: what no checkpoint will use; shared files only if nobody else may use them."""
    own: list[CoordinatorEffect] = [] if state is None else [DiscardState(state)]
    return own + [DiscardState(one) for one in shared if not books.retained.shared.holds(one)]


def count_failure(
    books: Books, pending: PendingCheckpoint, reason: str, declined: bool = False
) -> list[CoordinatorEffect]:
    """Whether this failure is one too many for the job."""
    fails = books.failures.failed(pending.checkpoint, reason, requested=pending.type, declined=declined)
    return [FailJob(reason)] if fails else []


def _is_stored(books: Books, pending: PendingCheckpoint) -> bool:
    return pending.type is CheckpointType.CHECKPOINT or not books.generation.savepoints_stand_apart


def _not_stored(
    books: Books, pending: PendingCheckpoint, done: Completed, failure: StoreFailure
) -> list[CoordinatorEffect]:
    """The store refused what was complete: as in an abort, but what may be stored stays."""
    effects: list[CoordinatorEffect] = []
    if books.generation.completes_after_storing:
        effects.append(Abort(pending.checkpoint, FINALIZE_CHECKPOINT_FAILURE))
    effects += books.retained.given_up(done, failure)
    if books.generation.counts_failing_store:
        effects += count_failure(books, pending, FINALIZE_CHECKPOINT_FAILURE)
    return [*effects, *_tell_abort(books, pending), Fail(STORE_EXCEPTION)]


def _subsume_older(books: Books, checkpoint: int) -> list[CoordinatorEffect]:
    """SUB-02, SUB-04: older pending ones that may be replaced are."""
    effects: list[CoordinatorEffect] = []
    for older in [one for one in books.pending.values() if one.checkpoint < checkpoint]:
        spared = older.is_savepoint if books.generation.spares_pending_savepoints else older.forced
        if not spared:
            effects += abort(books, older, CHECKPOINT_SUBSUMED)
    return effects


def _tell_complete(
    books: Books, pending: PendingCheckpoint, dropped: Sequence[Completed]
) -> list[CoordinatorEffect]:
    checkpoint = pending.checkpoint
    subsumed = max((one.checkpoint for one in dropped), default=None)
    effects: list[CoordinatorEffect] = []
    for task in books.job.reached(pending.plan.tasks):
        effects.append(NotifyTaskComplete(task, checkpoint))
        if subsumed is not None and books.generation.subsumption_messages:
            effects.append(NotifyTaskSubsumed(task, subsumed))
    names = books.options.operator_coordinators
    return effects + [NotifyCoordinator(name, checkpoint, Notice.COMPLETE) for name in names]


def _tell_abort(books: Books, pending: PendingCheckpoint) -> list[CoordinatorEffect]:
    if not books.generation.abort_messages:
        return []
    checkpoint = pending.checkpoint
    names = books.options.operator_coordinators
    return [
        *(NotifyTaskAbort(task, checkpoint) for task in books.job.reached(pending.plan.tasks)),
        *(NotifyCoordinator(name, checkpoint, Notice.ABORT) for name in names),
    ]
