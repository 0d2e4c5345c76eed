"""Random events of components, and the comparison of remembered steps with those of the model."""

import re
from random import Random

from conformance.observe.lines.line import Line
from conformance.observe.replay import Rejected, Replayed
from model.components import COMPONENTS, WireError
from model.coordinator.pending import Pending
from model.coordinator.shared_state import Registered, Use
from model.coordinator.state import Coordinator
from model.coordinator.wire.coordinator import CoordinatorSession
from model.sink.two_phase_commit import Sink
from model.subtask.subtask import Subtask

TASKS = ["map-0", "map-1", "sink-0"]
LIMITS = {"max_concurrent": 2, "retain": 2, "timeout_ms": 40, "min_pause_ms": 10, "tolerable_failures": 3}
CONFIGS = {
    "gate": {"channels": 3, "level": "handler"},
    "subtask": {"max_concurrent": 2},
    "coordinator": {"tasks": [{"id": task, "source": task != "sink-0"} for task in TASKS], **LIMITS},
    "sink": {},
}
UNKEPT = r", (committed \[[^\]]*\]|highest_aborted -?\d+)"
"""The fields of a shown state that a remembered state has not, or has only if they decide about something."""


def events(component: str, random: Random, checkpoint: int) -> dict[str, object]:
    match component:
        case "gate":
            kind = random.choice(["barrier"] * 6 + ["cancel", "end_of_partition"])
            event = {"kind": kind, "channel": random.randrange(3)}
            return event if kind == "end_of_partition" else {**event, "checkpoint": checkpoint}
        case "subtask":
            kind = random.choice(
                [
                    "checkpoint",
                    "async_done",
                    "complete_notification",
                    "abort_notification",
                    "abort_on_barrier",
                ]
            )
            event = {"kind": kind, "checkpoint": checkpoint}
            if kind == "abort_notification":
                event["completed"] = random.randrange(-1, checkpoint + 1)
            if kind == "abort_on_barrier":
                event["reason"] = "CHECKPOINT_DECLINED"
            return event
        case _:
            kind = random.choice(["snapshot", "snapshot", "notify_complete", "notify_abort"])
            event = {"kind": kind, "checkpoint": checkpoint}
            fails = kind == "notify_complete" and random.random() < 0.1
            return event | ({"fails": random.randrange(1, 4)} if fails else {})


def of_coordinator(random: Random, coordinator: Coordinator) -> dict[str, object]:
    """Random events of a coordinator, most of which lead to completed checkpoints."""
    checkpoint = max(0, coordinator.next_id + random.randrange(-3, 1))
    task = random.choice(TASKS)
    if coordinator.pending and random.random() < 0.7:
        pending = random.choice(coordinator.pending)
        checkpoint = pending.checkpoint
        left = [name for name, came in zip(TASKS, pending.acknowledged, strict=True) if not came]
        task = random.choice(left or TASKS)
    handle = random.choice([f"{task}@{checkpoint}"] * 4 + ["same", "other"])
    acknowledge = {"kind": "acknowledge", "task": task, "checkpoint": checkpoint, "state": handle}
    return random.choice(
        [
            *[{"kind": "trigger", "type": random.choice(["checkpoint", "checkpoint", "savepoint"])}] * 3,
            {"kind": "advance", "ms": random.choice([0, 5, 15])},
            *[acknowledge] * 8,
            {"kind": "acknowledge", "task": task, "checkpoint": checkpoint},
            {"kind": "decline", "task": task, "checkpoint": checkpoint, "reason": "CHECKPOINT_DECLINED"},
            *(
                [
                    {"kind": "fail_tasks", "tasks": [task]},
                    {"kind": "coordinator_restart"},
                    {"kind": "task_status", "task": task, "status": "FINISHED"},
                ]
                if random.random() < 0.1
                else []
            ),
            *([acknowledge | {"shared": [random.choice("fg")]}] * 3 if random.random() < 0.3 else []),
            *([{"kind": "restore"}] if coordinator.status != "RUNNING" else []),
            {"kind": "task_status", "task": random.choice(TASKS), "status": "RUNNING"},
            {"kind": "job_status", "status": "RUNNING"},
        ]
    )


def drawn(model: Replayed, random: Random, step: int, first: int = 1) -> dict[str, object]:
    """A random event for the model in its state; `step`: the steps before it, `first`: the lowest id."""
    if model.component == "coordinator":
        return of_coordinator(random, model.state.coordinator)
    return events(model.component, random, max(0, first + step // 4 + random.randrange(-2, 2)))


def started(component: str, model: Replayed) -> None:
    """Starts the job of a coordinator."""
    if component == "coordinator":
        for task in TASKS:
            play(model, {"kind": "task_status", "task": task, "status": "RUNNING"})
        play(model, {"kind": "job_status", "status": "RUNNING"})


def play(model: Replayed, event: dict[str, object], effects: list[dict[str, object]] | None = None) -> object:
    """Applies an event. Returns the fired rules, or the rejection. Default effects are those of the model."""
    try:
        if effects is None:
            effects = COMPONENTS[model.component].apply(model.state, event)[1]
        return model.step(Line(1, 1, model.component, event, effects, {}))
    except WireError as refused:
        return str(refused)
    except Rejected as rejected:
        return rejected.rules, rejected.why


def comparable(state: object) -> object:
    """The state without fields that affect no decision, and with names of states instead of their numbers.

    A pause that has ended becomes one that ends now.
    """
    match state:
        case Sink():
            return state._replace(snapshots=state.snapshots[-1:], committed=())
        case Subtask() if state.highest_aborted <= state.last:
            return state._replace(highest_aborted=-1)
        case CoordinatorSession():
            inner = state.coordinator
            inner = inner._replace(pause_ends=max(inner.now, inner.pause_ends))
            return state._replace(coordinator=named(inner, state.handles), handles=())
    return state


def named(value: object, handles: tuple[str, ...]) -> object:
    """A part of a coordinator's state, with the names of states and files instead of their numbers."""

    def names(numbers: tuple[int, ...]) -> tuple[str | int, ...]:
        return tuple([number and handles[number - 1] for number in numbers])

    match value:
        case Pending():
            return value._replace(states=names(value.states), shared=tuple(map(names, value.shared)))
        case Use() | Registered():
            return value._replace(handle=handles[value.handle - 1])
        case tuple():
            parts = [named(one, handles) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def plain_words(answer: object) -> object:
    """The rules or the rejection, without fields of the shown state that affect no decision."""
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
        return answer[0], plain_words(answer[1])
    return re.sub(UNKEPT, "", answer) if isinstance(answer, str) else answer


def moved(value: object, by: int) -> object:
    """A wire value whose checkpoint ids are increased by `by`."""
    if isinstance(value, dict):
        return {
            name: one + by
            if name in {"checkpoint", "completed"} and isinstance(one, int) and one >= 0
            else moved(one, by)
            for name, one in value.items()
        }
    return [moved(one, by) for one in value] if isinstance(value, list) else value
