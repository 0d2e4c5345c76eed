"""How a checkpoint starts: a request gets its turn, an id is drawn, and at last the tasks are triggered.

Rules: COORD-01 to COORD-04, COORD-11. Between the id and the tasks lies the master phase, in which the
operator coordinators and then the master hooks take their part; meanwhile nothing else starts.
"""

from impl.core.coordinator.completion import complete, fail_start, fail_stop, give_up_start, rejected
from impl.core.coordinator.events import (
    COORDINATOR_SHUTDOWN,
    FINALIZE_CHECKPOINT_FAILURE,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    PERIODIC_SCHEDULER_SHUTDOWN,
    TOO_MANY_CHECKPOINT_REQUESTS,
    TOO_MANY_CONCURRENT_CHECKPOINTS,
    TRIGGER_CHECKPOINT_FAILURE,
    CheckpointOperatorCoordinator,
    CoordinatorEffect,
    TriggerHook,
    TriggerTask,
)
from impl.core.coordinator.pending import PendingCheckpoint, PendingPhase
from impl.core.coordinator.requests import Request
from impl.core.coordinator.state import Books
from impl.core.effects import Fail
from impl.core.events import CheckpointType


def ask(books: Books, request: Request) -> list[CoordinatorEffect]:
    """Somebody asks; what waits gets its turn."""
    if not books.generation.queues_requests:
        return _pass(books, request)
    surplus = books.queue.join(request)
    effects = [] if surplus is None else rejected(surplus, TOO_MANY_CHECKPOINT_REQUESTS)
    return effects + take_turns(books)


def take_turns(books: Books) -> list[CoordinatorEffect]:
    """COORD-11: requests start from the head on, as far as COORD-03 and the pause allow."""
    if not books.generation.queues_requests:  # what was put off is made up for: the next slot is now
        if books.turnstile.call() and books.scheduler.runs:
            books.scheduler.move(books.now)
        return []
    effects: list[CoordinatorEffect] = []
    turns, books.turns = books.turns, 0
    while not books.in_master_phase:
        choice = books.queue.choose(room=books.room, pausing=books.pausing)
        if choice.too_early is not None:
            effects += _too_early(books, choice.too_early)
            turns -= 1
            if turns > 0:
                continue
            break
        if choice.served is None:
            break
        if _is_busy_with(books, choice.served):
            turns = 0
        effects += _start(books, choice.served)
    return effects


def _is_busy_with(books: Books, request: Request) -> bool:
    """Whether starting it takes longer than the event, so that the other turns come to nothing."""
    if _pre_check(books, request):
        return False
    return books.generation.plans_in_background or books.job.plan() is not None


def go_on(books: Books, pending: PendingCheckpoint) -> list[CoordinatorEffect]:
    """The master phase goes on as far as nobody in it is awaited."""
    before = pending.phase
    effects: list[CoordinatorEffect] = []
    phase = pending.next_phase()
    if phase is PendingPhase.HOOKS and before is not phase:
        effects += [TriggerHook(name, pending.checkpoint) for name in books.options.hooks]
    if phase is PendingPhase.TASKS and before is not phase:
        effects += [TriggerTask(task, pending.checkpoint, pending.type) for task in pending.plan.triggered]
    if pending.fully_acknowledged:  # the tasks were faster; no call of theirs hears of a failing store
        done = complete(books, pending)
        effects += [effect for effect in done if not isinstance(effect, Fail)]
        if len(effects) and isinstance(done[-1], Fail):
            effects += fail_start(books, pending, FINALIZE_CHECKPOINT_FAILURE)
    return effects


def answer(
    books: Books, name: str, checkpoint: int, *, of_hook: bool, fails: bool
) -> list[CoordinatorEffect]:
    """An operator coordinator or a hook answers; only once, and only to what it was asked (COORD-30)."""
    if books.outlived is not None:
        if checkpoint != books.outlived.checkpoint or not books.outlived.answer(name, of_hook, fails=fails):
            return []
        books.outlived = None
        return take_turns(books)
    pending = books.pending.get(checkpoint)
    if pending is None or name not in (pending.awaited_hooks if of_hook else pending.awaited_coordinators):
        return []
    if fails:
        return give_up_start(books, pending, TRIGGER_CHECKPOINT_FAILURE) + take_turns(books)
    if of_hook:
        pending.hook_done(name)
    else:
        pending.coordinator_done(name)
    books.turns += 1
    return go_on(books, pending) + take_turns(books)


def _start(books: Books, request: Request) -> list[CoordinatorEffect]:
    """COORD-01, COORD-02, COORD-04: the pre-checks, the next id, and the beginning of the master phase."""
    if refusal := _pre_check(books, request):
        return rejected(request, refusal)
    plan = books.job.plan()
    if plan is None:
        return rejected(request, NOT_ALL_REQUIRED_TASKS_RUNNING)
    checkpoint = books.next_id
    books.next_id += 1
    if not plan.tasks:
        return rejected(request, TRIGGER_CHECKPOINT_FAILURE)
    options = books.options
    deadline = books.now + options.timeout_ms
    pending = PendingCheckpoint(
        checkpoint, request, plan, deadline, options.operator_coordinators, options.hooks
    )
    books.pending[checkpoint] = pending
    asked = [CheckpointOperatorCoordinator(name, checkpoint) for name in options.operator_coordinators]
    return [*asked, *go_on(books, pending)]


def _pre_check(books: Books, request: Request) -> str | None:
    if books.shut_down:
        return COORDINATOR_SHUTDOWN
    if request.periodic and not books.scheduler.runs:
        return PERIODIC_SCHEDULER_SHUTDOWN
    return None


def _too_early(books: Books, request: Request) -> list[CoordinatorEffect]:
    if books.pause_ends is not None and not books.shut_down:
        books.scheduler.move(books.pause_ends)
    return rejected(request, MINIMUM_TIME_BETWEEN_CHECKPOINTS)


def _pass(books: Books, request: Request) -> list[CoordinatorEffect]:
    """Without a queue: a request starts now or never, and the schedule makes up for it."""
    if refusal := _pre_check(books, request):
        said = rejected(request, refusal)
        return fail_stop(books, refusal) + said if request.type is CheckpointType.STOP else said
    refusal = books.turnstile.refusal(request, room=books.room, pausing=books.pausing)
    if refusal == MINIMUM_TIME_BETWEEN_CHECKPOINTS:
        return _too_early(books, request)
    if refusal == TOO_MANY_CONCURRENT_CHECKPOINTS:
        books.scheduler.end_timer()
    return rejected(request, refusal) if refusal else _start(books, request)
