"""The steps of a coordinator when time passes: checkpoints expire, and the scheduler makes requests.

The module also starts and stops the scheduler. Rules: COORD-10, COORD-12, COORD-26. Time is virtual.
"""

from collections.abc import Sequence
from typing import Final

from impl.core.coordinator.completion import abort, suspend
from impl.core.coordinator.events import CHECKPOINT_EXPIRED, COORDINATOR_SUSPEND, CoordinatorEffect
from impl.core.coordinator.job import RUNNING
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.coordinator.state import CoordinatorState
from impl.core.coordinator.trigger import submit, take_turns
from impl.core.effects import Fail
from impl.core.events import CheckpointType

BAD_ARGUMENT: Final = Fail("IllegalArgumentException")


def advance_to(state: CoordinatorState, until: int) -> list[CoordinatorEffect]:
    """Let time pass until `until`. Expiries and periodic requests happen when due, expiries first."""
    effects: list[CoordinatorEffect] = []
    while True:
        slot = state.scheduler.next_slot
        expired = _next_expired(state, until if slot is None else min(until, slot))
        if expired is not None:
            state.now = expired.deadline
            effects += abort(state, expired, CHECKPOINT_EXPIRED)
            effects += take_turns(state)
        elif slot is not None and slot <= until:
            state.now = slot
            state.scheduler.slot_passed()
            effects += submit(state, state.request(CheckpointType.CHECKPOINT, periodic=True, own=True))
        else:
            break
    state.now = until
    return effects


def give_turn(state: CoordinatorState) -> list[CoordinatorEffect]:
    """The waiting requests get their turn; then the scheduler makes a request that is due now (COORD-11)."""
    return take_turns(state) + advance_to(state, state.now)


def give_turn_after_decline(state: CoordinatorState, checkpoint: int) -> list[CoordinatorEffect]:
    """Give the queue its turn after a decline of `checkpoint`, as `give_turn`.

    Up to 1.10 there is no turn while a checkpoint newer than the declined one is pending.
    """
    if not state.profile.queues_requests and any(one > checkpoint for one in state.pending):
        return []
    return give_turn(state)


def follow_job(state: CoordinatorState) -> list[CoordinatorEffect]:
    """The job has a new status; if it runs, its new executions are reported."""
    effects = _follow_listener(state)
    if state.job.status == RUNNING:
        effects += _report_new_executions(state)
    return effects + advance_to(state, state.now)


def follow_tasks(state: CoordinatorState, tasks: Sequence[str]) -> list[CoordinatorEffect]:
    """Report the new statuses of `tasks` to the listener, one after the other; up to 2.2 no effect."""
    effects: list[CoordinatorEffect] = []
    if not _follows_tasks(state):
        return effects
    for task in tasks:
        if state.job.runs(task) and not state.shut_down and not state.scheduler.runs:
            effects += start_scheduler(state)  # the execution graph starts it, even if other tasks do not run
        state.listener.report(task, is_up=state.job.is_up(task))
        effects += _follow_listener(state)
    return effects


def replace_executions(state: CoordinatorState, tasks: Sequence[str]) -> list[CoordinatorEffect]:
    """These tasks get new executions, which are reported when the job runs."""
    state.job.begin_attempts(tasks)
    state.listener.replace(tasks)
    return _report_new_executions(state) if state.job.status == RUNNING else []


def _report_new_executions(state: CoordinatorState) -> list[CoordinatorEffect]:
    """The listener awaits the new executions. Then each of them that runs or has finished reports this."""
    new = state.listener.await_new(state.job.tasks)
    if not new or not _follows_tasks(state):
        return []
    return _follow_listener(state) + follow_tasks(state, [task for task in new if state.job.is_up(task)])


def _follows_tasks(state: CoordinatorState) -> bool:
    return state.scheduler.configured and state.profile.follows_tasks


def _follow_listener(state: CoordinatorState) -> list[CoordinatorEffect]:
    """Start or stop the scheduler by the status of the job, and from 2.3 on also by the listener."""
    should_run = state.job.status == RUNNING
    if not state.scheduler.configured:
        return [] if should_run else stop_scheduler(state)
    if state.profile.follows_tasks:
        should_run = should_run and state.listener.awaits_none
        if should_run is state.listener.started:
            return []
    state.listener.started = should_run
    return start_scheduler(state) if should_run else stop_scheduler(state)


def start_scheduler(state: CoordinatorState) -> list[CoordinatorEffect]:
    """Start the scheduler. It is stopped first if it runs already, or if the profile has `start_suspends`."""
    if state.shut_down:
        return [BAD_ARGUMENT]
    suspends = state.scheduler.runs or state.profile.start_suspends
    effects = stop_scheduler(state) if suspends else []
    state.scheduler.start(state.now)
    return effects


def stop_scheduler(state: CoordinatorState) -> list[CoordinatorEffect]:
    """Stop the scheduler, reject all waiting requests and abort all pending checkpoints (COORD-12)."""
    state.scheduler.stop()
    return suspend(state, COORDINATOR_SUSPEND)


def _next_expired(state: CoordinatorState, until: int) -> PendingCheckpoint | None:
    """The pending checkpoint with the earliest deadline up to `until`; at equal deadlines the smallest id."""
    due = [one for one in state.pending.values() if one.deadline <= until]
    return min(due, key=lambda one: (one.deadline, one.checkpoint), default=None)
