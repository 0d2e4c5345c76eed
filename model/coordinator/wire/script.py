"""Runs of the coordinator's closed models in wire form: configuration, opening, events."""

from typing import Any

from model.coordinator.events import (
    AFTER,
    BEFORE,
    MAYBE,
    AcknowledgeMessage,
    CoordinatorRestart,
    FailTasks,
    JobEnd,
    MasterAnswer,
    RestoreRequest,
    StoreFails,
    TriggerRequest,
)
from model.coordinator.state import RUNNING, Coordinator
from model.events import Event
from model.store.wire import TYPES

WireObject = dict[str, Any]

_FAULTS = {BEFORE: "before", AFTER: "after", MAYBE: "maybe"}


def task_name(task: int) -> str:
    """The name of a task on the wire, from its position."""
    return f"task-{task}"


def coordinator_config(state: Coordinator) -> WireObject:
    """The configuration of this plan."""
    plan = state.plan
    profile = plan.profile
    config: WireObject = {
        "tasks": [{"id": task_name(task), "source": source} for task, source in enumerate(plan.sources)],
        "profile": profile.name,
        "timeout_ms": plan.timeout,
        "max_concurrent": plan.max_concurrent,
        "retain": state.store.retain,
        "min_pause_ms": plan.min_pause,
        "tolerable_failures": plan.tolerable_failures,
        "unaligned": plan.unaligned,
        "finished_tasks": plan.finished_tasks,
        "externalized": "retain" if plan.retains_on_cancellation else "delete",
        "operator_coordinators": [f"coordinator-{place}" for place in range(plan.coordinators)],
        "hooks": [f"hook-{place}" for place in range(plan.hooks)],
    }
    if plan.interval:
        config |= {"interval_ms": plan.interval, "initial_delay_ms": plan.initial_delay}
    return config


def coordinator_opening(state: Coordinator) -> tuple[WireObject, ...]:
    """The first events: tasks and job begin to run."""
    names = [task_name(task) for task in range(len(state.plan.sources))]
    running = [{"kind": "task_status", "task": name, "status": RUNNING} for name in names]
    return (*running, {"kind": "job_status", "status": RUNNING})


def coordinator_event(event: Event, handle: str, tasks: int) -> WireObject | None:
    """One event of a job of `tasks` tasks; None if its fields are the same on the wire."""
    if type(event) is TriggerRequest:
        flags = {"forced": event.forced, "periodic": event.periodic}
        raised = {name: True for name, is_set in flags.items() if is_set}
        return {"kind": "trigger", "type": TYPES[event.type], **raised}
    if type(event) is FailTasks:
        failed = [task_name(task) for task, fails in enumerate(event.failed) if fails]
        return {"kind": "fail_tasks", "tasks": failed}
    if type(event) is RestoreRequest:
        every_task = [task_name(task) for task in range(tasks)]
        return (
            {"kind": "restore", "scope": "region", "tasks": every_task}
            if event.region
            else {"kind": "restore"}
        )
    if type(event) is AcknowledgeMessage:
        return _acknowledgement(event, handle)
    if type(event) is StoreFails:
        return {"kind": "store_fails", "when": _FAULTS[event.when]}
    if type(event) is JobEnd:
        return {"kind": "shutdown", "status": event.status}
    if type(event) is CoordinatorRestart:
        return {"kind": "coordinator_restart"}
    if type(event) is MasterAnswer:
        who, does = ("hook" if event.is_hook else "coordinator"), ("fails" if event.fails else "done")
        return {"kind": f"{who}_{does}", "name": f"{who}-{event.place}", "checkpoint": event.checkpoint}
    return None


def _acknowledgement(event: AcknowledgeMessage, handle: str) -> WireObject:
    wire: WireObject = {"kind": "acknowledge", "task": task_name(event.task), "checkpoint": event.checkpoint}
    if event.handle:
        wire["state"] = handle
    if event.shared:
        wire["shared"] = [f"file-{file}" for file in event.shared]
    return wire
