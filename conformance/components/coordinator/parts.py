"""The projections of the coordinator's parts: Scheduler.tla, TriggerModel.tla and JobLifecycleModel.tla."""

from collections.abc import Mapping
from typing import Any

from conformance.compare.projection import Given, Node, Projection, Words
from conformance.vectors.tla.text import Word, plain
from model.coordinator.environment.coordinator_parts import (
    LONG,
    CheckpointExpires,
    RequestDue,
    closed_job,
    closed_master_phase,
    closed_scheduler,
)
from model.coordinator.events import (
    Acknowledged,
    AcknowledgeMessage,
    DeclineMessage,
    DiscardCheckpoint,
    FailJob,
    JobEnd,
    NotifyAbort,
    NotifyComplete,
    NotifyMaster,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.pending import Pending, new_pending
from model.coordinator.trigger import MasterAnswer, TriggerMaster
from model.coordinator.wire.coordinator import WORDS
from model.events import NONE, Effect, Event
from model.store.store import CHECKPOINT, Entry
from model.store.wire import TYPES
from spec.values import State

OUTSIDE = (Acknowledged, NotifyAbort, NotifyComplete, NotifyMaster)
"""Effects that the TLA+ modules of the parts leave out. CoordinatorModel.tla has those that go to tasks."""


def _effect(effect: Effect) -> Word:
    return plain("coordinator", WORDS.write_effect(effect))


# ---------------------------------------------------------------- the scheduler


def project_scheduler(given: Given) -> Projection:
    """Pairs Scheduler.tla with the closed model of the scheduler."""
    delay, min_pause = given.number("InitialDelay"), given.number("MinPause")
    closed = closed_scheduler(given.number("Interval"), delay, min_pause)

    def node(state: State) -> Node:
        there = state["scheduler"]
        scheduler = closed.state.scheduler._replace(
            runs=there["runs"],
            due=there["left"] if there["runs"] else NONE,
            delay=min_pause if there["again"] else delay,
        )
        return closed.state._replace(scheduler=scheduler, pause_ends=there["pause"]), (), state["out"]

    def words(event: Event, effects: tuple[Effect, ...]) -> Words:
        made = ((one.kind,) if isinstance(one, RequestDue) else _effect(one) for one in effects)
        return ((event[-1],), *made)

    return Projection(closed, node, words)


# ---------------------------------------------------------------- the master phase


def project_master_phase(given: Given) -> Projection:
    """Pairs TriggerModel.tla with the closed model of the master phase.

    TLA+ has one effect for the triggers of all masters of one kind.
    """
    masters = len(given.sets["Coordinators"]), len(given.sets["Hooks"])
    closed = closed_master_phase(*masters, given.number("M"), given.coordinators)
    waiting = closed.step(closed.state._replace(master=0), TriggerRequest(CHECKPOINT, False, False)).state

    def begun(there: Mapping[str, Any]) -> Pending:
        answered = [
            tuple(place + 1 in there[kind] for place in range(many))
            for kind, many in zip(("coordinators", "hooks"), masters, strict=True)
        ]
        return new_pending(
            there["id"], CHECKPOINT, LONG, (True,), forced=False, coordinators=0, hooks=0
        )._replace(acknowledged=(there["acknowledged"],), coordinators=answered[0], hooks=answered[1])

    def node(state: State) -> Node:
        phase = state["phase"]
        pending, outlived = tuple(map(begun, phase["pending"])), tuple(map(begun, phase["outlived"]))
        busy = [one for one in (*pending, *outlived) if not all((*one.coordinators, *one.hooks))]
        there = closed.state._replace(
            next_id=phase["next"],
            queue=waiting.queue * phase["waiting"],
            pending=pending,
            outlived=outlived,
            master=busy[0].checkpoint if busy else NONE,
        )
        return there, (), state["out"]

    def words(event: Event, effects: tuple[Effect, ...]) -> Words:
        return (_of_trigger(event), *_collected(masters, event, effects))

    return Projection(closed, node, words)


def _of_trigger(event: Event) -> Word:
    match event:
        case TriggerRequest():
            return ("request", 0)
        case MasterAnswer(place, checkpoint, is_hook, fails):
            return ("give_up", checkpoint) if fails else ("answer", checkpoint, is_hook, place + 1)
        case TriggerFails(_, checkpoint):
            return ("lost_trigger", checkpoint)
        case AcknowledgeMessage(_, checkpoint):
            return ("acknowledge", checkpoint)
        case CheckpointExpires(checkpoint):
            return ("expiry", checkpoint)
    raise AssertionError(event)


def _collected(masters: tuple[int, int], event: Event, effects: tuple[Effect, ...]) -> Words:
    """The effects in the form of the TLA+ module. A failure that counts fails the job: none is tolerated."""
    found: list[Word] = []
    left = [one for one in effects if type(one) not in (*OUTSIDE, DiscardCheckpoint)]
    while left:
        first = left[0]
        many = 1
        if isinstance(first, TriggerMaster):
            many = masters[first.is_hook]
            every = [TriggerMaster(place, first.checkpoint, first.is_hook) for place in range(many)]
            if left[:many] != every:
                return (("incomplete", *left),)
            found.append(("trigger_hooks" if first.is_hook else "trigger_coordinators", first.checkpoint))
        elif isinstance(first, TriggerTask):
            found.append(("trigger", first.checkpoint))
        elif isinstance(first, FailJob) and isinstance(event, CheckpointExpires):
            found.append(("counted", event.checkpoint))
        else:
            found.append(_effect(first))
        left = left[many:]
    return tuple(found)


# ---------------------------------------------------------------- the life of the job


def project_job(given: Given) -> Projection:
    """Pairs JobLifecycleModel.tla with the closed model of the job."""
    tasks = range(len(given.sets["Tasks"]))
    closed = closed_job(len(tasks), given.number("M"), retains=given.flag("Retains"))

    def pending(there: Mapping[str, Any]) -> Pending:
        begun = new_pending(
            there["id"],
            TYPES.index(there["type"]),
            LONG,
            tuple(task in there["tasks"] for task in tasks),
            forced=False,
            coordinators=0,
            hooks=0,
        )
        return begun._replace(acknowledged=tuple(task not in there["missing"] for task in tasks))

    def node(state: State) -> Node:
        job = state["job"]
        up = tuple(task in job["up"] for task in tasks)
        there = closed.state._replace(
            open=job["open"],
            tasks_run=up,
            tasks_finished=tuple(not runs for runs in up),
            next_id=job["next"],
            pending=tuple(map(pending, job["pending"])),
            store=closed.state.store._replace(entries=tuple(Entry(n, CHECKPOINT) for n in job["store"])),
        )
        return there, (), state["out"]

    def words(event: Event, effects: tuple[Effect, ...]) -> Words:
        known = (one for one in effects if type(one) not in OUTSIDE)
        return (
            _of_job(event),
            *(_effect(one)[:3] if type(one) is TriggerTask else _effect(one) for one in known),
        )

    return Projection(closed, node, words)


def _of_job(event: Event) -> Word:
    match event:
        case TriggerRequest(kind):
            return ("request", TYPES[kind])
        case AcknowledgeMessage(task, checkpoint):
            return ("acknowledge", task, checkpoint)
        case DeclineMessage(_, checkpoint):
            return ("decline", checkpoint)
        case CheckpointExpires(checkpoint):
            return ("expire", checkpoint)
        case TaskStatus(task):
            return ("task_ends", task)
        case JobEnd(status):
            return ("end", status)
    raise AssertionError(event)
