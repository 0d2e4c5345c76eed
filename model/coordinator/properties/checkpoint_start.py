"""Properties of the beginning of checkpoints: the result of each request, and the triggers that follow.

Rules COORD-04, COORD-07, COORD-13, COORD-14, COORD-23 and COORD-30.
"""

from model.coordinator.events import (
    Abort,
    AcknowledgeMessage,
    Complete,
    CoordinatorRestart,
    DeclineMessage,
    Deleted,
    FailJob,
    Rejected,
    TriggerFails,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import suspension
from model.coordinator.properties.requests import is_more_urgent
from model.coordinator.properties.terms import (
    answered,
    answers,
    beginners,
    beginning_with,
    find_pending,
    is_fit,
    last_missing,
    start_fails,
    triggered_type,
)
from model.coordinator.requests import QUEUE_LIMIT, Request
from model.coordinator.state import Coordinator
from model.coordinator.trigger import MasterAnswer, TriggerMaster
from model.events import (
    ALREADY_QUEUED,
    COORDINATOR_SHUTDOWN,
    COORDINATOR_SUSPEND,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NONE,
    NOT_ALL_REQUIRED_TASKS_RUNNING,
    PERIODIC_SCHEDULER_SHUTDOWN,
    TOO_MANY_CHECKPOINT_REQUESTS,
    TOO_MANY_CONCURRENT_CHECKPOINTS,
    TRIGGER_CHECKPOINT_FAILURE,
    Advance,
    Effects,
    Event,
)
from model.registry import Registry
from model.store.store import CHECKPOINT, STOP

COORDINATOR_BEGINS = Registry("coordinator")


@COORDINATOR_BEGINS.step("COORD-04")
def coord_04_triggers(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Each start draws the next id. It triggers all operator coordinators, else all hooks, else tasks."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    next_id = before.next_id
    if type(event) is MasterAnswer and find_pending(before, event.checkpoint) is not None:  # COORD-23
        effects = tuple(
            effect
            for effect in effects
            if type(effect) not in (TriggerMaster, TriggerTask) or effect.checkpoint != event.checkpoint  # type: ignore[attr-defined]
        )
    rest = beginning_with(effects, _OF_STARTS)
    while rest:
        effect = rest[0]
        checkpoint = getattr(effect, "checkpoint", NONE)  # a rejection has no checkpoint
        expected: Effects = (effect,)
        if type(effect) is Rejected:
            next_id += 1 if effect.reason == TRIGGER_CHECKPOINT_FAILURE else 0
        else:
            begun = find_pending(after, checkpoint)
            kind = begun.type if begun is not None else getattr(effect, "type", CHECKPOINT)
            expected = triggers(after, checkpoint, kind)
            if checkpoint != next_id or rest[: len(expected)] != expected:
                return False
            next_id += 1
        rest = beginning_with(rest[len(expected) :], _OF_STARTS)
    if before.plan.interval and not any(after.tasks_run):  # the rejection of a periodic request has no effect
        return next_id <= after.next_id <= next_id + own_requests(before, event)
    return after.next_id == next_id


_OF_STARTS = (Rejected, TriggerMaster, TriggerTask)
"""The effects at the start or the rejection of a request."""


@COORDINATOR_BEGINS.step("COORD-07")
def coord_07_account(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Only a completion or an abort ends a checkpoint. Other checkpoints get at most one answer in a step."""
    if type(event) is CoordinatorRestart:
        return not after.pending
    ended = tuple(effect.checkpoint for effect in effects if type(effect) in (Abort, Complete))  # type: ignore[attr-defined]
    kept = tuple(answered(one, event) for one in before.pending if one.checkpoint not in ended)
    if after.pending[: len(kept)] != kept:
        return False
    return all(is_begun(before, event, one, after) for one in after.pending[len(kept) :])


@COORDINATOR_BEGINS.step(
    "COORD-13", TriggerRequest, AcknowledgeMessage, DeclineMessage, Deleted, TriggerFails, MasterAnswer
)
def coord_13_leaves(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Requests leave the queue at its head, with a start or a rejection. A new request joins by priority."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    if not before.plan.profile.queues_requests:
        return not after.queue
    waiting = before.queue
    if type(event) is TriggerRequest:
        if event.type == STOP:
            waiting = ()
        first, waiting = arrivals(before, event, waiting, after)
        if effects[: len(first)] != first:
            return False
        effects = effects[len(first) :]
    return all_leave(before, effects, waiting, after)


def arrivals(
    before: Coordinator, event: TriggerRequest, waiting: tuple[Request, ...], after: Coordinator
) -> tuple[Effects, tuple[Request, ...]]:
    """The effects of the suspension by a stop and of a full queue, and the queue after the request joined."""
    effects: Effects = ()
    if event.type == STOP:
        effects, _ = suspension(before, event, COORDINATOR_SUSPEND, after)
    requested = request_of(before, event)
    if len(waiting) < QUEUE_LIMIT:
        return effects, with_request(waiting, requested)
    if waiting[-1].periodic:
        *waiting_now, requested = with_request(waiting, requested)
        waiting = tuple(waiting_now)
    return (*effects, Rejected(requested.type, TOO_MANY_CHECKPOINT_REQUESTS)), waiting


def all_leave(
    before: Coordinator, effects: Effects, waiting: tuple[Request, ...], after: Coordinator
) -> bool:
    """Whether each start and rejection belongs to the head of the queue, in order. Other requests stay."""
    for effect in answers(effects, before.next_id - 1):
        reason = effect.reason if type(effect) is Rejected else None
        while waiting and not waiting[0].awaits_answer and answer_to(waiting[0], after) is not None:
            waiting = waiting[1:]  # the head is rejected without an effect
        if not waiting or answer_to(waiting[0], after) != reason:
            return False
        if not is_of(waiting[0], effect, after):
            return False
        waiting = waiting[1:]
    silent = waiting[: len(waiting) - len(after.queue)]
    if any(one.awaits_answer or answer_to(one, after) is None for one in silent):
        return False
    return after.queue == waiting[len(silent) :]


@COORDINATOR_BEGINS.step("COORD-14", TriggerRequest)
def coord_14_without_queue(
    before: Coordinator, event: TriggerRequest, effects: Effects, after: Coordinator
) -> bool:
    """Up to 1.10 there is no queue. A request starts at once or is rejected, and may be postponed."""
    if start_fails(before, after):  # COORD-35, COORD-36
        return True
    plan = before.plan
    if plan.profile.queues_requests:
        return True
    scheduler, pending = before.scheduler, before.pending
    if event.type == STOP:
        expected, _ = suspension(before, event, COORDINATOR_SUSPEND, after)
        if effects[: len(expected)] != expected:
            return False
        effects, pending = effects[len(expected) :], ()
        scheduler = scheduler._replace(runs=False, due=-1, postponed=False)
    requested = request_of(before, event)
    reason = answer_to(requested, after._replace(pause_ends=before.now))
    fails: Effects = (FailJob(reason),) if reason == COORDINATOR_SHUTDOWN and event.type == STOP else ()
    if reason in (None, NOT_ALL_REQUIRED_TASKS_RUNNING) and not requested.forced:
        if scheduler.postponed:
            reason = ALREADY_QUEUED
        elif len(pending) >= plan.max_concurrent:
            reason = TOO_MANY_CONCURRENT_CHECKPOINTS
            scheduler = scheduler._replace(postponed=True, due=-1)
        elif before.now < before.pause_ends:
            reason = MINIMUM_TIME_BETWEEN_CHECKPOINTS
            if plan.interval:
                scheduler = scheduler._replace(due=before.pause_ends)
    if after.scheduler != scheduler:
        return False
    if reason is None:
        return after.pending[: len(pending)] == pending and len(after.pending) == len(pending) + 1
    return effects == (*fails, Rejected(event.type, reason)) and after.pending == pending


@COORDINATOR_BEGINS.step("COORD-23", MasterAnswer)
def coord_23_answers(before: Coordinator, event: MasterAnswer, effects: Effects, after: Coordinator) -> bool:
    """The first answer of each master counts. The last one triggers hooks or sources. A failure aborts."""
    if last_missing(before, event) is not None:
        return True
    pending = find_pending(before, event.checkpoint)
    if pending is None or before.master != event.checkpoint:
        return bool(before.outlived) or (not effects and after == before)
    changed = answered(pending, event._replace(fails=False))
    if changed == pending:
        return not effects and after == before
    if event.fails:
        return effects[:1] == (Abort(event.checkpoint, TRIGGER_CHECKPOINT_FAILURE),)
    expected: Effects = ()
    if all((*changed.coordinators, *changed.hooks)):
        tasks = beginners(before._replace(tasks_run=changed.tasks))
        kind = triggered_type(before, pending.type)
        expected = tuple(TriggerTask(task, pending.checkpoint, kind) for task in tasks)
        rest = effects[len(expected) :]
        return effects[: len(expected)] == expected and not any(
            effect.checkpoint == event.checkpoint  # type: ignore[attr-defined]
            for effect in rest
            if type(effect) not in (Rejected, FailJob)
        )
    if all(changed.coordinators) and not event.is_hook:
        places = range(len(changed.hooks))
        expected = tuple(TriggerMaster(place, pending.checkpoint, True) for place in places)
    others = tuple(changed if one is pending else one for one in before.pending)
    return effects == expected and after == before._replace(pending=others)


@COORDINATOR_BEGINS.step("COORD-30")
def coord_30_answers(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Only answers of its masters change the master phase of an aborted checkpoint."""
    if not before.outlived or not after.outlived:
        return True
    left = before.outlived[0]
    if type(event) is MasterAnswer and event.checkpoint == left.checkpoint:
        return not effects and after == before._replace(outlived=(answered(left, event),))
    return after.outlived == before.outlived


# ---------------------------------------------------------------- terms of the properties


def own_requests(before: Coordinator, event: Event) -> int:
    """Maximum number of the scheduler's requests that can start at this event. Each draws at most one id.

    They were in the queue, or became due while time passed or because a scheduler without initial delay
    started. Within the pause, one more request becomes due if a waiting request of a user leaves in its
    place. Up to 1.10 the end of a checkpoint can repeat a postponed request.
    """
    number = len(before.queue)
    if not before.plan.profile.queues_requests:
        number += len(before.pending)
    due = before.scheduler.due
    if type(event) is not Advance:
        return number + 1
    if due != NONE and due < before.pause_ends:
        due = before.pause_ends
    while due != NONE and due <= before.now + event.ms:
        number, due = number + 1, due + before.plan.interval
    return number


def triggers(coordinator: Coordinator, checkpoint: int, kind: int) -> Effects:
    """The first triggers of a checkpoint: of all operator coordinators, else of all hooks, else of tasks."""
    plan = coordinator.plan
    if plan.coordinators or plan.hooks:
        places = range(plan.coordinators or plan.hooks)
        return tuple(TriggerMaster(place, checkpoint, not plan.coordinators) for place in places)
    tasks = beginners(coordinator._replace(tasks_run=participants(coordinator)))
    kind = triggered_type(coordinator, kind)
    return tuple(TriggerTask(task, checkpoint, kind) for task in tasks)


def participants(coordinator: Coordinator) -> tuple[bool, ...]:
    """By task: a checkpoint that starts now awaits its acknowledgement."""
    every_task = (True,) * len(coordinator.tasks_run)
    return coordinator.tasks_run if coordinator.plan.profile.every_task_must_run else every_task


def is_begun(before: Coordinator, event: Event, one: Pending, after: Coordinator) -> bool:
    """Whether `one` has begun in this step: no task has answered, and its whole time-out is left."""
    plan, tasks = before.plan, participants(after)
    fresh = Pending(
        one.checkpoint, one.type, one.forced, one.deadline, tasks, tuple(not takes for takes in tasks),
        (0,) * len(tasks), ((),) * len(tasks), (False,) * plan.coordinators, (False,) * plan.hooks,
    )  # fmt: skip
    if one != fresh or one.checkpoint < before.next_id:
        return False
    if type(event) is Advance:
        return before.now + plan.timeout < one.deadline and one.deadline <= after.now + plan.timeout
    return one.deadline == before.now + plan.timeout


def request_of(before: Coordinator, event: TriggerRequest) -> Request:
    """The queue entry of a user's request. A savepoint is forced, except with unaligned checkpoints."""
    may_wait = before.plan.unaligned and before.plan.profile.savepoints_may_wait
    forced = event.forced or (event.type != CHECKPOINT and not may_wait)
    return Request(event.type, forced, event.periodic, awaits_answer=True)


def with_request(waiting: tuple[Request, ...], requested: Request) -> tuple[Request, ...]:
    """The queue after `requested` has joined, before all less urgent requests."""
    behind = tuple(one for one in waiting if is_more_urgent(requested, one))
    place = len(waiting) - len(behind)
    return (*waiting[:place], requested, *waiting[place:])


def answer_to(head: Request, after: Coordinator) -> str | None:
    """The reason of the rejection if `head` leaves the queue now; None if it starts a checkpoint."""
    if head.periodic and not head.forced and after.now < after.pause_ends:
        return MINIMUM_TIME_BETWEEN_CHECKPOINTS
    if not after.open:
        return COORDINATOR_SHUTDOWN
    if head.periodic and not after.scheduler.runs:
        return PERIODIC_SCHEDULER_SHUTDOWN
    if not is_fit(after):
        return NOT_ALL_REQUIRED_TASKS_RUNNING
    return None if any(participants(after)) else TRIGGER_CHECKPOINT_FAILURE


def is_of(head: Request, effect: object, after: Coordinator) -> bool:
    """Whether `effect` rejects or starts the request `head`."""
    if type(effect) is Rejected:
        return effect.type == head.type
    begun = find_pending(after, effect.checkpoint)  # type: ignore[attr-defined]
    return begun is not None and begun.type == head.type and begun.forced == head.forced
