"""The checkpoint coordinator: when a checkpoint starts, counts, replaces others, or fails.

Rules COORD-01 to COORD-12, SUB-02 to SUB-05. A request waits in the queue until it may start; a
started checkpoint is pending until the last task has acknowledged it, or a decline, the time-out or
a newer completed checkpoint ends it. A completed one goes to the store (`model.store`).

The file knows tasks by their position in the plan and time as a number of ms that events advance.
"""

from typing import NamedTuple

from model import store as completed_store
from model.events import (
    CHECKPOINT_EXPIRED,
    CHECKPOINT_SUBSUMED,
    COORDINATOR_SUSPEND,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    SUCCESS,
    UNKNOWN,
    Abort,
    Acknowledged,
    Complete,
    DiscardCheckpoint,
    DiscardState,
    Effects,
    NotifyAbort,
    NotifyComplete,
    NotifySubsumed,
    Rejected,
    Restored,
    Rules,
    Step,
    Subsumed,
    TriggerTask,
)
from model.pending import Pending, acknowledge, discard_states, is_fully_acknowledged, new_pending
from model.store import CHECKPOINT, Store, new_store, on_add

RUNNING = "RUNNING"
CREATED = "CREATED"
RESTARTING = "RESTARTING"


class Plan(NamedTuple):
    """What does not change while the job lives."""

    sources: tuple[bool, ...]
    """One flag for each task: it is triggered by the coordinator."""
    timeout: int
    """In ms: how long a checkpoint may stay pending."""
    max_concurrent: int
    """How many may be pending before further checkpoints wait."""


class Coordinator(NamedTuple):
    """The coordinator of one job."""

    plan: Plan
    status: str
    """Of the job; only RUNNING lets checkpoints start."""
    tasks_run: tuple[bool, ...]
    now: int
    """Virtual time in ms."""
    next_id: int
    pending: tuple[Pending, ...]
    """Ascending by id."""
    queue: tuple[bool, ...]
    """Waiting requests, head first; True is a savepoint."""
    store: Store


def new_coordinator(plan: Plan, retain: int) -> Coordinator:
    """The coordinator of a job whose tasks do not run yet."""
    return Coordinator(
        plan=plan,
        status=CREATED,
        tasks_run=(False,) * len(plan.sources),
        now=0,
        next_id=1,
        pending=(),
        queue=(),
        store=new_store(retain),
    )


# ---------------------------------------------------------------- requests


def on_trigger(coordinator: Coordinator, savepoint: bool) -> Step[Coordinator]:
    """Somebody asks for a checkpoint or a savepoint."""
    if not can_start(coordinator):
        return Step(coordinator, (Rejected(savepoint, NOT_ALL_REQUIRED_TASKS_RUNNING),), ("COORD-01",))
    queue = coordinator.queue
    if savepoint:  # behind the other savepoints, before the checkpoints
        ahead = tuple(kind for kind in queue if kind)
        behind = tuple(kind for kind in queue if not kind)
        queue = (*ahead, True, *behind)
    else:
        queue = (*queue, False)
    return start_waiting(coordinator._replace(queue=queue), (), ("COORD-03",))


def can_start(coordinator: Coordinator) -> bool:
    """Job and tasks all run (COORD-01)."""
    return coordinator.status == RUNNING and all(coordinator.tasks_run)


def start_waiting(coordinator: Coordinator, effects: Effects, rules: Rules) -> Step[Coordinator]:
    """Start requests from the head of the queue as far as the limit allows (COORD-03, COORD-11)."""
    while coordinator.queue:
        savepoint = coordinator.queue[0]
        if not savepoint and len(coordinator.pending) >= coordinator.plan.max_concurrent:
            break
        coordinator = coordinator._replace(queue=coordinator.queue[1:])
        if not can_start(coordinator):
            effects = (*effects, Rejected(savepoint, NOT_ALL_REQUIRED_TASKS_RUNNING))
            rules = (*rules, "COORD-01")
            continue
        coordinator, triggers = start(coordinator, savepoint)
        effects = (*effects, *triggers)
        rules = (*rules, "COORD-02", "COORD-04")
    return Step(coordinator, effects, rules)


def start(coordinator: Coordinator, savepoint: bool) -> tuple[Coordinator, Effects]:
    """Draw the next id (COORD-02), make it pending and trigger every source (COORD-04)."""
    plan = coordinator.plan
    checkpoint = coordinator.next_id
    begun = new_pending(checkpoint, savepoint, coordinator.now + plan.timeout, len(plan.sources))
    triggers = tuple(
        TriggerTask(task, checkpoint, savepoint) for task, source in enumerate(plan.sources) if source
    )
    return coordinator._replace(next_id=checkpoint + 1, pending=(*coordinator.pending, begun)), triggers


# ---------------------------------------------------------------- messages of tasks


def on_acknowledge(coordinator: Coordinator, task: int, checkpoint: int, handle: int) -> Step[Coordinator]:
    """Task `task` (beyond the plan: a stranger) acknowledges with the state behind `handle` (0: none)."""
    unused: Effects = (DiscardState(handle),) if handle != 0 else ()
    pending = find(coordinator.pending, checkpoint)
    if pending is None:
        return Step(coordinator, unused, ("COORD-06",))
    changed, result = acknowledge(pending, task, handle)
    effects: Effects = (Acknowledged(task, checkpoint, result),)
    if result != SUCCESS:
        return Step(coordinator, (*effects, *unused) if result == UNKNOWN else effects, ("COORD-05",))
    if is_fully_acknowledged(changed):
        return complete(coordinator, changed, effects)
    remaining = tuple(changed if other.checkpoint == checkpoint else other for other in coordinator.pending)
    return Step(coordinator._replace(pending=remaining), effects, ("COORD-05",))


def on_decline(coordinator: Coordinator, task: int, checkpoint: int, reason: str) -> Step[Coordinator]:
    """A task declines `checkpoint`."""
    pending = find(coordinator.pending, checkpoint)
    if pending is None:
        return Step(coordinator, (), ("COORD-09",))
    coordinator, effects = abort(coordinator, pending, reason)
    return start_waiting(coordinator, effects, ("COORD-09", "COORD-11"))


# ---------------------------------------------------------------- the end of a checkpoint


def complete(coordinator: Coordinator, done: Pending, effects: Effects) -> Step[Coordinator]:
    """The last acknowledgement came: store, then end the older ones, then notify (COORD-08)."""
    coordinator = drop_pending(coordinator, done)
    if done.savepoint:  # a user's: it replaces nothing (SUB-05)
        rules: Rules = ("COORD-07", "SUB-05", "COORD-11")
        return start_waiting(coordinator, (*effects, Complete(done.checkpoint)), rules)
    added = on_add(coordinator.store, done.checkpoint, CHECKPOINT)
    coordinator = coordinator._replace(store=added.state)
    discarded = tuple(effect for effect in added.effects if type(effect) is DiscardCheckpoint)
    subsumed = tuple(effect.checkpoint for effect in added.effects if type(effect) is Subsumed)
    effects = (*effects, *discarded, Complete(done.checkpoint))
    rules = ("COORD-07", "COORD-08", "SUB-03", *added.rules)
    for older in coordinator.pending:
        if older.checkpoint < done.checkpoint:
            if older.savepoint:
                rules = (*rules, "SUB-04")
                continue
            coordinator, ended = abort(coordinator, older, CHECKPOINT_SUBSUMED)
            effects = (*effects, *ended)
            rules = (*rules, "SUB-02", "SUB-01")
    for task in range(len(coordinator.plan.sources)):
        effects = (*effects, NotifyComplete(done.checkpoint, task))
        effects = (*effects, *(NotifySubsumed(gone, task) for gone in subsumed))
    return start_waiting(coordinator, effects, (*rules, "COORD-11"))


def abort(coordinator: Coordinator, pending: Pending, reason: str) -> tuple[Coordinator, Effects]:
    """A pending checkpoint ends without success; its collected state is deleted."""
    tasks = range(len(coordinator.plan.sources))
    effects = (
        Abort(pending.checkpoint, reason),
        *discard_states(pending),
        *(NotifyAbort(pending.checkpoint, task) for task in tasks),
    )
    return drop_pending(coordinator, pending), effects


def drop_pending(coordinator: Coordinator, ended: Pending) -> Coordinator:
    """The checkpoint is pending no more."""
    remaining = tuple(other for other in coordinator.pending if other.checkpoint != ended.checkpoint)
    return coordinator._replace(pending=remaining)


def find(pending: tuple[Pending, ...], checkpoint: int) -> Pending | None:
    """The pending checkpoint with that id, if it is pending."""
    for candidate in pending:
        if candidate.checkpoint == checkpoint:
            return candidate
    return None


# ---------------------------------------------------------------- time, status, restore


def on_advance(coordinator: Coordinator, ms: int) -> Step[Coordinator]:
    """Time passes; what is due expires at its own time, in the order of deadlines (COORD-10)."""
    target = coordinator.now + ms
    effects: Effects = ()
    rules: Rules = ("COORD-10",)
    due = next_due(coordinator.pending, target)
    while due is not None:
        coordinator = coordinator._replace(now=due.deadline)
        coordinator, ended = abort(coordinator, due, CHECKPOINT_EXPIRED)
        coordinator, effects, rules = start_waiting(coordinator, (*effects, *ended), (*rules, "COORD-11"))
        due = next_due(coordinator.pending, target)
    return Step(coordinator._replace(now=target), effects, rules)


def next_due(pending: tuple[Pending, ...], target: int) -> Pending | None:
    """The first to expire not after `target`; of equal deadlines the smaller id."""
    first: Pending | None = None
    for candidate in pending:
        if candidate.deadline <= target and (first is None or candidate.deadline < first.deadline):
            first = candidate
    return first


def on_job_status(coordinator: Coordinator, status: str) -> Step[Coordinator]:
    """The job changes its status; leaving RUNNING ends all that waits or is pending (COORD-12)."""
    coordinator = coordinator._replace(status=status)
    if status == RUNNING:
        return Step(coordinator, (), ("COORD-12",))
    return suspend(coordinator)


def on_task_status(coordinator: Coordinator, task: int, status: str) -> Step[Coordinator]:
    """A task changes its status."""
    tasks_run = tuple(
        status == RUNNING if position == task else runs for position, runs in enumerate(coordinator.tasks_run)
    )
    return Step(coordinator._replace(tasks_run=tasks_run), (), ("COORD-01",))


def on_fail_tasks(coordinator: Coordinator, failed: tuple[bool, ...]) -> Step[Coordinator]:
    """Tasks fail; the scheduler restarts the job."""
    tasks_run = tuple(runs and not fails for runs, fails in zip(coordinator.tasks_run, failed, strict=True))
    return suspend(coordinator._replace(tasks_run=tasks_run, status=RESTARTING))


def suspend(coordinator: Coordinator) -> Step[Coordinator]:
    """Reject what waits, abort what is pending."""
    effects: Effects = tuple(Rejected(kind, COORDINATOR_SUSPEND) for kind in coordinator.queue)
    coordinator = coordinator._replace(queue=())
    for pending in coordinator.pending:
        coordinator, ended = abort(coordinator, pending, COORDINATOR_SUSPEND)
        effects = (*effects, *ended)
    return Step(coordinator, effects, ("COORD-12",))


def on_restore(coordinator: Coordinator) -> Step[Coordinator]:
    """The restarting job gets the newest retained checkpoint (ONCE-04)."""
    return Step(coordinator, (Restored(completed_store.latest(coordinator.store)),), ("ONCE-04", "SUB-06"))
