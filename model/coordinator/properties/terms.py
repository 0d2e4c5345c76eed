"""Terms that the properties of the coordinator use: waiting requests, starts, and acknowledgements."""

from itertools import dropwhile

from model.coordinator.events import (
    AcknowledgeMessage,
    Complete,
    JobStatus,
    Rejected,
    RestoreRequest,
    TaskStatus,
    TriggerTask,
)
from model.coordinator.pending import Pending
from model.coordinator.state import NO_CLAIM, RUNNING, Coordinator
from model.coordinator.trigger import MasterAnswer, TriggerMaster
from model.events import NONE, Effect, Effects, Event
from model.store.store import CHECKPOINT, FULL, SAVEPOINT, STOP


def find_pending(coordinator: Coordinator, checkpoint: int) -> Pending | None:
    """The pending checkpoint with that id, or None."""
    for pending in coordinator.pending:
        if pending.checkpoint == checkpoint:
            return pending
    return None


def is_fit(coordinator: Coordinator) -> bool:
    """Whether the job and its tasks have the statuses that a start requires."""
    plan = coordinator.plan
    if coordinator.status != RUNNING:
        return False
    none_over = not plan.profile.every_task_must_run and plan.profile.finished_tasks_prevent_start
    if none_over and any(coordinator.tasks_finished):
        return False
    return all(
        coordinator.tasks_run[task]
        or not (plan.profile.every_task_must_run or source)
        or (plan.finished_tasks and coordinator.tasks_finished[task])
        for task, source in enumerate(plan.sources)
    )


def with_reports(before: Coordinator, event: Event, after: Coordinator) -> Coordinator:
    """The coordinator before the event, with the statuses that the event reports.

    If the event starts the scheduler, it may make a request at once. The request depends on these statuses.
    """
    if type(event) not in (JobStatus, TaskStatus, RestoreRequest):
        return before
    return before._replace(
        status=after.status, tasks_run=after.tasks_run, tasks_finished=after.tasks_finished
    )


def has_to_wait(coordinator: Coordinator) -> bool:
    """Whether the head of the queue may have to wait: too many checkpoints are pending, or it is too early.

    With slow deletions it can wait without such a reason, because some deletions give no turn
    (`coord_33_turns`).
    """
    head = coordinator.queue[0]
    if coordinator.master != -1 or is_full(coordinator) or coordinator.plan.slow_cleaning:
        return True
    return head.periodic and not head.forced and coordinator.plan.min_pause > 0


def is_first_due(before: Coordinator, due: int, after: Coordinator) -> bool:
    """Whether the scheduler's next request after a start has the right time. `due`: time of the first one.

    If `due` is now, the start makes the first request. The next one is then due one interval later, or at the
    end of the minimum pause if the first one was too early.
    """
    scheduler = after.scheduler
    if due > before.now:
        return scheduler.due == due
    if scheduler.postponed and scheduler.due == NONE:  # up to 1.10, if too many are pending
        return True
    is_early = before.pause_ends > before.now and scheduler.due == before.pause_ends
    return is_early or scheduler.due == before.now + before.plan.interval


def is_full(coordinator: Coordinator) -> bool:
    """Whether the head of the queue has to wait because too many checkpoints are pending."""
    head = coordinator.queue[0]
    return not head.forced and len(coordinator.pending) >= coordinator.plan.max_concurrent


def is_cleaning(coordinator: Coordinator) -> bool:
    """Whether more deletions are under way than the limit of pending checkpoints."""
    plan = coordinator.plan
    return plan.slow_cleaning and len(coordinator.deletions) > plan.max_concurrent


def beginners(coordinator: Coordinator) -> tuple[int, ...]:
    """The tasks that a start triggers: running sources, or all running tasks if no source runs."""
    every_task = tuple(enumerate(coordinator.plan.sources))
    sources = tuple(task for task, source in every_task if source and coordinator.tasks_run[task])
    others = tuple(task for task, _ in every_task if coordinator.tasks_run[task])
    return sources or others


def start_fails(before: Coordinator, after: Coordinator) -> bool:
    """Whether a start has failed in this step, at a planned failure of its id or location."""
    return (before.io.location and not after.io.location) or (before.io.id and not after.io.id)


def is_fresh(pending: Pending) -> bool:
    """Whether no task that takes part has acknowledged."""
    return all(done != takes for done, takes in zip(pending.acknowledged, pending.tasks, strict=True))


def is_safe(coordinator: Coordinator, pending: Pending) -> bool:
    """Whether the completion of a newer checkpoint does not abort this one."""
    return pending.forced if coordinator.plan.profile.forced_not_subsumed else pending.type != CHECKPOINT


def replacing_checkpoint(before: Coordinator, effects: Effects) -> Pending | None:
    """The checkpoint that completes in this step and subsumes older ones. Else None."""
    for effect in effects:
        if type(effect) is Complete:
            done = find_pending(before, effect.checkpoint)
            if done is None:
                continue
            storing = done.type == CHECKPOINT or before.plan.profile.stores_savepoints
            if storing and before.fault != 0:
                return None
            if done.type != SAVEPOINT or storing:
                return done
    return None


def is_stored(done: Pending, after: Coordinator) -> bool:
    """Whether the checkpoint is the last entry of the store. True for a type that the store does not keep."""
    if done.type != CHECKPOINT and not after.plan.profile.stores_savepoints:
        return True
    return after.store.entries[-1].checkpoint == done.checkpoint


def started_ids(before: Coordinator, after: Coordinator) -> tuple[int, ...]:
    """The ids drawn in the step, up to one more than the number of waiting requests.

    Requests that the scheduler makes in the step are not counted.
    """
    drawn = tuple(before.next_id + count for count in range(len(before.queue) + 1))
    return tuple(checkpoint for checkpoint in drawn if checkpoint < after.next_id)


def beginning_with(effects: Effects, kinds: tuple[type, ...]) -> Effects:
    """The effects from the first one of these classes on."""
    return tuple(dropwhile(lambda effect: type(effect) not in kinds, effects))


def triggered_type(coordinator: Coordinator, kind: int) -> int:
    """The type in the triggers of tasks, for a checkpoint of type `kind` (COORD-38)."""
    entries, plan = coordinator.store.entries, coordinator.plan
    if not plan.savepoint or kind in (SAVEPOINT, STOP):
        return kind
    unclaimed = plan.claim_mode == NO_CLAIM and len(entries) > 0
    return FULL if unclaimed and entries[-1].checkpoint == plan.savepoint[0] else CHECKPOINT


def answers(effects: Effects, last: int) -> Effects:
    """The rejections, and the first trigger of each checkpoint above `last`."""
    found: Effects = ()
    for effect in effects:
        if type(effect) is Rejected:
            found = (*found, effect)
        elif type(effect) in (TriggerMaster, TriggerTask) and effect.checkpoint > last:  # type: ignore[attr-defined]
            found, last = (*found, effect), effect.checkpoint  # type: ignore[attr-defined]
    return found


def emits(effects: Effects, expected: Effect) -> bool:
    """Whether `effects` contains `expected`. Effects of other classes are not compared."""
    return any(type(effect) is type(expected) and effect == expected for effect in effects)


# ---------------------------------------------------------------- acknowledgements


def last_missing(before: Coordinator, event: Event) -> Pending | None:
    """The checkpoint that this event completes, as its last acknowledgement or answer. Else None."""
    if type(event) is AcknowledgeMessage:
        pending = find_pending(before, event.checkpoint)
        if pending is None or event.task >= len(pending.tasks) or pending.acknowledged[event.task]:
            return None
        others = (*pending.acknowledged[: event.task], *pending.acknowledged[event.task + 1 :])
        if not all((*others, *pending.coordinators, *pending.hooks)):
            return None
        return acknowledged(pending, event)
    if type(event) is not MasterAnswer or event.fails:
        return None
    pending = find_pending(before, event.checkpoint)
    if pending is None or before.master != event.checkpoint:
        return None
    changed = answered(pending, event)
    is_last = changed != pending and all((*changed.acknowledged, *changed.coordinators, *changed.hooks))
    return changed if is_last else None


def answered(pending: Pending, event: Event) -> Pending:
    """The checkpoint with the acknowledgement or answer of this event, if the checkpoint awaits it."""
    if type(event) is AcknowledgeMessage and event.checkpoint == pending.checkpoint:
        if event.task < len(pending.tasks) and not pending.acknowledged[event.task]:
            return acknowledged(pending, event)
    elif type(event) is MasterAnswer and event.checkpoint == pending.checkpoint and not event.fails:
        answers = pending.hooks if event.is_hook else pending.coordinators
        answers = (*answers[: event.place], True, *answers[event.place + 1 :])
        if not event.is_hook:
            return pending._replace(coordinators=answers)
        if all(pending.coordinators):
            return pending._replace(hooks=answers)
    return pending


def acknowledged(pending: Pending, event: AcknowledgeMessage) -> Pending:
    """The checkpoint with the acknowledgement of one task."""
    here = tuple(task == event.task for task in range(len(pending.tasks)))
    return pending._replace(
        acknowledged=tuple(done or own for own, done in zip(here, pending.acknowledged, strict=True)),
        states=tuple(
            event.handle if own else handle for own, handle in zip(here, pending.states, strict=True)
        ),
        shared=tuple(event.shared if own else files for own, files in zip(here, pending.shared, strict=True)),
    )


def reported_complete(before: Coordinator, event: Event, effects: Effects) -> Pending | None:
    """The checkpoint that is reported complete at this acknowledgement. Else None.

    Up to 1.16.1 the coordinator reports it before the store adds it, so even if the store then fails.
    """
    if type(event) is not AcknowledgeMessage or not any(type(effect) is Complete for effect in effects):
        return None
    return find_pending(before, event.checkpoint)
