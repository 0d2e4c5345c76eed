"""The coordinator's timers: periodic requests and time-outs. Rule COORD-10.

The scheduler runs while the job does and makes a request in each interval. Only `on_advance` advances time.
Every due timer fires at its own point in time, time-outs before requests.
"""

from model.coordinator.completion import abort
from model.coordinator.events import TRIGGER_CHECKPOINT_FAILURE
from model.coordinator.pending import Pending
from model.coordinator.requests import Request
from model.coordinator.state import Coordinator, find, to_trigger
from model.coordinator.trigger import rejection, request, take_turns
from model.events import (
    CHECKPOINT_EXPIRED,
    COORDINATOR_SUSPEND,
    NONE,
    Effects,
    Fail,
    Rules,
    Step,
)
from model.store.store import CHECKPOINT


def on_advance(coordinator: Coordinator, ms: int) -> Step[Coordinator]:
    """Time passes; every due timer fires at its own point in time (COORD-10)."""
    reached = run_until(coordinator, coordinator.now + ms, (), ("COORD-10",))
    return reached._replace(state=reached.state._replace(now=coordinator.now + ms))


def run_until(coordinator: Coordinator, target: int, effects: Effects, rules: Rules) -> Step[Coordinator]:
    """Fires all timers due up to `target`, in the order of time; the clock stays at the last of them."""
    while True:
        expired = next_due(coordinator.pending, target)
        due = coordinator.scheduler.due
        is_due = due != NONE and due <= target
        if expired is not None and not (is_due and due < expired.deadline):
            coordinator = coordinator._replace(now=expired.deadline)
            coordinator, ended, counting = abort(coordinator, expired, CHECKPOINT_EXPIRED)
            effects, rules = (*effects, *ended), (*rules, "COORD-11", *counting)
            coordinator, effects, rules = follow(coordinator, effects, rules)
        elif is_due:
            coordinator, emitted, fired = make_request(coordinator._replace(now=due))
            effects, rules = (*effects, *emitted), (*rules, "COORD-26", *fired)
        else:
            return Step(coordinator, effects, rules)


def next_due(pending: tuple[Pending, ...], target: int) -> Pending | None:
    """The first checkpoint to expire by `target`; of equal deadlines the smaller id.

    None if there is none.
    """
    first: Pending | None = None
    for candidate in pending:
        if candidate.deadline <= target and (first is None or candidate.deadline < first.deadline):
            first = candidate
    return first


def make_request(coordinator: Coordinator) -> Step[Coordinator]:
    """The scheduler requests a checkpoint, and sets its timer to the next interval."""
    due = coordinator.now + coordinator.plan.interval
    coordinator = coordinator._replace(scheduler=coordinator.scheduler._replace(due=due))
    return request(coordinator, Request(CHECKPOINT, forced=False, periodic=True, awaits_answer=False))


def follow(coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
    """A checkpoint has ended: waiting requests may start (COORD-11), and a postponed one is repeated."""
    if coordinator.plan.profile.queues:
        return take_turns(coordinator, effects, rules)
    scheduler = coordinator.scheduler
    if not scheduler.put_off:
        return settle(coordinator, effects, rules)
    due = coordinator.now if scheduler.runs else NONE
    coordinator = coordinator._replace(scheduler=scheduler._replace(put_off=False, due=due))
    return settle(coordinator, effects, rules)


def settle(coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
    """Fires the scheduler's timer if it is due now."""
    if coordinator.scheduler.due == NONE:
        return Step(coordinator, effects, rules)
    return run_until(coordinator, coordinator.now, effects, rules)


# ---------------------------------------------------------------- lost triggers, start and stop


def on_trigger_fails(coordinator: Coordinator, task: int, checkpoint: int) -> Step[Coordinator]:
    """The trigger of a task was lost."""
    pending = find(coordinator.pending, checkpoint)
    if pending is None or not coordinator.plan.profile.lost_triggers_abort:
        return Step(coordinator, (), ("COORD-24",))
    if coordinator.master == checkpoint or task not in to_trigger(coordinator, pending):
        return Step(coordinator, (), ("COORD-24",))
    coordinator, effects, rules = abort(coordinator, pending, TRIGGER_CHECKPOINT_FAILURE)
    return follow(coordinator, effects, ("COORD-24", "COORD-11", *rules))


def suspend(coordinator: Coordinator, reason: str = COORDINATOR_SUSPEND) -> Step[Coordinator]:
    """Stops the scheduler, rejects waiting requests and aborts pending checkpoints (COORD-12)."""
    effects: Effects = ()
    rules: Rules = ("COORD-12",)
    for waiting in coordinator.queue:
        effects = (*effects, *rejection(waiting, reason))
    scheduler = coordinator.scheduler._replace(runs=False, due=NONE, put_off=False)
    coordinator = coordinator._replace(queue=(), scheduler=scheduler)
    for pending in coordinator.pending:
        coordinator, ended, counting = abort(coordinator, pending, reason)
        effects, rules = (*effects, *ended), (*rules, *counting)
    return Step(coordinator._replace(turns=0), effects, rules)


def start_scheduler(coordinator: Coordinator) -> Step[Coordinator]:
    """Starts the scheduler; its first request is due after a delay."""
    if not coordinator.open:
        return Step(coordinator, (Fail("IllegalArgumentException"),), ("COORD-25", "COORD-26"))
    plan = coordinator.plan
    effects: Effects = ()
    if plan.profile.start_suspends or coordinator.scheduler.runs:
        coordinator, effects, _ = suspend(coordinator)
    delay = coordinator.scheduler.delay
    scheduler = coordinator.scheduler._replace(runs=True, due=coordinator.now + delay)
    if plan.profile.restarts_after_pause:
        scheduler = scheduler._replace(delay=plan.min_pause)
    return Step(coordinator._replace(scheduler=scheduler), effects, ("COORD-26",))
