"""The coordinator on the wire: tasks, masters, types and state handles by their names.

The model identifies tasks and handles by numbers. A sender outside the plan, or of an ended execution
attempt, has a position beyond the plan.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from model import fields
from model.coordinator import coordinator, recovery, scheduler, trigger
from model.coordinator import state as coordinator_state
from model.coordinator.events import AFTER, BEFORE, MAYBE
from model.coordinator.state import Coordinator
from model.coordinator.wire.config import new_plan, retained
from model.events import NONE, Effect, Fail, Step
from model.fields import Wire, WireError
from model.store.wire import TYPES

_FAULTS = {"before": BEFORE, "after": AFTER, "maybe": MAYBE}


class CoordinatorSession(NamedTuple):
    """A coordinator, the names of its tasks and masters, and the handles behind the model's numbers."""

    coordinator: Coordinator
    tasks: tuple[str, ...]
    coordinators: tuple[str, ...]
    hooks: tuple[str, ...]
    attempts: tuple[int, ...]
    """By task: number of its restarts."""
    strangers: tuple[tuple[str, int], ...]
    """Senders outside the plan, by name and attempt; their positions are beyond it."""
    handles: tuple[str, ...]
    """Handle k of the wire is number k + 1 in the model."""


def new_coordinator(config: Wire) -> CoordinatorSession:
    """A coordinator of a configuration as in docs/adapter-protocol.md.

    Raises WireError if it is not valid.
    """
    planned = new_plan(config)
    return CoordinatorSession(
        coordinator_state.new_coordinator(planned.plan, retained(config)),
        planned.tasks,
        planned.coordinators,
        planned.hooks,
        (0,) * len(planned.tasks),
        (),
        (),
    )


def step_coordinator(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    """The step of one request, message, status or passage of time. Raises WireError if it is not legal."""
    kind = fields.kind_of(event, tuple(_COORDINATOR))
    fields.only(event, ("kind", *_FIELDS[kind]), kind)
    return _COORDINATOR[kind](session, event)


def _stepped(session: CoordinatorSession, step: Step[Coordinator]) -> Step[CoordinatorSession]:
    return Step(session._replace(coordinator=step.state), step.effects, step.rules)


# ---------------------------------------------------------------- requests and messages


def _trigger(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    kind = TYPES.index(fields.choice(event, "type", TYPES, default="checkpoint"))
    forced = fields.boolean(event, "forced", default=False)
    periodic = fields.boolean(event, "periodic", default=False)
    if fields.boolean(event, "drain", default=False) and TYPES[kind] != "stop":
        return Step(session, (Fail("IllegalArgumentException"),), ())
    return _stepped(session, coordinator.on_trigger(session.coordinator, kind, forced, periodic))


def _trigger_fails(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    task, checkpoint = _known(session, fields.text(event, "task")), fields.checkpoint(event)
    return _stepped(session, scheduler.on_trigger_fails(session.coordinator, task, checkpoint))


def _acknowledge(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    session, task = _sender(session, event)
    handle = 0
    if event.get("state") is not None:
        session, handle = _numbered(session, fields.text(event, "state"))
    shared: tuple[int, ...] = ()
    for name in fields.texts(event, "shared"):
        session, number = _numbered(session, name)
        shared = (*shared, number)
    checkpoint = fields.checkpoint(event)
    return _stepped(
        session, coordinator.on_acknowledge(session.coordinator, task, checkpoint, handle, shared)
    )


def _decline(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    session, task = _sender(session, event)
    checkpoint, reason = fields.checkpoint(event), fields.text(event, "reason")
    return _stepped(session, coordinator.on_decline(session.coordinator, task, checkpoint, reason))


def _master(answers_for_hook: bool, fails: bool) -> "Handler":
    def answer(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
        name, checkpoint = fields.text(event, "name"), fields.checkpoint(event)
        names = session.hooks if answers_for_hook else session.coordinators
        if name not in names:
            raise WireError(f"name: expected one of {', '.join(names) or 'none at all'}, got {name!r}")
        place = names.index(name)
        return _stepped(
            session,
            trigger.on_master_answer(session.coordinator, place, checkpoint, answers_for_hook, fails),
        )

    return answer


# ---------------------------------------------------------------- time and statuses


def _advance(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    ms = fields.integer(event, "ms", at_least=0)
    return _stepped(session, scheduler.on_advance(session.coordinator, ms))


def _job_status(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    return _stepped(session, coordinator.on_job_status(session.coordinator, fields.text(event, "status")))


def _task_status(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    task = _known(session, fields.text(event, "task"))
    return _stepped(
        session, coordinator.on_task_status(session.coordinator, task, fields.text(event, "status"))
    )


def _fail_tasks(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    flags = _flags(session, fields.field(event, "tasks"))
    return _stepped(session, coordinator.on_fail_tasks(session.coordinator, flags))


# ---------------------------------------------------------------- restarts


def _restore(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    region = fields.choice(event, "scope", ("all", "region"), default="all") == "region"
    if not region and session.coordinator.open and session.coordinator.status == coordinator_state.RUNNING:
        raise WireError("a running job restores nothing; fail its tasks first")
    every_task = (True,) * len(session.tasks)
    restarted = _flags(session, fields.field(event, "tasks")) if region else every_task
    step = _stepped(session, recovery.on_restore(session.coordinator, restarted))
    if not session.coordinator.open:
        return step
    return step._replace(state=_restarted(step.state, restarted))


def _coordinator_restart(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    step = _stepped(session, recovery.on_coordinator_restart(session.coordinator))
    return step._replace(state=_restarted(step.state, (True,) * len(session.tasks)))


def _restarted(session: CoordinatorSession, tasks: tuple[bool, ...]) -> CoordinatorSession:
    return session._replace(
        attempts=tuple(attempt + restarts for attempt, restarts in zip(session.attempts, tasks, strict=True))
    )


def _store_fails(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    when = _FAULTS[fields.choice(event, "when", tuple(_FAULTS))]
    return _stepped(session, recovery.on_store_fails(session.coordinator, when))


def _shutdown(session: CoordinatorSession, event: Wire) -> Step[CoordinatorSession]:
    ends = ("FINISHED", "CANCELED", "FAILED", "SUSPENDED")
    status = fields.choice(event, "status", ends, default="FINISHED")
    return _stepped(session, recovery.on_job_end(session.coordinator, status))


Handler = Callable[[CoordinatorSession, Wire], Step[CoordinatorSession]]

_COORDINATOR: Mapping[str, Handler] = {
    "trigger": _trigger,
    "trigger_fails": _trigger_fails,
    "acknowledge": _acknowledge,
    "decline": _decline,
    "coordinator_done": _master(answers_for_hook=False, fails=False),
    "coordinator_fails": _master(answers_for_hook=False, fails=True),
    "hook_done": _master(answers_for_hook=True, fails=False),
    "hook_fails": _master(answers_for_hook=True, fails=True),
    "advance": _advance,
    "job_status": _job_status,
    "task_status": _task_status,
    "fail_tasks": _fail_tasks,
    "restore": _restore,
    "store_fails": _store_fails,
    "coordinator_restart": _coordinator_restart,
    "shutdown": _shutdown,
}

_MASTER_FIELDS = ("name", "checkpoint")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "trigger": ("type", "forced", "periodic", "drain"),
    "trigger_fails": ("task", "checkpoint"),
    "acknowledge": ("task", "checkpoint", "attempt", "state", "shared"),
    "decline": ("task", "checkpoint", "reason", "attempt"),
    "coordinator_done": _MASTER_FIELDS,
    "coordinator_fails": _MASTER_FIELDS,
    "hook_done": _MASTER_FIELDS,
    "hook_fails": _MASTER_FIELDS,
    "advance": ("ms",),
    "job_status": ("status",),
    "task_status": ("task", "status"),
    "fail_tasks": ("tasks",),
    "restore": ("scope", "tasks"),
    "store_fails": ("when",),
    "coordinator_restart": (),
    "shutdown": ("status",),
}


# ---------------------------------------------------------------- names and numbers


def _sender(session: CoordinatorSession, event: Wire) -> tuple[CoordinatorSession, int]:
    """The position of the sending task; beyond the plan for an unknown one or one of another attempt."""
    name = fields.text(event, "task")
    current = session.attempts[session.tasks.index(name)] if name in session.tasks else 0
    attempt = fields.integer(event, "attempt", at_least=0, default=current)
    if name in session.tasks and attempt == current:
        return session, session.tasks.index(name)
    stranger = (name, attempt)
    if stranger not in session.strangers:
        session = session._replace(strangers=(*session.strangers, stranger))
    return session, len(session.tasks) + session.strangers.index(stranger)


def _numbered(session: CoordinatorSession, handle: str) -> tuple[CoordinatorSession, int]:
    """The number of a handle; equal names are the same file."""
    if handle not in session.handles:
        session = session._replace(handles=(*session.handles, handle))
    return session, session.handles.index(handle) + 1


def _known(session: CoordinatorSession, name: object) -> int:
    if name not in session.tasks:
        raise WireError(f"task {name!r} is not of this job; it has {', '.join(session.tasks)}")
    return session.tasks.index(str(name))


def _flags(session: CoordinatorSession, names: object) -> tuple[bool, ...]:
    if not isinstance(names, list):
        raise WireError(f"tasks: expected a list of task ids, got {names!r}")
    named = {_known(session, name) for name in names}
    return tuple(position in named for position in range(len(session.tasks)))


def effect_of_coordinator(session: CoordinatorSession, effect: Effect) -> dict[str, object]:
    """The effect in wire form: tasks and masters by their names, states by handles, types by name."""
    wire = fields.to_wire(effect)
    kind = wire["kind"]
    if "type" in wire:
        wire["type"] = TYPES[int(str(wire["type"]))]
    if "task" in wire:
        wire["task"] = (*session.tasks, *(name for name, _ in session.strangers))[int(str(wire["task"]))]
    if kind == "discard_state":
        return {"kind": "discard", "state": session.handles[int(str(wire["handle"])) - 1]}
    if kind == "discard_checkpoint":
        wire["kind"] = "discard"
    if kind in ("ask_master", "tell_master"):
        return _master_on_wire(session, wire)
    if kind == "restored" and wire["checkpoint"] == NONE:
        wire["checkpoint"] = None
    return wire


def _master_on_wire(session: CoordinatorSession, wire: dict[str, object]) -> dict[str, object]:
    place, checkpoint = int(str(wire["place"])), wire["checkpoint"]
    if wire["kind"] == "tell_master":
        what = "complete" if wire["completes"] else "abort"
        name = session.coordinators[place]
        return {"kind": "notify_coordinator", "name": name, "checkpoint": checkpoint, "what": what}
    if wire["is_hook"]:
        return {"kind": "trigger_hook", "name": session.hooks[place], "checkpoint": checkpoint}
    return {"kind": "checkpoint_coordinator", "name": session.coordinators[place], "checkpoint": checkpoint}


def observe_coordinator(session: CoordinatorSession) -> dict[str, object]:
    """The observable state: `status`, `pending`, `completed`, `next_id`, `queued`."""
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
        "queued": [TYPES[request.type] for request in state.queue],
    }
