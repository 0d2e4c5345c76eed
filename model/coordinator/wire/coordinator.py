"""The coordinator in the adapter protocol, where tasks, masters, types and state handles have names.

The model identifies tasks and handles by numbers. A sender that is not in the plan, or whose execution
attempt has ended, gets a number above those of the plan's tasks.
"""

from typing import Any, NamedTuple

from model.component import Component, WireObject
from model.coordinator import state as coordinator_state
from model.coordinator.events import (
    AcknowledgeMessage,
    FailTasks,
    NotifyMaster,
    RestoreRequest,
    TriggerRequest,
)
from model.coordinator.generations import coordinator_steps
from model.coordinator.profiles import profile_of
from model.coordinator.shared_state import DiscardState
from model.coordinator.state import CLAIM, LEGACY, NO_CLAIM, RUNNING, Coordinator, Plan
from model.coordinator.trigger import MasterAnswer, TriggerMaster
from model.events import NONE, Effect, Event, Fail, Step
from model.fields import Wire, WireError, Words, different
from model.steps import HANDLERS, step_of
from model.store.store import STOP
from model.store.wire import TYPES

INJECTED = "injected"
"""The value of the option `io_failures` that permits the event `io_fails`."""
CLAIM_MODES = {"LEGACY": LEGACY, "CLAIM": CLAIM, "NO_CLAIM": NO_CLAIM}
SLOW = "slow"
"""The value of the option `cleaning` with which a deletion lasts until the event `deleted`."""
WORDS = Words("coordinator", HANDLERS["coordinator"])
_STEP = step_of("coordinator")


class CoordinatorSession(NamedTuple):
    """A coordinator, the names of its tasks and masters, and the handles in the order of their numbers."""

    coordinator: Coordinator
    tasks: tuple[str, ...]
    coordinators: tuple[str, ...]
    hooks: tuple[str, ...]
    attempts: tuple[int, ...]
    """By task: number of restarts."""
    strangers: tuple[tuple[str, int], ...]
    """The unknown senders, by name and attempt. Their numbers follow those of the plan's tasks."""
    handles: tuple[str, ...]
    """The handles of the wire. The handle at position k has the number k + 1 in the model."""


# ---------------------------------------------------------------- configuration


def new_coordinator(config: Wire) -> CoordinatorSession:
    """A coordinator with a configuration as in docs/adapter-protocol.md.

    Raises WireError if the configuration is not valid.
    """
    given = WORDS.config(config)
    names = different(tuple(task["id"] for task in given["tasks"]), "tasks")
    coordinators = different(given["operator_coordinators"], "operator_coordinators")
    hooks = different(given["hooks"], "hooks")
    plan = _plan(given)
    if (coordinators or hooks) and not plan.profile.queues_requests:
        raise WireError(
            f"profile {plan.profile.name} has neither operator coordinators nor hooks; leave them out"
        )
    made = coordinator_state.new_coordinator(plan, given["retain"])
    made = made._replace(next_id=made.next_id + given["first_id"] - 1)
    return CoordinatorSession(made, names, coordinators, hooks, (0,) * len(names), (), ())


def _plan(given: Wire) -> Plan:
    """The plan of a configuration. Raises WireError if the options contradict each other.

    A task with an `external` source is triggered like any other source (COORD-04).
    """
    profile = profile_of(given["profile"])
    if given["unaligned"] and given["max_concurrent"] > 1:
        raise WireError(
            "max_concurrent: only one unaligned checkpoint may be pending, expected 1, got "
            f"{given['max_concurrent']}"
        )
    after_finish = given["finished_tasks"]
    if after_finish and not profile.after_finish_configurable:
        raise WireError(f"finished_tasks: profile {profile.name} has no checkpoints after tasks finish")
    if given["cleaning"] == SLOW and not profile.limits_deletions:
        raise WireError(f"cleaning: profile {profile.name} has no limit of deletions, expected immediate")
    savepoint = None if given["restored_savepoint"] == NONE else given["restored_savepoint"]
    claim_mode = given["claim_mode"]
    if savepoint is not None and not profile.restores_savepoints:
        raise WireError(
            f"restored_savepoint: profile {profile.name} does not have it; use a profile from 1.13 on"
        )
    if savepoint is not None and given["first_id"] != 1:
        raise WireError("first_id: restored_savepoint determines the first id; leave one of them out")
    if savepoint is not None and given["cleaning"] == SLOW:
        raise WireError(
            "cleaning: slow is not possible together with restored_savepoint; leave one of them out"
        )
    if claim_mode is not None and (savepoint is None or not profile.has_claim_modes):
        raise WireError("claim_mode: needs restored_savepoint and a profile from 1.15 on; leave it out")
    if savepoint is not None and claim_mode is None:
        claim_mode = "NO_CLAIM" if profile.has_claim_modes else "LEGACY"
    interval = max(given["interval_ms"], given["min_pause_ms"]) if given["interval_ms"] != NONE else 0
    return Plan(
        sources=tuple(task["source"] for task in given["tasks"]),
        timeout=given["timeout_ms"],
        max_concurrent=given["max_concurrent"],
        profile=profile,
        interval=interval,
        initial_delay=interval if given["initial_delay_ms"] == NONE else given["initial_delay_ms"],
        min_pause=given["min_pause_ms"],
        tolerable_failures=given["tolerable_failures"],
        unaligned=given["unaligned"],
        finished_tasks=profile.after_finish_by_default if after_finish is None else after_finish,
        retains_on_cancellation=given["externalized"] == "retain",
        coordinators=len(given["operator_coordinators"]),
        hooks=len(given["hooks"]),
        slow_cleaning=given["cleaning"] == SLOW,
        io_failures=given["io_failures"] == INJECTED,
        savepoint=() if savepoint is None else (savepoint,),
        claim_mode=CLAIM_MODES[claim_mode or "LEGACY"],
    )


# ---------------------------------------------------------------- steps


def step_coordinator(session: CoordinatorSession, wire: Wire) -> Step[CoordinatorSession]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    kind, given = WORDS.event(wire)
    state = session.coordinator
    restarted = (kind == "coordinator_restart",) * len(session.tasks)
    if kind == "trigger" and given["drain"] and given["type"] != STOP:
        return Step(session, (Fail("IllegalArgumentException"),), ())
    if kind == "deleted" and not state.plan.slow_cleaning:
        raise WireError("deleted: this event needs the option cleaning = slow; leave it out")
    if kind == "io_fails" and not state.plan.io_failures:
        raise WireError("io_fails: this event needs the option io_failures = injected; leave it out")
    if kind == "restore":
        region = given["scope"] == "region"
        if not region and state.open and state.status == RUNNING:
            raise WireError("restore: the job is running; send fail_tasks first")
        named = _flags(session, given["tasks"] or ())
        if region and not any(named):
            raise WireError("tasks: expected the tasks of a region, got none; name at least one")
        restarted = named if region else (True,) * len(session.tasks)
        step = coordinator_steps(state).on_restore(state, restarted)
        restarted = restarted if state.open else (False,) * len(session.tasks)
    else:
        session, event = _event(session, kind, given)
        step = _STEP(state, event)
    attempts = tuple(one + again for one, again in zip(session.attempts, restarted, strict=True))
    after = session._replace(coordinator=step.state, attempts=attempts)
    return Step(after, step.effects, step.rules)


def _event(session: CoordinatorSession, kind: str, given: dict[str, Any]) -> tuple[CoordinatorSession, Event]:
    """The session with numbers for new names, and the model's event with numbers in place of names."""
    if kind in ("acknowledge", "decline"):
        session, given["task"] = _sender(session, given["task"], given["attempt"])
    elif kind in ("task_status", "trigger_fails"):
        given["task"] = _known(session, given["task"])
    if kind == "acknowledge":
        brought = () if given["state"] is None else (given["state"],)
        session, numbers = _numbered(session, (*brought, *given["shared"]))
        given |= {"handle": numbers[0] if brought else 0, "shared": numbers[len(brought) :]}
    if kind == "fail_tasks":
        return session, FailTasks(_flags(session, given["tasks"]))
    if "name" in given:
        who, _, does = kind.partition("_")
        names = session.hooks if who == "hook" else session.coordinators
        if given["name"] not in names:
            known = ", ".join(names) or "no name"
            raise WireError(f"name: expected one of {known}, got {given['name']!r}")
        place = names.index(given["name"])
        return session, MasterAnswer(place, given["checkpoint"], who == "hook", does == "fails")
    return session, WORDS.record(kind, given)


def _sender(session: CoordinatorSession, name: str, attempt: int) -> tuple[CoordinatorSession, int]:
    """The session, and the number of the sending task. An unknown task or attempt gets a new number."""
    current = session.attempts[session.tasks.index(name)] if name in session.tasks else 0
    attempt = current if attempt == NONE else attempt
    if name in session.tasks and attempt == current:
        return session, session.tasks.index(name)
    stranger = (name, attempt)
    if stranger not in session.strangers:
        session = session._replace(strangers=(*session.strangers, stranger))
    return session, len(session.tasks) + session.strangers.index(stranger)


def _numbered(
    session: CoordinatorSession, handles: tuple[str, ...]
) -> tuple[CoordinatorSession, tuple[int, ...]]:
    """The session with numbers for new handles, and the numbers. Equal handles have equal numbers."""
    known = tuple(dict.fromkeys((*session.handles, *handles)))
    return session._replace(handles=known), tuple(known.index(handle) + 1 for handle in handles)


def _known(session: CoordinatorSession, name: str) -> int:
    if name not in session.tasks:
        raise WireError(f"task: expected one of {', '.join(session.tasks)}, got {name!r}")
    return session.tasks.index(name)


def _flags(session: CoordinatorSession, names: tuple[str, ...] | None) -> tuple[bool, ...]:
    if names is None:
        raise WireError("tasks: expected a list of task ids, got none")
    named = {_known(session, name) for name in names}
    return tuple(position in named for position in range(len(session.tasks)))


# ---------------------------------------------------------------- effects and what is observed


def names_of_effect(session: CoordinatorSession, effect: Effect, wire: WireObject) -> WireObject:
    """The effect in wire form: tasks and masters by their names, states by handles."""
    if isinstance(effect, DiscardState):
        return {"kind": "discard", "state": session.handles[effect.handle - 1]}
    if isinstance(effect, NotifyMaster):
        what = "complete" if effect.completes else "abort"
        name = session.coordinators[effect.place]
        return {"kind": "notify_coordinator", "name": name, "checkpoint": effect.checkpoint, "what": what}
    if isinstance(effect, TriggerMaster):
        names = session.hooks if effect.is_hook else session.coordinators
        kind = "trigger_hook" if effect.is_hook else "checkpoint_coordinator"
        return {"kind": kind, "name": names[effect.place], "checkpoint": effect.checkpoint}
    if "task" in wire:
        return wire | {"task": (*session.tasks, *(name for name, _ in session.strangers))[wire["task"]]}
    return wire


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


# ---------------------------------------------------------------- closed models


def task_name(task: int) -> str:
    """The name of a task on the wire, from its position."""
    return f"task-{task}"


def config_of_coordinator(state: Coordinator) -> WireObject:
    """The configuration of a closed model's plan."""
    plan = state.plan
    config: WireObject = {
        "tasks": [{"id": task_name(task), "source": source} for task, source in enumerate(plan.sources)],
        "profile": plan.profile.name,
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
    if plan.slow_cleaning:
        config["cleaning"] = SLOW
    if plan.io_failures:
        config["io_failures"] = INJECTED
    if plan.savepoint:
        config["restored_savepoint"] = plan.savepoint[0]
        if plan.profile.has_claim_modes:
            config["claim_mode"] = next(word for word, mode in CLAIM_MODES.items() if mode == plan.claim_mode)
    if plan.interval:
        config |= {"interval_ms": plan.interval, "initial_delay_ms": plan.initial_delay}
    return config


def opening_of_coordinator(state: Coordinator) -> tuple[WireObject, ...]:
    """The events that lead to the initial state: the tasks and the job begin to run."""
    names = map(task_name, range(len(state.plan.sources)))
    running = [{"kind": "task_status", "task": name, "status": RUNNING} for name in names]
    return (*running, {"kind": "job_status", "status": RUNNING})


def script_of_coordinator(event: Event, wire: WireObject, handle: str, tasks: int) -> WireObject:
    """The wire object of an event of a closed model with `tasks` tasks. `handle`: the name of a state."""
    if isinstance(event, TriggerRequest):
        return {name: value for name, value in wire.items() if value is not False}
    if isinstance(event, FailTasks):
        return {**wire, "tasks": [task_name(task) for task, fails in enumerate(event.failed) if fails]}
    if isinstance(event, RestoreRequest):
        every_task = [task_name(task) for task in range(tasks)]
        return {"kind": "restore", **({"scope": "region", "tasks": every_task} if event.tasks else {})}
    if isinstance(event, MasterAnswer):
        who, does = ("hook" if event.is_hook else "coordinator"), ("fails" if event.fails else "done")
        return {"kind": f"{who}_{does}", "name": f"{who}-{event.place}", "checkpoint": event.checkpoint}
    if isinstance(event, AcknowledgeMessage):
        wire = {name: value for name, value in wire.items() if name not in ("state", "shared")}
        wire |= {"state": handle} if event.handle else {}
        wire |= {"shared": [f"file-{file}" for file in event.shared]} if event.shared else {}
    return wire | {"task": task_name(wire["task"])} if "task" in wire else wire


COMPONENT = Component(
    "coordinator",
    WORDS,
    new_coordinator,
    step_coordinator,
    observe_coordinator,
    config_of_coordinator,
    names=names_of_effect,
    opening=opening_of_coordinator,
    script=script_of_coordinator,
)
