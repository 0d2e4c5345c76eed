"""COORD-01, COORD-12, COORD-20, COORD-26: exact changes by statuses, the scheduler and its listener."""

from model.coordinator.events import (
    Abort,
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    Fail,
    FailTasks,
    JobEnd,
    JobStatus,
    Rejected,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.properties.checkpoint_end import is_added, suspension
from model.coordinator.properties.checkpoint_start import answer_to, request_of, with_request
from model.coordinator.properties.terms import (
    find_pending,
    is_cleaning,
    is_first_due,
    last_missing,
    start_fails,
)
from model.coordinator.requests import Request
from model.coordinator.state import CREATED, FINISHED, RESTARTING, RUNNING, Coordinator, Scheduler
from model.coordinator.trigger import MasterAnswer
from model.events import (
    BEFORE,
    COORDINATOR_SUSPEND,
    MINIMUM_TIME_BETWEEN_CHECKPOINTS,
    NONE,
    Advance,
    Effects,
    Event,
)
from model.registry import Registry
from model.store.store import CHECKPOINT, STOP, Entry

COORDINATOR_SCHEDULER = Registry("coordinator")


@COORDINATOR_SCHEDULER.step("COORD-01")
def coord_01_statuses(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The coordinator stores the last reported status of a task. A status after CREATED means deployed."""
    runs, over, reached = before.tasks_run, before.tasks_finished, before.tasks_reached
    if type(event) is TaskStatus:
        here = tuple(task == event.task for task in range(len(runs)))
        runs, over, reached = (
            tuple(value if own else old for own, old in zip(here, values, strict=True))
            for value, values in (
                (event.status == RUNNING, runs),
                (event.status == FINISHED, over),
                (event.status != CREATED, reached),
            )
        )
    elif type(event) is FailTasks:
        runs, over = (
            tuple(value and not fails for value, fails in zip(values, event.failed, strict=True))
            for values in (runs, over)
        )
        reached = tuple(value or fails for value, fails in zip(reached, event.failed, strict=True))
        if after.status != RESTARTING:
            return False
    elif type(event) is JobStatus:
        return after.status == event.status
    elif type(event) is CoordinatorRestart:  # COORD-22
        return True
    return (after.tasks_run, after.tasks_finished, after.tasks_reached) == (runs, over, reached)


@COORDINATOR_SCHEDULER.step("COORD-20")
def coord_20_fault(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A planned failure of the store happens once. If the store has written the checkpoint, it is durable."""
    if type(event) in (CoordinatorRestart, JobEnd):  # COORD-22, COORD-25
        return True
    if type(event) is StoreFails:
        return after.fault == event.when
    done = last_missing(before, event)
    if done is None or before.fault == 0 or not is_added(before, done):
        return after.fault == before.fault and after.unseen == before.unseen
    written = () if before.fault == BEFORE else (Entry(done.checkpoint, done.type),)
    return after.fault == 0 and after.unseen == (*before.unseen, *written)


@COORDINATOR_SCHEDULER.state("COORD-26")
def coord_26_follows(coordinator: Coordinator) -> bool:
    """The listener has started the scheduler if and only if the job runs and it awaits no execution (2.3)."""
    scheduler, plan = coordinator.scheduler, coordinator.plan
    follows = plan.interval > 0 and coordinator.status == RUNNING
    if plan.profile.follows_tasks:
        follows = follows and not scheduler.awaits_former and not any(scheduler.awaited)
    return scheduler.follows == follows and (plan.interval > 0 or scheduler.due == NONE)


@COORDINATOR_SCHEDULER.state("COORD-26")
def coord_26_awaits(coordinator: Coordinator) -> bool:
    """From 2.3 on, the listener awaits each task that neither runs nor has finished, and has reported.

    While the job runs, every new execution has reported.
    """
    scheduler, plan = coordinator.scheduler, coordinator.plan
    if not plan.interval or not plan.profile.follows_tasks:
        return True
    executions = zip(
        scheduler.awaited,
        scheduler.unreported,
        coordinator.tasks_run,
        coordinator.tasks_finished,
        strict=True,
    )
    awaits = all(waits != (new or runs or over) for waits, new, runs, over in executions)
    return awaits and (coordinator.status != RUNNING or not any(scheduler.unreported))


@COORDINATOR_SCHEDULER.state("COORD-12")
def coord_12_followed(coordinator: Coordinator) -> bool:
    """In 2.3, if the job runs and checkpoints are pending or requests wait, the scheduler was started.

    The exception: the listener awaits a former execution.
    """
    scheduler, plan = coordinator.scheduler, coordinator.plan
    if not plan.interval or not plan.profile.follows_tasks or coordinator.status != RUNNING:
        return True
    return scheduler.follows or scheduler.awaits_former or not (coordinator.pending or coordinator.queue)


@COORDINATOR_SCHEDULER.step("COORD-26")
def coord_26_listens(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """From 2.3 on, the listener awaits a new execution until it reports that it runs or has finished."""
    known, now = before.scheduler, after.scheduler
    if type(event) is CoordinatorRestart:  # COORD-22
        return True
    former, awaited, new = known.awaits_former, known.awaited, known.unreported
    if before.plan.interval and before.plan.profile.follows_tasks:
        reports = tuple(False for _ in awaited)
        if type(event) is TaskStatus:
            reports = tuple(task == event.task for task in range(len(awaited)))
        elif type(event) is FailTasks:
            reports = event.failed
        elif type(event) is RestoreRequest and before.open:
            tasks = renewed(before, event)
            former = former or any(waits and renews for waits, renews in zip(awaited, tasks, strict=True))
            awaited = tuple(waits and not renews for waits, renews in zip(awaited, tasks, strict=True))
            new = tuple(fresh or renews for fresh, renews in zip(new, tasks, strict=True))
        restored = type(event) is RestoreRequest and before.open
        if after.status == RUNNING and (restored or type(event) is JobStatus):
            reports = new
        ready = tuple(runs or over for runs, over in zip(after.tasks_run, after.tasks_finished, strict=True))
        awaited = tuple(
            not ends if own else waits for own, ends, waits in zip(reports, ready, awaited, strict=True)
        )
        new = tuple(fresh and not own for own, fresh in zip(reports, new, strict=True))
    return (now.awaits_former, now.awaited, now.unreported) == (former, awaited, new)


@COORDINATOR_SCHEDULER.step("COORD-26")
def coord_26_runs(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The listener starts and stops the scheduler. From 2.3 on it also starts when a task begins to run."""
    known, now, plan = before.scheduler, after.scheduler, before.plan
    if type(event) is CoordinatorRestart:  # COORD-22
        return True
    rises, falls = now.follows and not known.follows, known.follows and not now.follows
    started = 1 if rises else 0
    if type(event) is JobStatus and not plan.profile.follows_tasks:
        started, falls = (1 if now.follows else 0), not now.follows  # at every status of the job
    runs = known.runs
    if type(event) is TaskStatus and after.tasks_run[event.task] and plan.profile.follows_tasks:
        started += 1 if plan.interval and not runs else 0
    later = plan.min_pause if plan.profile.restarts_after_pause else plan.initial_delay
    fresh = known.unreported if type(event) is JobStatus else ()
    if type(event) is RestoreRequest:
        tasks = renewed(before, event)
        fresh = tuple(new or renews for new, renews in zip(known.unreported, tasks, strict=True))
    listens = plan.profile.follows_tasks and plan.interval > 0 and before.open
    if after.status == RUNNING and listens and any(fresh):
        ready = not any(known.awaited) and not known.awaits_former
        begins = any(new and runs for new, runs in zip(fresh, after.tasks_run, strict=True))
        left = runs and not known.follows and not (ready and type(event) is JobStatus)
        delays = (known.delay, later)
        is_due = any(is_first_due(before, before.now + delay, after) for delay in delays)
        if left and not rises:
            return (now.runs, now.due, now.delay) == (True, known.due, known.delay)
        return now.runs == (begins or now.follows) and (not now.runs or (now.delay == later and is_due))
    stops = falls or type(event) is JobEnd or (type(event) is TriggerRequest and event.type == STOP)
    if started and before.open:
        due = before.now + (known.delay if started == 1 else later)
        return now.runs and now.delay == later and is_first_due(before, due, after)
    if now.runs != (runs and not stops) or now.delay != known.delay:
        return False
    return not stops or now.due == NONE or type(event) is TriggerRequest


@COORDINATOR_SCHEDULER.step("COORD-26", JobStatus, TaskStatus)
def coord_26_shut_down(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """After the shutdown of the coordinator each start of the scheduler fails, and nothing else happens."""
    if before.open or not before.plan.interval:
        return True
    fails = (Fail("IllegalArgumentException"),)
    if any(before.scheduler.unreported):  # the scheduler can start twice
        return effects in ((), fails, fails * 2)
    again = type(event) is JobStatus and not before.plan.profile.follows_tasks
    starts = after.scheduler.follows and (again or not before.scheduler.follows)
    return effects == (fails if starts else ())


@COORDINATOR_SCHEDULER.step("COORD-26", JobStatus, TaskStatus)
def coord_26_suspends(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A stop of the scheduler ends all requests and pending checkpoints. Up to 1.19 a start ends them too."""
    known, now, profile = before.scheduler, after.scheduler, before.plan.profile
    ends = known.follows and not now.follows
    if type(event) is JobStatus and not before.plan.interval:
        ends = event.status != RUNNING
    elif type(event) is JobStatus and not profile.follows_tasks:
        ends = not now.follows or (before.open and (profile.start_suspends or known.runs))
    expected, _ = suspension(before, event, COORDINATOR_SUSPEND, after)
    listens = before.plan.interval > 0 and profile.follows_tasks
    # the listener can stop and start the scheduler in one event
    is_suspension = (ends or listens) and effects[: len(expected)] == expected
    left = effects[len(expected) :] if is_suspension else effects
    if any(type(effect) is Abort and effect.checkpoint < before.next_id for effect in left):
        return False  # a checkpoint that begins in this event can fail at once: COORD-36
    if any(type(effect) is Rejected and effect.reason == COORDINATOR_SUSPEND for effect in left):
        return False
    if ends and not profile.queues_requests and now.postponed:
        return False  # the suspension drops a postponed request too
    return is_suspension or not ends


@COORDINATOR_SCHEDULER.step(
    "COORD-26", AcknowledgeMessage, DeclineMessage, MasterAnswer, TriggerFails, TriggerRequest
)
def coord_26_due(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """The end of a checkpoint moves the next request only to the end of the pause."""
    known, now = before.scheduler, after.scheduler
    if not before.plan.profile.queues_requests:
        return True
    stops = type(event) is TriggerRequest and event.type == STOP
    expected = known._replace(runs=False, due=NONE) if stops else known
    waiting = () if stops else before.queue
    if type(event) is TriggerRequest:
        waiting = with_request(waiting, request_of(before, event))
    left = waiting[: len(waiting) - len(after.queue)]
    early = any(answer_to(one, after) == MINIMUM_TIME_BETWEEN_CHECKPOINTS for one in left)
    if early and before.plan.interval and before.open:
        expected = expected._replace(due=after.pause_ends)
    return now == expected


@COORDINATOR_SCHEDULER.step("COORD-26", AcknowledgeMessage, DeclineMessage)
def coord_26_repeats(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """Up to 1.10, the scheduler repeats a postponed request at the end of a checkpoint or after its delay."""
    plan = before.plan
    if plan.profile.queues_requests:
        return True
    known = before.scheduler
    ended = tuple(one.checkpoint for one in before.pending if find_pending(after, one.checkpoint) is None)
    if not ended:
        return after.scheduler == known and after.queue == before.queue
    left = tuple(one for one in before.pending if one.checkpoint not in ended)
    postponed, due = known.postponed, known.due
    if type(event) is DeclineMessage:
        if plan.profile.abort_begins_anew and not left and known.runs and postponed:
            postponed, due = False, before.now + plan.initial_delay
        if any(one.checkpoint > event.checkpoint for one in left):
            return after.scheduler == known._replace(postponed=postponed, due=due) and after.pending == left
    if postponed:
        postponed, due = False, before.now if known.runs else NONE
    expected = known._replace(postponed=postponed, due=due)
    if due == NONE or due > before.now:
        return after.scheduler == expected and after.pending == left
    periodic = Request(CHECKPOINT, forced=False, periodic=True, awaits_answer=False)
    starts = len(left) < plan.max_concurrent and answer_to(periodic, after) is None
    if not start_fails(before, after):  # COORD-35, COORD-36
        begun = after.pending[len(left) :]
        if after.pending[: len(left)] != left or len(begun) != (1 if starts else 0):
            return False
    return after.scheduler == requested(after, expected, len(left), before.now)


@COORDINATOR_SCHEDULER.step("COORD-26", DeclineMessage)
def coord_26_begins_anew(
    before: Coordinator, event: DeclineMessage, effects: Effects, after: Coordinator
) -> bool:
    """Up to 1.10 a decline that leaves no checkpoint pending drops a postponed request.

    The initial delay, if there is one, begins again, and the decline starts nothing. A request waits in the
    queue only in a profile in which one switch was changed.
    """
    plan, known = before.plan, before.scheduler
    waits = known.postponed or len(before.queue) > 0
    ended = find_pending(before, event.checkpoint)
    if not (plan.profile.abort_begins_anew and known.runs and waits and plan.initial_delay > 0):
        return True
    if ended is None or len(before.pending) > 1:
        return True
    quiet = after.next_id == before.next_id and not after.pending and not after.queue
    due = before.now + plan.initial_delay
    return quiet and not after.scheduler.postponed and after.scheduler.due == due


@COORDINATOR_SCHEDULER.step("COORD-26", Advance)
def coord_26_fires(before: Coordinator, event: Advance, effects: Effects, after: Coordinator) -> bool:
    """When time passes without a time-out, only the requests that become due have effects."""
    plan, until, due = before.plan, before.now + event.ms, before.scheduler.due
    if any(one.deadline <= until for one in before.pending):
        return True
    if due == NONE or due > until:
        return not effects and after == before._replace(now=until)
    if plan.timeout <= until - due:
        return True
    if not plan.profile.queues_requests:
        if due + plan.interval <= until:
            return True
        now = requested(before._replace(now=due), before.scheduler, len(before.pending), due)
        return after.scheduler == now or (now.due <= until and now.due == before.pause_ends)
    is_held = before.master != NONE or len(before.pending) >= plan.max_concurrent or is_cleaning(before)
    if before.queue and not is_held:  # the head of the queue gets a turn: COORD-11
        return True
    periodic = Request(CHECKPOINT, forced=False, periodic=True, awaits_answer=False)
    queue = before.queue
    starts: tuple[int, ...] = ()
    failing = len(tuple(fails for fails in (before.io.id, before.io.location) if fails))
    while due <= until:
        reason = None if is_held else answer_to(periodic, before._replace(now=due))
        if reason == MINIMUM_TIME_BETWEEN_CHECKPOINTS:
            due = before.pause_ends
            continue
        if is_held:
            queue = with_request(queue, periodic)
        elif reason is None and failing:  # COORD-35, COORD-36
            failing -= 1
        elif reason is None:
            starts = (*starts, due)
            masters = plan.coordinators + plan.hooks > 0
            is_held = masters or len(before.pending) + len(starts) >= plan.max_concurrent
        due += plan.interval
    begun = after.pending[len(before.pending) :]
    if (
        after.scheduler != before.scheduler._replace(due=due)
        or after.queue != queue
        or len(begun) != len(starts)
    ):
        return False
    if effects and not starts and not start_fails(before, after):
        return False
    return all(
        one.type == CHECKPOINT and one.deadline == start + plan.timeout
        for one, start in zip(begun, starts, strict=True)
    )


def renewed(before: Coordinator, event: RestoreRequest) -> tuple[bool, ...]:
    """By task: it is restored, and gets a new execution."""
    return event.tasks or (True,) * len(before.tasks_run)


def requested(coordinator: Coordinator, scheduler: Scheduler, pending: int, now: int) -> Scheduler:
    """The scheduler of 1.9 after its request at this time, while that many checkpoints are pending."""
    plan = coordinator.plan
    if scheduler.postponed:
        return scheduler._replace(due=now + plan.interval)
    if pending >= plan.max_concurrent:
        return scheduler._replace(postponed=True, due=NONE)
    if now < coordinator.pause_ends:
        return scheduler._replace(due=coordinator.pause_ends)
    return scheduler._replace(due=now + plan.interval)
