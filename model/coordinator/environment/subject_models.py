"""Closed models of the coordinator. Each one covers one subject, in one or two generations.

In addition to the events of its subject, a closed model has only few events, so that the explorer can visit
every state.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment
from model.coordinator import state as coordinator_state
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailTasks,
    IoFails,
    JobEnd,
    JobStatus,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.generations import coordinator_steps
from model.coordinator.profiles import profile_of
from model.coordinator.state import CLAIM, FINISHED, LEGACY, NO_CLAIM, RUNNING, Coordinator, Plan
from model.coordinator.trigger import MasterAnswer
from model.events import AFTER, BEFORE, ID, LOCATION, MAYBE, METADATA, Advance, Event
from model.steps import step_of
from model.store.store import CHECKPOINT, SAVEPOINT, STOP

Offer = tuple[str, Event]
_REASON = "ASYNC_EXCEPTION"


class Scope(NamedTuple):
    """The events and the bounds of a closed model."""

    ids: int
    """The highest id that a request may draw."""
    types: tuple[int, ...] = (CHECKPOINT,)
    flags: tuple[tuple[bool, bool], ...] = ((False, False),)
    """The flags of requests: forced, periodic."""
    handles: tuple[int, ...] = (0,)
    """The state handles of acknowledgements."""
    files: tuple[tuple[int, ...], ...] = ((),)
    """The shared files of acknowledgements."""
    reasons: tuple[str, ...] = (_REASON,)
    """The reasons of declines."""
    until: int = 0
    """The last point in time, in ms. One event advances time by 1 ms."""
    more: Callable[[Coordinator], Iterator[Offer]] | None = None
    """The events that only this subject has."""


def closed_subject(subject: str, plan: Plan, scope: Scope, *, retain: int = 1) -> ClosedModel:
    """The closed model of a running job, with all events of `scope`."""
    start = running(coordinator_state.new_coordinator(plan, retain))

    def offers(state: Coordinator) -> Iterator[Offer]:
        yield from requests(state, scope)
        yield from messages(state, scope)
        if state.now < scope.until:
            yield "Advance", Advance(1)
        if scope.more is not None:
            yield from scope.more(state)

    return ClosedModel(
        f"coordinator of {plan.profile.name}, {subject}",
        "coordinator",
        start,
        (),
        offers,
        _anything,
        step_of("coordinator"),
    )


def running(state: Coordinator) -> Coordinator:
    """The coordinator after all tasks and the job have begun to run."""
    steps = coordinator_steps(state)
    for task in range(len(state.plan.sources)):
        state = steps.on_task_status(state, task, RUNNING).state
    return steps.on_job_status(state, RUNNING).state


def requests(state: Coordinator, scope: Scope) -> Iterator[Offer]:
    """All requests of the scope, until the counter reaches the highest id."""
    if state.next_id + len(state.queue) <= scope.ids:
        for kind, (forced, periodic) in product(scope.types, scope.flags):
            yield "Trigger", TriggerRequest(kind, forced, periodic)


def messages(state: Coordinator, scope: Scope) -> Iterator[Offer]:
    """Acknowledgements and declines of every id drawn so far."""
    for checkpoint in range(1, state.next_id):
        for task in range(len(state.plan.sources)):
            for handle, files in product(scope.handles, scope.files):
                yield "Acknowledge", AcknowledgeMessage(task, checkpoint, handle, files)
        for reason in scope.reasons:
            yield "Decline", DeclineMessage(0, checkpoint, reason)


# ---------------------------------------------------------------- events of a subject


def statuses(state: Coordinator) -> Iterator[Offer]:
    """The job stops and starts, and its first task runs, fails and finishes."""
    yield "JobStatus", JobStatus(RUNNING if state.status != RUNNING else "RESTARTING")
    if state.tasks_run[0]:
        yield "TaskStatus", TaskStatus(0, FINISHED)
        yield "FailTasks", FailTasks((True, *(False,) * (len(state.tasks_run) - 1)))
    else:
        yield "TaskStatus", TaskStatus(0, RUNNING)


def early_statuses(state: Coordinator) -> Iterator[Offer]:
    """The job and its task stop and start, until a second id is drawn."""
    if state.next_id <= 2:
        yield from statuses(state)


def jumps(state: Coordinator) -> Iterator[Offer]:
    """Time passes by 4 ms in one event, until a second id is drawn."""
    if state.next_id <= 2:
        yield "Advance", Advance(4)


def ends_of_tasks(state: Coordinator) -> Iterator[Offer]:
    """Every task finishes, and may run again."""
    for task, runs in enumerate(state.tasks_run):
        yield "TaskStatus", TaskStatus(task, FINISHED if runs else RUNNING)


def store_faults(state: Coordinator) -> Iterator[Offer]:
    """The store fails in each way, and a new coordinator takes over."""
    if not state.fault and state.open:
        for when in (BEFORE, AFTER, MAYBE):
            yield "StoreFails", StoreFails(when)
    if state.unseen or not state.open:
        yield "CoordinatorRestart", CoordinatorRestart()
    if state.status != RUNNING and state.open:
        yield "Restore", RestoreRequest()
        if not state.tasks_run[0]:
            yield "TaskStatus", TaskStatus(0, RUNNING)
        yield "JobStatus", JobStatus(RUNNING)


def io_failures(state: Coordinator) -> Iterator[Offer]:
    """Each input and output may fail, the store may fail, and masters answer."""
    for what, fails in zip((METADATA, LOCATION, ID), state.io, strict=True):
        if not fails:
            yield "IoFails", IoFails(what)
    if not state.fault and state.next_id == 1:
        yield "StoreFails", StoreFails(BEFORE)
    yield from answers(state)


def ends_of_job(state: Coordinator) -> Iterator[Offer]:
    """The job ends with each status. Hooks answer before and after the end."""
    if state.plan.hooks:
        yield from answers(state)
    for status in ("FINISHED", "CANCELED", "FAILED", "SUSPENDED"):
        yield "JobEnd", JobEnd(status)
    yield "Restore", RestoreRequest((True,) * len(state.tasks_run))
    if not state.open:
        yield "CoordinatorRestart", CoordinatorRestart()


def answers(state: Coordinator) -> Iterator[Offer]:
    """Operator coordinators and hooks answer, also if they are not awaited, and triggers are lost."""
    for checkpoint in range(1, state.next_id):
        yield "TriggerFails", TriggerFails(0, checkpoint)
        for is_hook, fails in product((False, True), (False, True)):
            for place in range(state.plan.hooks if is_hook else state.plan.coordinators):
                yield "MasterAnswer", MasterAnswer(place, checkpoint, is_hook, fails)


def lost_triggers(state: Coordinator) -> Iterator[Offer]:
    """The triggers of all ids are lost."""
    for checkpoint in range(1, state.next_id):
        yield "TriggerFails", TriggerFails(0, checkpoint)


# ---------------------------------------------------------------- the closed models


def closed_coordinator_models() -> tuple[ClosedModel, ...]:
    """The closed models of all subjects. A subject has several closed models if generations differ in it."""
    return (
        closed_queue("2.3"),
        *(closed_scheduler(name) for name in ("2.3", "1.11", "1.9")),
        closed_late_scheduler("2.3"),
        *(closed_scheduler_without_pause(name) for name in ("2.3", "1.9")),
        *(closed_failures(name) for name in ("2.3", "1.11")),
        *(closed_store_failure(name) for name in ("2.3", "1.14", "1.11")),
        *(closed_shared(name) for name in ("2.3", "1.14")),
        *(closed_shared_states(name) for name in ("2.3", "1.14")),
        *(closed_subsumption(name) for name in ("1.14", "1.9")),
        *(closed_stop(name) for name in ("2.3", "1.14")),
        *(closed_tasks(name) for name in ("2.3", "1.12")),
        closed_sources("2.3"),
        *(closed_job_end(name) for name in ("2.3", "1.14")),
        *(closed_masters(name) for name in ("2.3", "1.15")),
        closed_hooks("1.15"),
        *(closed_io(name) for name in ("2.3", "1.14.3", "1.13", "1.9")),
        *(closed_claim("2.3", word, mode) for word, mode in (("CLAIM", CLAIM), ("NO_CLAIM", NO_CLAIM))),
        closed_claim("1.14", "no claim mode", LEGACY),
    )


def plan_of(name: str, tasks: int = 1) -> Plan:
    """The plan of a job with one source and `tasks` tasks in all, in which no checkpoint expires."""
    profile = profile_of(name)
    return Plan(
        (True, *(False,) * (tasks - 1)),
        timeout=100,
        max_concurrent=1,
        profile=profile,
        finished_tasks=profile.after_finish_by_default,
    )


def closed_queue(name: str) -> ClosedModel:
    """Requests of every priority while one checkpoint is pending."""
    flags = ((False, False), (True, False), (False, True))
    scope = Scope(ids=4, types=(CHECKPOINT, SAVEPOINT), flags=flags)
    return closed_subject("waiting requests", plan_of(name)._replace(unaligned=True), scope)


def closed_scheduler(name: str) -> ClosedModel:
    """A request every 2 ms, a pause of 2 ms after completions, and a time-out of 3 ms."""
    plan = plan_of(name)._replace(interval=2, initial_delay=1, min_pause=2, timeout=3)
    scope = Scope(ids=2, until=4, flags=((False, False), (False, True)), more=statuses)
    return closed_subject("a scheduler", plan, scope)


def closed_late_scheduler(name: str) -> ClosedModel:
    """A request every 2 ms. One event advances time by 4 ms, so two requests become due in this event."""
    plan = plan_of(name)._replace(interval=2, initial_delay=1, max_concurrent=2)
    return closed_subject("a scheduler whose requests are due together", plan, Scope(ids=4, more=jumps))


def closed_scheduler_without_pause(name: str) -> ClosedModel:
    """No pause: a second start of the scheduler requests a checkpoint at once."""
    plan = plan_of(name)._replace(interval=2, initial_delay=1, timeout=3)
    return closed_subject("a scheduler without a pause", plan, Scope(ids=2, until=4, more=early_statuses))


def closed_failures(name: str) -> ClosedModel:
    """One failure is tolerated."""
    plan = plan_of(name)._replace(tolerable_failures=1, max_concurrent=3)
    reasons = ("ASYNC_EXCEPTION", "TASK_NOT_READY")
    return closed_subject("failures", plan, Scope(ids=3, types=(CHECKPOINT, SAVEPOINT), reasons=reasons))


def closed_store_failure(name: str) -> ClosedModel:
    """The store fails in every way, and a new coordinator reads the store."""
    plan = plan_of(name)._replace(max_concurrent=2, tolerable_failures=0)
    return closed_subject("a store that fails", plan, Scope(ids=3, more=store_faults))


def closed_shared(name: str) -> ClosedModel:
    """Checkpoints and savepoints share a file."""
    scope = Scope(ids=3, types=(CHECKPOINT, SAVEPOINT), files=((), (1,)))
    return closed_subject("shared files", plan_of(name)._replace(max_concurrent=2), scope)


def closed_shared_states(name: str) -> ClosedModel:
    """Two tasks, each with its own state and perhaps a shared file."""
    plan = plan_of(name, tasks=2)._replace(max_concurrent=2)
    return closed_subject("shared files beside states", plan, Scope(ids=2, handles=(2,), files=((), (1,))))


def closed_subsumption(name: str) -> ClosedModel:
    """The store keeps savepoints, checkpoints may be forced, and the job has one task."""
    flags = ((False, False), (True, False))
    scope = Scope(ids=3, types=(CHECKPOINT, SAVEPOINT), flags=flags, handles=(1,))
    return closed_subject("savepoints that replace", plan_of(name)._replace(max_concurrent=2), scope)


def closed_stop(name: str) -> ClosedModel:
    """Stops with a savepoint among other requests."""
    plan = plan_of(name)._replace(max_concurrent=2, tolerable_failures=0)
    scope = Scope(ids=3, types=(CHECKPOINT, STOP), until=1, more=lost_triggers)
    return closed_subject("stops", plan._replace(timeout=1), scope)


def closed_tasks(name: str) -> ClosedModel:
    """Two tasks that finish."""
    plan = plan_of(name, tasks=2)
    return closed_subject("tasks that finish", plan, Scope(ids=3, more=ends_of_tasks))


def closed_sources(name: str) -> ClosedModel:
    """A source and two tasks after it. These tasks begin checkpoints after the source has finished."""
    plan = plan_of(name, tasks=3)
    return closed_subject("a source that finishes", plan, Scope(ids=1, more=ends_of_tasks))


def closed_job_end(name: str) -> ClosedModel:
    """A job that ends while checkpoints are pending. Up to 1.15 a hook may answer after the end."""
    hooks = int(not profile_of(name).abort_ends_master_phase)
    plan = plan_of(name)._replace(max_concurrent=2, hooks=hooks)
    scope = Scope(ids=3, types=(CHECKPOINT, SAVEPOINT), more=ends_of_job)
    return closed_subject("the end of the job", plan, scope)


def closed_masters(name: str) -> ClosedModel:
    """Two operator coordinators and a hook before the source."""
    plan = plan_of(name)._replace(max_concurrent=2, coordinators=2, hooks=1, tolerable_failures=0)
    return closed_subject("operator coordinators and hooks", plan, Scope(ids=2, more=answers))


def closed_hooks(name: str) -> ClosedModel:
    """An operator coordinator and two hooks before the source."""
    plan = plan_of(name)._replace(coordinators=1, hooks=2, tolerable_failures=0)
    return closed_subject("an operator coordinator and two hooks", plan, Scope(ids=2, more=answers))


def closed_io(name: str) -> ClosedModel:
    """A hook before the source, and inputs and outputs that fail. In 1.14.3 one failure is tolerated."""
    hooks = int(profile_of(name).queues_requests)
    tolerable = int(name == "1.14.3")
    plan = plan_of(name)._replace(
        max_concurrent=2, hooks=hooks, tolerable_failures=tolerable, io_failures=True
    )
    scope = Scope(ids=2, types=(CHECKPOINT, SAVEPOINT), files=((), (1, 1)), more=io_failures)
    return closed_subject("inputs and outputs that fail", plan, scope)


def restores(state: Coordinator) -> Iterator[Offer]:
    """The job ends, a new coordinator takes over, tasks are restored, the store fails, and masters answer."""
    yield "JobEnd", JobEnd(FINISHED)
    yield "JobEnd", JobEnd("SUSPENDED")
    yield from store_faults(state)
    yield from answers(state)


def closed_claim(name: str, word: str, mode: int) -> ClosedModel:
    """A job that starts from savepoint 1 in this claim mode; from 1.16 on with a hook before the source."""
    plan = plan_of(name)._replace(max_concurrent=2, savepoint=(1,), claim_mode=mode)
    plan = plan._replace(hooks=int(plan.profile.abort_ends_master_phase))
    scope = Scope(ids=3, types=(CHECKPOINT, SAVEPOINT), more=restores)
    return closed_subject(f"a restored savepoint, {word}", plan, scope, retain=2)


def second_declines(state: Coordinator) -> Iterator[Offer]:
    """The second task declines."""
    for checkpoint in range(1, state.next_id):
        yield "Decline", DeclineMessage(1, checkpoint, _REASON)


def closed_drift(name: str) -> ClosedModel:
    """After checkpoint 1, only the second of two tasks declines checkpoints. One failure is tolerated."""
    closed = closed_regions(name)
    plan = plan_of(name, tasks=2)._replace(tolerable_failures=1)

    def offers(state: Coordinator) -> Iterator[Offer]:
        yield from requests(state, Scope(ids=5))
        for checkpoint in range(1, state.next_id):
            yield "Acknowledge", AcknowledgeMessage(0, checkpoint, 0)
        yield "Acknowledge", AcknowledgeMessage(1, 1, 0)
        yield from (one for one in second_declines(state) if one[1] != DeclineMessage(1, 1, _REASON))

    start = running(coordinator_state.new_coordinator(plan, 1))
    return closed._replace(name=f"coordinator of {name}, a region that declines", state=start, offers=offers)


def closed_regions(name: str) -> ClosedModel:
    """Two tasks with states and shared files, and a time-out. Each task may decline."""
    plan = plan_of(name, tasks=2)._replace(timeout=1, tolerable_failures=1)
    scope = Scope(ids=4, until=1, files=((), (1,)), more=second_declines)
    return closed_subject("regions", plan, scope)


def _anything(environment: Environment, event: Event) -> Environment:
    return environment
