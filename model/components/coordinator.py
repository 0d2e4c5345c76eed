"""The coordinator behind the words of the wire: tasks by name, states by handle."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from model import coordinator
from model.components import words
from model.components.words import Wire, WireError
from model.coordinator import Coordinator, Plan
from model.events import NONE, Effect, Step

QUEUE_LIMIT = 1000
DEFAULT_TIMEOUT_MS = 600_000


class CoordinatorSession(NamedTuple):
    """A coordinator, the names of its tasks, and the handles behind the model's numbers."""

    coordinator: Coordinator
    tasks: tuple[str, ...]
    strangers: tuple[str, ...]
    """Senders outside the plan; the model knows them as positions beyond it."""
    handles: tuple[str, ...]
    """Handle k of the wire is number k + 1 in the model."""


def new_coordinator(config: Wire) -> CoordinatorSession:
    """`tasks`, `profile`, `timeout_ms`, `max_concurrent`, `retain`."""
    words.choice(config, "profile", ("2.3",), default="2.3")
    tasks = words.field(config, "tasks")
    if not isinstance(tasks, list) or not tasks:
        raise WireError(f"tasks: expected a list with at least one task, got {tasks!r}")
    names = tuple(words.text(task, "id") for task in tasks)
    if len(set(names)) != len(names):
        raise WireError(f"tasks: expected different ids, got {names}")
    plan = Plan(
        sources=tuple(words.boolean(task, "source", default=False) for task in tasks),
        timeout=words.integer(config, "timeout_ms", at_least=1, default=DEFAULT_TIMEOUT_MS),
        max_concurrent=words.integer(config, "max_concurrent", at_least=1, default=1),
    )
    retain = words.integer(config, "retain", at_least=1, default=1)
    return CoordinatorSession(coordinator.new_coordinator(plan, retain), names, (), ())


def step_coordinator(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    """One request, message, status or passage of time."""
    kind = words.kind_of(event, tuple(_COORDINATOR))
    return _COORDINATOR[kind](session, event)


def _stepped(session: CoordinatorSession, step: Step[Coordinator]) -> Step[CoordinatorSession]:
    return Step(session._replace(coordinator=step.state), step.effects, step.rules)


def _trigger(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    savepoint = words.choice(event, "type", ("checkpoint", "savepoint"), default="checkpoint") == "savepoint"
    if len(session.coordinator.queue) >= QUEUE_LIMIT:
        raise WireError(f"the queue holds {QUEUE_LIMIT} requests; let one end before the next")
    return _stepped(session, coordinator.on_trigger(session.coordinator, savepoint))


def _acknowledge(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    session, task = _sender(session, event)
    handle = 0
    if event.get("state") is not None:
        session = session._replace(handles=(*session.handles, words.text(event, "state")))
        handle = len(session.handles)
    checkpoint = words.checkpoint(event)
    return _stepped(session, coordinator.on_acknowledge(session.coordinator, task, checkpoint, handle))


def _decline(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    session, task = _sender(session, event)
    checkpoint, reason = words.checkpoint(event), words.text(event, "reason")
    return _stepped(session, coordinator.on_decline(session.coordinator, task, checkpoint, reason))


def _advance(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    ms = words.integer(event, "ms", at_least=0)
    return _stepped(session, coordinator.on_advance(session.coordinator, ms))


def _job_status(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    return _stepped(session, coordinator.on_job_status(session.coordinator, words.text(event, "status")))


def _task_status(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    task = _known(session, words.text(event, "task"))
    return _stepped(
        session, coordinator.on_task_status(session.coordinator, task, words.text(event, "status"))
    )


def _fail_tasks(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    names = words.field(event, "tasks")
    if not isinstance(names, list):
        raise WireError(f"tasks: expected a list of task ids, got {names!r}")
    failed = {_known(session, name) for name in names}
    flags = tuple(position in failed for position in range(len(session.tasks)))
    return _stepped(session, coordinator.on_fail_tasks(session.coordinator, flags))


def _restore(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    if session.coordinator.status == coordinator.RUNNING:
        raise WireError("a running job restores nothing; fail its tasks first")
    return _stepped(session, coordinator.on_restore(session.coordinator))


_COORDINATOR: Mapping[str, Callable[[CoordinatorSession, Wire], Step[CoordinatorSession]]] = {
    "trigger": _trigger,
    "acknowledge": _acknowledge,
    "decline": _decline,
    "advance": _advance,
    "job_status": _job_status,
    "task_status": _task_status,
    "fail_tasks": _fail_tasks,
    "restore": _restore,
}


def _sender(session: CoordinatorSession, event: Wire) -> tuple[CoordinatorSession, int]:
    """The position of the sending task; a stranger gets one beyond the plan."""
    name = words.text(event, "task")
    if name not in (*session.tasks, *session.strangers):
        session = session._replace(strangers=(*session.strangers, name))
    return session, (*session.tasks, *session.strangers).index(name)


def _known(session: CoordinatorSession, name: object) -> int:
    if name not in session.tasks:
        raise WireError(f"task {name!r} is not of this job; it has {', '.join(session.tasks)}")
    return session.tasks.index(str(name))


def effect_of_coordinator(session: CoordinatorSession, effect: Effect) -> dict[str, object]:
    """Tasks by their names, states by their handles, types by their words."""
    wire = words.to_wire(effect)
    kind = wire["kind"]
    if "savepoint" in wire:
        wire["type"] = "savepoint" if wire.pop("savepoint") else "checkpoint"
    if "task" in wire:
        wire["task"] = (*session.tasks, *session.strangers)[int(str(wire["task"]))]
    if kind == "discard_state":
        return {"kind": "discard", "state": session.handles[int(str(wire["handle"])) - 1]}
    if kind == "discard_checkpoint":
        wire["kind"] = "discard"
    if kind == "restored" and wire["checkpoint"] == NONE:
        wire["checkpoint"] = None
    return wire


def observe_coordinator(session: CoordinatorSession) -> dict[str, object]:
    """`status`, `pending`, `completed`, `next_id`, `queued`."""
    state = session.coordinator
    return {
        "status": state.status,
        "pending": {
            str(pending.checkpoint): [
                name for name, done in zip(session.tasks, pending.acknowledged, strict=True) if not done
            ]
            for pending in state.pending
        },
        "completed": [entry.checkpoint for entry in state.store.entries],
        "next_id": state.next_id,
        "queued": ["savepoint" if savepoint else "checkpoint" for savepoint in state.queue],
    }
