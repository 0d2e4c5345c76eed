"""The closed models of the coordinator and of its count of failures, with relative times instead of a clock.

They have the same states as CoordinatorModel.tla and FailuresModel.tla. Those modules store how long each
checkpoint has been pending and how long a pause still lasts; the failed ids are a set, and the environment
sends the requests of the scheduler. `relative` maps a state of the model to the same form: the clock is 0,
deadlines are counted from it, failed ids ascend, and the scheduler has no request due.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment
from model.coordinator import failures
from model.coordinator.environment.subjects import running
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailJob,
    FailTasks,
    JobStatus,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerRequest,
)
from model.coordinator.failures import Failure, Failures
from model.coordinator.generations import failure_steps
from model.coordinator.profiles import CoordinatorProfile
from model.coordinator.shared_state import new_shared_state
from model.coordinator.state import RESTARTING, RUNNING, Coordinator, Plan, new_coordinator
from model.events import NONE, Advance, Effects, Event, Step
from model.steps import step_of
from model.store.store import CHECKPOINT, SAVEPOINT

Request = tuple[int, bool, bool]
"""Type, forced, periodic."""
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
    """The job may leave RUNNING without a failed task."""
    faults: tuple[int, ...]
    """The ways in which the store may fail."""
    restarts: bool
    """The coordinator may be replaced."""


def closed_relative(plan: Plan, retain: int, scope: Scope) -> ClosedModel:
    """The closed model of a coordinator whose job runs; the environment sends the events within `scope`."""
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
        if not state.fault:
            for when in scope.faults:
                yield "StoreFails", StoreFails(when)
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


def job_moves(state: Coordinator, scope: Scope) -> Iterator[tuple[str, Event]]:
    """The events of the job that are possible now: it stops and starts, its tasks fail and run again."""
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


def handle_of(task: int, checkpoint: int) -> int:
    """The handle of the state with which a task acknowledges a checkpoint."""
    return PER_CHECKPOINT * checkpoint + task + 1


def relative(state: Coordinator) -> Coordinator:
    """Return the canonical form: equal for two states that differ only in the clock or in the order of a set.

    `forced` of a pending checkpoint is set for savepoints only: the field matters in 1.9 alone, and there the
    environment forces savepoints and nothing else.
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


def in_order(counted: Failures) -> Failures:
    """The same count, with the ids of failed checkpoints in ascending order."""
    return counted._replace(counted=tuple(sorted(counted.counted)))


# ---------------------------------------------------------------- the closed model of the count of failures


class CheckpointFails(NamedTuple):
    """A checkpoint has failed."""

    checkpoint: int
    type: int
    reason: str
    by_task: bool
    kind: str = "fail"


class CheckpointSucceeds(NamedTuple):
    """A checkpoint is complete."""

    checkpoint: int
    kind: str = "succeed"


def closed_failures(
    profile: CoordinatorProfile, tolerable: int, ids: int, reasons: tuple[str, ...]
) -> ClosedModel:
    """The closed count of failures: each id may fail and succeed at any time, also repeatedly."""

    def offers(counted: Failures) -> Iterator[tuple[str, Event]]:
        for checkpoint in range(1, ids + 1):
            yield "Succeed", CheckpointSucceeds(checkpoint)
            for kind, reason, by_task in product((CHECKPOINT, SAVEPOINT), reasons, (False, True)):
                yield "Fail", CheckpointFails(checkpoint, kind, reason, by_task)

    def allows(succeeded: Environment, event: Event) -> Environment:
        if type(event) is CheckpointSucceeds:
            return (*succeeded[: event.checkpoint - 1], 1, *succeeded[event.checkpoint :])
        return succeeded

    steps = failure_steps(profile)

    def step(counted: Failures, event: Event) -> Step[Failures]:
        if type(event) is CheckpointSucceeds:
            after = steps.on_success(counted, tolerable, event.checkpoint)
            return Step(after, (), steps.rules[-1:])
        assert type(event) is CheckpointFails
        after, too_many = steps.on_failure(counted, profile, tolerable, Failure(*event[:-1]))
        effects: Effects = (FailJob(event.reason),) if too_many else ()
        return Step(in_order(after), effects, ("COORD-15", "COORD-16"))

    return ClosedModel(
        f"failures of {profile.name}, ids to {ids}, {tolerable} tolerated",
        "failures",
        failures.new_failures(),
        (0,) * ids,
        offers,
        allows,
        step,
        toured=False,
    )


def _anything(environment: Environment, event: Event) -> Environment:
    return environment
