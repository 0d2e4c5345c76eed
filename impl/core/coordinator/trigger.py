"""The start of a checkpoint: a request gets its turn, an id is drawn, and the tasks are triggered.

Rules: COORD-01 to COORD-04, COORD-11, COORD-23, COORD-30. In the master phase, after the id is drawn and
before the tasks are triggered, the operator coordinators and then the master hooks take their part. No other
checkpoint starts in this time.
"""

from impl.core.coordinator import events
from impl.core.coordinator.completion import abort_start, complete, fail_io, fail_start, fail_stop, rejected
from impl.core.coordinator.pending import PendingCheckpoint, PendingPhase
from impl.core.coordinator.requests import Request
from impl.core.coordinator.state import CoordinatorState
from impl.core.effects import Fail
from impl.core.events import CheckpointType


def submit(state: CoordinatorState, request: Request) -> list[events.CoordinatorEffect]:
    """A request joins the queue, and the queue gets its turn."""
    if not state.profile.queues_requests:
        return _start_or_drop(state, request)
    surplus = state.queue.join(request)
    effects = [] if surplus is None else rejected(surplus, events.TOO_MANY_CHECKPOINT_REQUESTS)
    return effects + take_turns(state)


def take_turns(state: CoordinatorState) -> list[events.CoordinatorEffect]:
    """Start waiting requests from the head on, as far as COORD-03 and the minimum pause allow (COORD-11)."""
    if not state.profile.queues_requests:  # the scheduler repeats a postponed request now
        if state.postponed.take() and state.scheduler.runs:
            state.scheduler.move(state.now)
        return []
    effects: list[events.CoordinatorEffect] = []
    turns = state.end_turns()
    while not (state.in_master_phase or state.too_many_deletions):
        choice = state.queue.choose(has_capacity=state.has_capacity, pausing=state.pausing)
        if choice.too_early is not None:
            effects += _reject_early(state, choice.too_early)
            turns -= 1
            if turns > 0:
                continue
            break
        if choice.served is None:
            break
        if _outlasts_event(state, choice.served):
            turns = 0
        effects += _start(state, choice.served)
        turns += state.end_turns()
    return effects


def _outlasts_event(state: CoordinatorState, request: Request) -> bool:
    """Whether the start of `request` ends after the event. The other turns of the event then do nothing."""
    if _pre_check(state, request):
        return False
    return state.profile.plans_later or state.job.plan() is not None


def continue_master_phase(
    state: CoordinatorState, pending: PendingCheckpoint
) -> list[events.CoordinatorEffect]:
    """Move to the first phase that awaits an answer; when the master phase is over, trigger the tasks."""
    before = pending.phase
    effects: list[events.CoordinatorEffect] = []
    phase = pending.next_phase()
    if phase is PendingPhase.HOOKS and before is not phase:
        effects += [events.TriggerHook(name, pending.checkpoint) for name in state.options.hooks]
    if phase is PendingPhase.TASKS and before is not phase:
        kind = events.TriggeredType(pending.type)
        if state.requires_full and pending.type is CheckpointType.CHECKPOINT:
            kind = events.TriggeredType.FULL_CHECKPOINT
        effects += [events.TriggerTask(task, pending.checkpoint, kind) for task in pending.plan.triggered]
    if pending.fully_acknowledged:  # this event is no acknowledgement, so `Fail` is not among its effects
        unwritten = events.IoStep.METADATA in state.failing_io
        done = complete(state, pending)
        effects += [effect for effect in done if not isinstance(effect, Fail)]
        if isinstance(done[-1], Fail):
            count = fail_io if unwritten else fail_start
            effects += count(state, pending, events.FINALIZE_CHECKPOINT_FAILURE)
    return effects


def answer(
    state: CoordinatorState, name: str, checkpoint: int, *, of_hook: bool, fails: bool
) -> list[events.CoordinatorEffect]:
    """An operator coordinator or a hook answers; only an awaited answer counts (COORD-30)."""
    if state.orphaned is not None:
        if checkpoint != state.orphaned.checkpoint or not state.orphaned.answer(name, of_hook, fails=fails):
            return []
        state.orphaned = None
        return take_turns(state)
    pending = state.pending.get(checkpoint)
    if pending is None or name not in (pending.awaited_hooks if of_hook else pending.awaited_coordinators):
        return []
    if fails:
        return abort_start(state, pending, events.TRIGGER_CHECKPOINT_FAILURE) + take_turns(state)
    if of_hook:
        pending.hook_done(name)
    else:
        pending.coordinator_done(name)
    state.turns += 1
    return continue_master_phase(state, pending) + take_turns(state)


def _start(state: CoordinatorState, request: Request) -> list[events.CoordinatorEffect]:
    """Check the request, draw the next id and begin the master phase (COORD-01, COORD-02, COORD-04)."""
    if refusal := _pre_check(state, request):
        return rejected(request, refusal)
    plan = state.job.plan()
    if plan is None:
        return rejected(request, events.NOT_ALL_REQUIRED_TASKS_RUNNING)
    if state.fails(events.IoStep.ID):  # COORD-36
        return _refuse_for_io(state, request)
    checkpoint = state.next_id
    state.next_id += 1
    if state.profile.location_first and state.fails(events.IoStep.LOCATION):  # COORD-35
        return _refuse_for_io(state, request)
    if not plan.tasks:
        return rejected(request, events.TRIGGER_CHECKPOINT_FAILURE)
    options = state.options
    deadline = state.now + options.timeout_ms
    pending = PendingCheckpoint(
        checkpoint, request, plan, deadline, options.operator_coordinators, options.hooks
    )
    state.pending[checkpoint] = pending
    if state.fails(events.IoStep.LOCATION):  # COORD-35
        return abort_start(state, pending, events.IO_EXCEPTION)
    first = [events.CheckpointOperatorCoordinator(name, checkpoint) for name in options.operator_coordinators]
    return [*first, *continue_master_phase(state, pending)]


def _refuse_for_io(state: CoordinatorState, request: Request) -> list[events.CoordinatorEffect]:
    """Reject a request whose I/O has failed. As it has no checkpoint id, each such failure may count."""
    if not state.profile.queues_requests:
        return rejected(request, events.EXCEPTION)
    if not state.profile.names_io_failures:
        return rejected(request, events.TRIGGER_CHECKPOINT_FAILURE)
    effects = rejected(request, events.IO_EXCEPTION)
    if state.profile.counts_failed_io and state.failures.failed(
        None, events.IO_EXCEPTION, requested=request.type
    ):
        effects.append(events.FailJob(events.IO_EXCEPTION))
    return effects


def _pre_check(state: CoordinatorState, request: Request) -> str | None:
    """The reason why no checkpoint may start now, whatever the tasks do; None if one may."""
    if state.shut_down:
        return events.COORDINATOR_SHUTDOWN
    if request.periodic and not state.scheduler.runs:
        return events.PERIODIC_SCHEDULER_SHUTDOWN
    return None


def _reject_early(state: CoordinatorState, request: Request) -> list[events.CoordinatorEffect]:
    """Reject a request within the minimum pause; the next slot moves to the end of the pause."""
    if state.pause_ends is not None:
        state.scheduler.move(state.pause_ends)
    return rejected(request, events.MINIMUM_TIME_BETWEEN_CHECKPOINTS)


def _start_or_drop(state: CoordinatorState, request: Request) -> list[events.CoordinatorEffect]:
    """Up to 1.10, without a queue: a request starts at once or is rejected."""
    if refusal := _pre_check(state, request):
        effects = rejected(request, refusal)
        return fail_stop(state, refusal) + effects if request.type is CheckpointType.STOP else effects
    refusal = state.postponed.refusal(request, has_capacity=state.has_capacity, pausing=state.pausing)
    if refusal == events.MINIMUM_TIME_BETWEEN_CHECKPOINTS:
        return _reject_early(state, request)
    return rejected(request, refusal) if refusal else _start(state, request)
