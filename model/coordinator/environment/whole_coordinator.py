"""Closed models of the coordinator with the basic events: requests, answers, time and failures."""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment, Portions
from model.coordinator import state as coordinator_state
from model.coordinator.events import (
    AcknowledgeMessage,
    DeclineMessage,
    FailTasks,
    JobStatus,
    RestoreRequest,
    TaskStatus,
    TriggerRequest,
)
from model.coordinator.pending import new_pending
from model.coordinator.state import RUNNING, Coordinator, Plan
from model.events import Advance, Event
from model.history.coordinator import CoordinatorHistory, on_coordinator
from model.steps import step_of
from model.store.store import CHECKPOINT, SAVEPOINT

BY_TASK = ("tasks_run", "tasks_finished", "tasks_reached", "tasks", "acknowledged", "states", "shared")
"""The names of a coordinator's fields with one member for each task."""


def _anything(environment: Environment, event: Event) -> Environment:
    return environment


def closed_coordinator(tasks: int, ids: int, *, max_concurrent: int, retain: int) -> ClosedModel:
    """A job with one source. One event advances time by 1 ms, and a checkpoint expires after 2 ms."""
    plan = Plan((True, *(False,) * (tasks - 1)), timeout=2, max_concurrent=max_concurrent)
    start = coordinator_state.new_coordinator(plan, retain)._replace(
        status=RUNNING, tasks_run=(True,) * tasks, tasks_reached=(True,) * tasks
    )

    def offers(state: Coordinator) -> Iterator[tuple[str, Event]]:
        if state.next_id + len(state.queue) <= ids:
            yield "Trigger", TriggerRequest(CHECKPOINT)
            yield "Trigger", TriggerRequest(SAVEPOINT)
        for checkpoint in range(1, state.next_id):
            for task in range(tasks + 1):
                yield "Acknowledge", AcknowledgeMessage(task, checkpoint, 1)
            yield "Decline", DeclineMessage(0, checkpoint, "ASYNC_EXCEPTION")
        if state.now < 2:
            yield "Advance", Advance(1)
        if state.status == RUNNING:
            yield "FailTasks", FailTasks((True, *(False,) * (tasks - 1)))
        else:
            yield "Restore", RestoreRequest()
            yield "TaskStatus", TaskStatus(0, RUNNING)
            yield "JobStatus", JobStatus(RUNNING)

    return ClosedModel(
        f"coordinator of {tasks} tasks, ids to {ids}, {max_concurrent} at once, retaining {retain}",
        "coordinator",
        start,
        (),
        offers,
        _anything,
        step_of("coordinator"),
        portions=Portions(
            (offers,),
            BY_TASK,
            {"pending": new_pending(1, CHECKPOINT, 2, plan.sources, forced=False, coordinators=0, hooks=0)},
        ),
    )


def closed_coordinator_history(tasks: int, ids: int) -> ClosedModel:
    """The coordinator of `closed_coordinator` with a history of its messages."""
    inner = closed_coordinator(tasks, ids, max_concurrent=2, retain=1)
    return inner._replace(
        name=f"{inner.name}, with its history",
        component="coordinator_history",
        state=CoordinatorHistory(inner.state, (), ()),
        offers=lambda history: inner.offers(history.coordinator),
        step=on_coordinator,
        toured=False,
        portions=None,
    )
