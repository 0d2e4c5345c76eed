"""COORD-22 to COORD-28 and SUB-12: masters, lost triggers, ends of jobs, the scheduler, tasks, files."""

from model.coordinator.events import (
    CoordinatorRestart,
    DeclineMessage,
    FailJob,
    JobEnd,
    TriggerFails,
    TriggerTask,
)
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import suspension
from model.coordinator.properties.files import unowned, without
from model.coordinator.properties.terms import beginners, emits, find_pending, is_first_due
from model.coordinator.shared_state import DiscardState
from model.coordinator.state import RUNNING, Coordinator
from model.coordinator.trigger import MasterAnswer, TriggerMaster
from model.events import (
    COORDINATOR_SHUTDOWN,
    NONE,
    PRE_FLIGHT,
    TRIGGER_CHECKPOINT_FAILURE,
    Advance,
    Effects,
    Event,
)
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import STOP

COORDINATOR_LIFE = Registry("coordinator")


@COORDINATOR_LIFE.initial("COORD-22")
def coord_22_at_first(coordinator: Coordinator) -> bool:
    """A new coordinator is open at time 0, without requests, checkpoints, deletions and statuses of tasks."""
    parts = (coordinator.pending, coordinator.queue, coordinator.outlived)
    known = (*parts, coordinator.unseen, coordinator.deletions)
    numbers = (coordinator.now, coordinator.turns, coordinator.pause_ends, coordinator.fault)
    tasks = (*coordinator.tasks_run, *coordinator.tasks_finished, *coordinator.tasks_reached)
    is_fresh = coordinator.open and not any(coordinator.io) and coordinator.master == NONE and not any(tasks)
    return is_fresh and not any(known) and all(number == 0 for number in numbers)


@COORDINATOR_LIFE.state("COORD-23")
def coord_23(coordinator: Coordinator) -> bool:
    """Only the newest pending checkpoint can await operator coordinators or hooks."""
    for pending in coordinator.pending:
        done = all(pending.coordinators) and all(pending.hooks)
        if done == (pending.checkpoint == coordinator.master):
            return False
        if any(pending.hooks) and not all(pending.coordinators):
            return False
    if coordinator.master == -1 or coordinator.outlived:  # COORD-30
        return True
    return bool(coordinator.pending) and coordinator.pending[-1].checkpoint == coordinator.master


@COORDINATOR_LIFE.step("COORD-23", MasterAnswer)
def coord_23_order(before: Coordinator, event: MasterAnswer, effects: Effects, after: Coordinator) -> bool:
    """The last answer of a hook triggers the sources, and the last of an operator coordinator the hooks."""
    if event.fails:
        return True
    pending = find_pending(before, event.checkpoint)
    if before.outlived and before.master == event.checkpoint:  # COORD-30
        return not any(type(effect) is TriggerTask for effect in effects)
    if pending is None or before.master != event.checkpoint:
        return not effects and after == before
    coordinators = answered_by(pending.coordinators, event.place, counts=not event.is_hook)
    hooks_triggered = all(pending.coordinators)
    hooks = answered_by(pending.hooks, event.place, counts=event.is_hook and hooks_triggered)
    begins = all(coordinators) and all(hooks)
    triggered = any(
        type(effect) is TriggerTask and effect.checkpoint == event.checkpoint for effect in effects
    )
    triggers_hooks = any(
        type(effect) is TriggerMaster and effect.is_hook and effect.checkpoint == event.checkpoint
        for effect in effects
    )
    if triggers_hooks != (all(coordinators) and not hooks_triggered and bool(hooks)):
        return False
    return triggered == begins


@COORDINATOR_LIFE.step("COORD-24", TriggerFails)
def coord_24(before: Coordinator, event: TriggerFails, effects: Effects, after: Coordinator) -> bool:
    """A lost trigger of a pending checkpoint aborts it, in generations that detect lost triggers."""
    pending = find_pending(before, event.checkpoint)
    if pending is None or not before.plan.profile.lost_triggers_abort:
        return not effects and after == before
    if before.master == event.checkpoint or event.task not in beginners_of(before, pending):
        return not effects and after == before
    return effects[:1] == (Abort(event.checkpoint, TRIGGER_CHECKPOINT_FAILURE),)


@COORDINATOR_LIFE.step("COORD-25", JobEnd)
def coord_25(before: Coordinator, event: JobEnd, effects: Effects, after: Coordinator) -> bool:
    """The end of the job ends requests and pending checkpoints. Deletions depend on the status."""
    if not before.open:
        return not effects and after == before
    expected, _ = suspension(before, event, COORDINATOR_SHUTDOWN, after)
    entries = before.store.entries
    if event.status == "SUSPENDED":
        unseen = (*before.unseen, *entries)
        return effects == expected and after.unseen == unseen and after.shared == before.shared
    keeps = event.status != "FINISHED" and before.plan.retains_on_cancellation
    retained = entries if keeps else ()
    stays = tuple(one for one in entries if keeps or one.checkpoint in unowned(before.plan))
    job = before._replace(unseen=())
    shared, deleted = without(job, before.shared, before.shared.completed, retained, stays)
    if before.plan.profile.registers_at_acknowledgement:
        shared = shared._replace(completed=())  # no other coordinator follows
    return effects == (*expected, *deleted) and not after.unseen and after.shared == shared


@COORDINATOR_LIFE.state("COORD-25")
def coord_25_closed(coordinator: Coordinator) -> bool:
    """After the end no request waits, no checkpoint is pending, and the scheduler does not run.

    Up to 1.15 a request waits for the masters of an aborted checkpoint, also after the end (COORD-30).
    """
    if coordinator.open:
        return True
    stopped = not coordinator.scheduler.runs and not coordinator.store.entries
    waits = bool(coordinator.queue) and not coordinator.outlived
    return stopped and not coordinator.pending and not waits


@COORDINATOR_LIFE.state("COORD-26")
def coord_26(coordinator: Coordinator) -> bool:
    """No request of the scheduler is overdue, and none is due while the scheduler is stopped.

    The exception is a request that was moved to the end of a pause. Up to 2.2 the scheduler runs only while
    the job runs.
    """
    scheduler, plan = coordinator.scheduler, coordinator.plan
    runs_alone = coordinator.status != RUNNING and not plan.profile.follows_tasks
    if scheduler.runs and (runs_alone or not plan.interval):
        return False
    return scheduler.due == -1 or ((scheduler.runs or plan.min_pause > 0) and scheduler.due > coordinator.now)


@COORDINATOR_LIFE.step("COORD-26")
def coord_26_stops(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """When the scheduler stops, its timer stops with it."""
    stops = before.scheduler.runs and not after.scheduler.runs
    return after.scheduler.due == -1 if stops else True


@COORDINATOR_LIFE.step("COORD-26", Advance)
def coord_26_in_time(before: Coordinator, event: Advance, effects: Effects, after: Coordinator) -> bool:
    """Time that ends before the next request is due does not change the scheduler."""
    if before.scheduler.due == -1:
        return True
    if before.now + event.ms < before.scheduler.due and not before.scheduler.postponed and not before.queue:
        return after.scheduler == before.scheduler
    return after.scheduler.due > after.now or after.scheduler.due == -1


@COORDINATOR_LIFE.step("COORD-26")
def coord_26_starts(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The first request is due after the initial delay. From 2.3 on, later starts wait for the pause."""
    if before.scheduler.runs or not after.scheduler.runs:
        return True
    plan = before.plan
    delays = (
        (plan.initial_delay, plan.min_pause) if plan.profile.restarts_after_pause else (plan.initial_delay,)
    )
    return any(is_first_due(before, before.now + delay, after) for delay in delays)


@COORDINATOR_LIFE.step("COORD-26", Advance)
def coord_26_intervals(before: Coordinator, event: Advance, effects: Effects, after: Coordinator) -> bool:
    """Periodic requests are whole intervals apart, unless one was moved to the end of the pause."""
    plan = before.plan
    if not plan.profile.queues_requests or not after.scheduler.runs:
        return True
    due = after.scheduler.due
    from_the_pause = due >= before.pause_ends and (due - before.pause_ends) % plan.interval == 0
    return due != -1 and ((due - before.scheduler.due) % plan.interval == 0 or from_the_pause)


@COORDINATOR_LIFE.step("COORD-27")
def coord_27(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A new checkpoint awaits the running tasks, without finished ones. Up to 1.13 it awaits all tasks."""
    for pending in after.pending:
        if find_pending(before, pending.checkpoint) is None:
            every_task = (True,) * len(after.tasks_run)
            expected = after.tasks_run if after.plan.profile.every_task_must_run else every_task
            if pending.tasks != expected or not any(expected):
                return False
            if any(after.tasks_finished) and not after.plan.finished_tasks:
                return not after.plan.profile.every_task_must_run
    return True


@COORDINATOR_LIFE.state("COORD-27")
def coord_27_awaited(coordinator: Coordinator) -> bool:
    """A task takes part in each pending checkpoint. The checkpoint awaits only tasks that take part."""
    return all(
        any(one.tasks) and all(takes or done for takes, done in zip(one.tasks, one.acknowledged, strict=True))
        for one in coordinator.pending
    )


@COORDINATOR_LIFE.step("COORD-28")
def coord_28(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If a task reports that a stop-with-savepoint has failed, the job fails.

    In older generations every failed stop that has started fails the job.
    """
    for pending in before.pending:
        if pending.type != STOP:
            continue
        reasons = tuple(
            effect.reason
            for effect in effects
            if type(effect) is Abort and effect.checkpoint == pending.checkpoint
        )
        if not reasons or reasons[0] in PRE_FLIGHT:
            continue
        at_a_task = type(event) is DeclineMessage
        fails_the_job = at_a_task or not before.plan.profile.declines_count_for_all_types
        if fails_the_job and not emits(effects, FailJob(reasons[0])):
            return False
    return True


@COORDINATOR_LIFE.state("SUB-12")
def sub_12(coordinator: Coordinator) -> bool:
    """Every file of a retained checkpoint is registered. Its newest user is not older than the checkpoint."""
    if not coordinator.plan.profile.registers_at_acknowledgement:
        return True
    retained = tuple(entry.checkpoint for entry in coordinator.store.entries)
    return all(
        any(known.handle == use.handle and known.checkpoint >= use.checkpoint for known in registered)
        for registered in (coordinator.shared.registered,)
        for use in coordinator.shared.completed
        if use.checkpoint in retained and coordinator.open
    )


@COORDINATOR_LIFE.step("SUB-12")
def sub_12_deletes(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The coordinator deletes no file of a retained checkpoint."""
    retained = tuple(entry.checkpoint for entry in after.store.entries)
    deleted = tuple(effect.handle for effect in effects if type(effect) is DiscardState)
    return not any(use.handle in deleted for use in after.shared.completed if use.checkpoint in retained)


@COORDINATOR_LIFE.step("SUB-12")
def sub_12_dropped_with_the_last(
    before: Coordinator, event: Event, effects: Effects, after: Coordinator
) -> bool:
    """An unused file is deleted once and leaves the registry. A new coordinator has a new registry."""
    if type(event) is CoordinatorRestart:
        return True
    deleted = tuple(effect.handle for effect in effects if type(effect) is DiscardState)
    known = tuple(use.handle for use in before.shared.registered)
    left = tuple(use.handle for use in after.shared.registered)
    if not before.plan.profile.registers_at_acknowledgement or not known:
        return True
    forgotten = tuple(handle for handle in known if handle not in left)
    if before.shared.unclaimed != -1 or not after.store.entries:
        return True
    return all(deleted.count(handle) == 1 for handle in forgotten)


# ---------------------------------------------------------------- terms of the rules


def answered_by(done: tuple[bool, ...], place: int, *, counts: bool) -> tuple[bool, ...]:
    """By master: it has answered. The master at `place` is included if its answer `counts`."""
    return tuple(known or (counts and here == place) for here, known in enumerate(done))


def beginners_of(before: Coordinator, pending: Pending) -> tuple[int, ...]:
    """The tasks that this checkpoint has triggered."""
    return beginners(before._replace(tasks_run=pending.tasks))
