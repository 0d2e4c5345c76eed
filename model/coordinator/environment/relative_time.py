"""The closed model of the coordinator, with relative times instead of a clock.

The closed model has the same states as CoordinatorModel.tla. In that module, a state has the time for which
each checkpoint has been pending, and the remaining time of a pause. Its failed ids are a set, and its
environment sends the requests of the scheduler. `relative` maps a state of the Python model to this form.
"""

from collections.abc import Iterator
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment
from model.coordinator.environment.failure_count import in_order
from model.coordinator.environment.subject_models import running
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    Deleted,
    FailTasks,
    IoFails,
    JobStatus,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerRequest,
)
from model.coordinator.shared_state import new_shared_state
from model.coordinator.state import RESTARTING, RUNNING, Coordinator, Plan, new_coordinator
from model.events import NONE, Advance, Event, Step
from model.steps import step_of
from model.store.store import CHECKPOINT

Request = tuple[int, bool, bool]
"""The requests that the environment sends, as (type, forced, periodic)."""
PER_CHECKPOINT = 10
"""A handle has the number `PER_CHECKPOINT * checkpoint + task + 1`, so a plan has at most 10 tasks."""


class Scope(NamedTuple):
    """The bounds of the environment, as the constants of CoordinatorModel.tla define them."""

    ids: int
    requests: tuple[Request, ...]
    reasons: tuple[str, ...]
    """The reasons of declines."""
    failing: tuple[int, ...]
    """The tasks that may fail."""
    job_restarts: bool
    """The job may leave RUNNING although no task has failed."""
    faults: tuple[int, ...]
    """The ways in which the store may fail."""
    restarts: bool
    """A new coordinator may take over."""
    io: tuple[int, ...] = ()
    """The inputs and outputs that may fail."""
    tasks_stop: bool = False
    """A task that may fail may also leave RUNNING while the job continues to run."""


def closed_relative(plan: Plan, retain: int, scope: Scope) -> ClosedModel:
    """The closed model of a coordinator whose job runs. The environment sends the events within `scope`."""
    step = step_of("coordinator")

    def offers(state: Coordinator) -> Iterator[tuple[str, Event]]:
        if state.next_id + len(state.queue) <= scope.ids:
            for kind, forced, periodic in scope.requests:
                yield "Request", TriggerRequest(kind, forced, periodic)
        for checkpoint in range(1, state.next_id):
            for task in range(len(plan.sources) + 1):
                yield "Acknowledge", AcknowledgeMessage(task, checkpoint, handle_of(task, checkpoint))
            for reason in scope.reasons:
                yield "Decline", DeclineMessage(0, checkpoint, reason)
        if state.pending or state.pause_ends:
            yield "Tick", Advance(1)
        yield from job_moves(state, scope)
        yield from failures(state, scope)
        if state.deletions:
            yield "Deleted", Deleted()
        if scope.restarts:
            yield "CoordinatorRestart", CoordinatorRestart()

    def relative_step(state: Coordinator, event: Event) -> Step[Coordinator]:
        taken = step(state, event)
        return taken._replace(state=relative(taken.state))

    return ClosedModel(
        f"coordinator of {plan.profile.name}, relative times, {scope}",
        "coordinator",
        relative(running(new_coordinator(plan, retain))),
        (),
        offers,
        _anything,
        relative_step,
        toured=False,
    )


def failures(state: Coordinator, scope: Scope) -> Iterator[tuple[str, Event]]:
    """The events that plan a failure of the store, or of an input or output, if none is planned."""
    if not state.fault:
        for when in scope.faults:
            yield "StoreFails", StoreFails(when)
    for what in scope.io:
        if not state.io[what - 1]:
            yield "IoFails", IoFails(what)


def job_moves(state: Coordinator, scope: Scope) -> Iterator[tuple[str, Event]]:
    """The events of the job that are possible now: the job stops and starts, and tasks fail and run again."""
    runs = state.status == RUNNING
    if not runs:
        yield "EnterRunning", JobStatus(RUNNING)
        yield "Restore", RestoreRequest()
    elif scope.job_restarts:
        yield "LeaveRunning", JobStatus(RESTARTING)
    for task in scope.failing:
        if runs:
            failed = tuple(other == task for other in range(len(state.tasks_run)))
            yield "FailTasks", FailTasks(failed)
        if not state.tasks_run[task]:
            yield "TaskStatus", TaskStatus(task, RUNNING)
        elif scope.tasks_stop:
            yield "TaskStatus", TaskStatus(task, "CANCELED")


def handle_of(task: int, checkpoint: int) -> int:
    """The handle of the state with which a task acknowledges a checkpoint."""
    return PER_CHECKPOINT * checkpoint + task + 1


def relative(state: Coordinator) -> Coordinator:
    """Returns the canonical form of a state. States that are one state in CoordinatorModel.tla have one form.

    The clock is 0, and deadlines and the end of a pause are relative to the clock. Failed ids and the entries
    of `unseen` ascend. A job that does not run is RESTARTING, and all tasks have been deployed. The scheduler
    has no request due, and no file is registered. `forced` of a pending checkpoint is true exactly for
    savepoints. The field has an effect only in 1.9, where the environment forces only savepoints.
    """
    return state._replace(
        status=RUNNING if state.status == RUNNING else RESTARTING,
        tasks_reached=(True,) * len(state.tasks_run),
        now=0,
        pending=tuple(
            pending._replace(deadline=pending.deadline - state.now, forced=pending.type != CHECKPOINT)
            for pending in state.pending
        ),
        pause_ends=max(0, state.pause_ends - state.now),
        scheduler=state.scheduler._replace(due=NONE, delay=state.plan.initial_delay, follows=False),
        failures=in_order(state.failures),
        unseen=tuple(sorted(state.unseen)),
        shared=new_shared_state(),
    )


def _anything(environment: Environment, event: Event) -> Environment:
    return environment
