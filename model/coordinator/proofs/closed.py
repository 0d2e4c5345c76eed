"""The proofs of one task's coordinator that are closed under steps: every event in every shape of a size.

All values of a state and of its configuration are symbols, but for lengths, words and the configured times of
the scheduler. Nothing is assumed of a state but the rules; `permitted` states what the environment promises
of an event.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import formula, int_term, symbolic_like
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailTasks,
    JobEnd,
    JobStatus,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.pending import new_pending
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.coordinator.requests import Request
from model.coordinator.state import CREATED, FINISHED, RESTARTING, RUNNING, Coordinator, Plan, new_coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import BEFORE, MAYBE, NONE, Advance, Event
from model.initial_states import PERMITTED
from model.steps import step_of
from model.store.store import CHECKPOINT, STOP, Entry

INTERVAL = 10
"""In ms, like the next two."""
DELAY = 5
PAUSE = 4
EVENTS: tuple[Event, ...] = (
    *(JobStatus(status) for status in (RUNNING, RESTARTING)),
    *(TaskStatus(0, status) for status in (CREATED, RUNNING, FINISHED, "CANCELED")),
    TriggerRequest(CHECKPOINT),
    TriggerFails(0, 0),
    *(AcknowledgeMessage(task, 0, 0) for task in (0, 1)),
    *(DeclineMessage(0, 0, reason) for reason in ("ASYNC_EXCEPTION", "TASK_NOT_READY")),
    Advance(0),
    StoreFails(BEFORE),
    FailTasks((False,)),
    *(RestoreRequest(tasks) for tasks in ((), (True,))),
    CoordinatorRestart(),
    *(JobEnd(status) for status in (FINISHED, "CANCELED", "SUSPENDED")),
)
"""Each class of events with each word that the coordinator distinguishes; other values become symbols."""
Numbers = tuple[int, int, int, int]
"""Of pending checkpoints, of waiting requests, of stored checkpoints, and of others that are durable."""
MOST = 2
"""Of pending checkpoints, waiting requests and durable checkpoints together; of each at most one."""


def any_plan(name: str, *, interval: int = 0, masters: int = 0) -> Plan:
    """Any configuration of one task in a release: with periodic requests or not, with masters or not."""
    profile = COORDINATOR_PROFILES[name]
    plan: Plan = symbolic_like(Plan((True,), timeout=0, max_concurrent=0), "plan")
    return plan._replace(
        sources=(True,),
        profile=profile,
        interval=interval,
        initial_delay=DELAY if interval else 0,
        min_pause=PAUSE if interval else 0,
        finished_tasks=plan.finished_tasks if profile.after_finish_configurable else False,
        coordinators=masters,
        hooks=masters,
    )


def closed_cases(plan: Plan) -> Iterator[Case]:
    """Every event in every shape of a coordinator with this configuration."""
    masters = tuple(
        MasterAnswer(0, 0, is_hook, False)
        for is_hook in (False, True)
        if (plan.hooks if is_hook else plan.coordinators)
    )
    for state in shapes(plan):
        for event in (*EVENTS, *masters):
            symbols = symbolic_event(event)
            words = ", ".join(part for part in (*state, *event) if type(part) is str)
            yield Case(
                "coordinator",
                f"{plan.profile.name}, {len(state.pending)} pending, {len(state.queue)} waiting, {words}",
                state,
                symbols,
                step_of("coordinator"),
                (formula(lambda: PERMITTED["coordinator"](state)), *permitted(state, symbols)),  # noqa: B023 - called here,
            )


def shapes(plan: Plan) -> Iterator[Coordinator]:
    """Every shape: nothing waits or is pending unless the job runs, nothing is stored after its end."""
    for numbers in product((0, 1), (0, 1), (0, 1), (0, 1)):
        pending, queue, stored, unseen = numbers
        if sum(numbers) > MOST or stored + unseen > 1:
            continue
        if pending or queue:
            yield any_coordinator(plan, numbers, RUNNING)
            continue
        for status in (CREATED, RUNNING, RESTARTING):
            state = any_coordinator(plan, numbers, status)
            yield state
            if not stored:
                yield state._replace(open=False)


def is_within(state: Coordinator) -> bool:
    """Whether a state has the numbers of these shapes, in the newest generation."""
    numbers = len(state.pending), len(state.queue), len(state.store.entries), len(state.unseen)
    plan, failed, files = state.plan, state.failures.counted, state.shared
    return (
        max(numbers) <= 1
        and sum(numbers) <= MOST
        and numbers[2] + numbers[3] <= 1
        and len(plan.sources) == state.store.retain == 1
        and plan.profile.name == "2.3"
        and plan.interval == plan.min_pause == plan.coordinators == plan.hooks == 0
        and not (failed or files.registered or files.completed)
    )


def any_coordinator(plan: Plan, numbers: Numbers, status: str) -> Coordinator:
    """The coordinator of a job with this status, with symbols for all values that a step may change."""
    pending, queue, stored, unseen = numbers
    new = new_coordinator(plan, 1)
    entry = Entry(0, CHECKPOINT)
    one = new_pending(0, 0, 0, (False,), coordinators=plan.coordinators, hooks=plan.hooks)
    state: Coordinator = symbolic_like(
        new._replace(
            pending=(one,) * pending,
            queue=(Request(CHECKPOINT, False, False, False),) * queue,
            store=new.store._replace(entries=(entry,) * stored),
            unseen=(entry,) * unseen,
        ),
        "state",
    )
    listens = plan.interval and plan.profile.follows_tasks
    scheduler = state.scheduler._replace(
        awaited=state.scheduler.awaited if listens else (True,),
        awaits_former=state.scheduler.awaits_former if listens else False,
        unreported=state.scheduler.unreported if listens else (False,),
        put_off=False if plan.profile.queues_requests else state.scheduler.put_off,
    )
    return state._replace(
        plan=plan,
        status=status,
        master=state.master if plan.coordinators else NONE,
        turns=0,
        scheduler=scheduler if plan.interval else new.scheduler,
        pause_ends=state.pause_ends if plan.min_pause else 0,
        store=new.store._replace(entries=state.store.entries),
        shared=new.shared._replace(unclaimed=state.shared.unclaimed),
        open=True,
    )


def symbolic_event(event: Event) -> Event:
    """The event with symbols for ids, handles, flags, types and times; its task stays."""
    if type(event) is RestoreRequest:
        return event
    symbols: Event = symbolic_like(event, "event")
    if type(symbols) is MasterAnswer:
        return symbols._replace(place=0, is_hook=event.is_hook)  # type: ignore[attr-defined]
    return symbols._replace(task=event.task) if "task" in event._fields else symbols  # type: ignore[attr-defined]


def permitted(state: Coordinator, event: Event) -> tuple[z3.BoolRef, ...]:
    """What the environment promises of an event: known words as numbers, no negative amounts.

    Time passes in steps of at most an interval of the scheduler.
    """
    if type(event) is TriggerRequest:
        return int_term(event.type) >= CHECKPOINT, int_term(event.type) <= STOP
    if type(event) is AcknowledgeMessage:
        return (int_term(event.handle) >= 0,)
    if type(event) is StoreFails:
        return int_term(event.when) >= BEFORE, int_term(event.when) <= MAYBE
    if type(event) is Advance:
        most = (int_term(event.ms) <= state.plan.interval,) if state.plan.interval else ()
        return (int_term(event.ms) >= 0, *most)
    return ()
