"""Closed models of parts of the coordinator, as in Scheduler.tla, TriggerModel.tla and JobLifecycleModel.tla.

A part uses some fields of the coordinator's state. The other fields keep their initial values. The parts omit
two behaviours: a completed checkpoint subsumes no older one (CoordinatorModel.tla checks SUB-02), and a stop
aborts no other checkpoint (COORD-12). The clock stays at 0.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from model.checker.closed_model import ClosedModel, forgetting
from model.coordinator.completion import pause
from model.coordinator.environment.subject_models import running
from model.coordinator.events import (
    AcknowledgeMessage,
    DeclineMessage,
    JobEnd,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.generations import coordinator_steps
from model.coordinator.pending import Pending
from model.coordinator.profiles import CoordinatorProfile
from model.coordinator.requests import Request
from model.coordinator.state import FINISHED, RUNNING, Coordinator, Plan, new_coordinator
from model.coordinator.trigger import MasterAnswer, is_awaited
from model.events import ASYNC_EXCEPTION, NONE, Event, Step
from model.store.store import CHECKPOINT, STOP

LONG = 1_000
"""A time-out in ms that the clock never reaches. A checkpoint expires at the event `CheckpointExpires`."""
MANY = 10
"""A limit of pending checkpoints that these closed models never reach."""


class CheckpointExpires(NamedTuple):
    """The time-out of one checkpoint passes."""

    checkpoint: int
    kind: str = "expire"


class Occurs(NamedTuple):
    """The scheduler starts or stops, a checkpoint completes, or a unit of time passes."""

    kind: str


class RequestDue(NamedTuple):
    """The scheduler makes a request, which starts a checkpoint or is too early."""

    kind: str


Offered = Iterator[tuple[str, Event]]


def _closed(
    name: str, start: Coordinator, offers: Callable[[Coordinator], Offered], *forgotten: str
) -> ClosedModel:
    """The closed model of a part. `forgotten`: the fields that the part's TLA+ module does not have."""
    steps: Any = _apart(type(coordinator_steps(start)))

    def step(state: Coordinator, event: Event) -> Step[Coordinator]:
        match event:
            case TriggerRequest(kind):
                taken: Step[Coordinator] = steps.request(state, Request(kind, False, False, True))
            case CheckpointExpires(checkpoint):
                taken = steps.on_advance(_with_deadline(state, checkpoint), 0)
                outlived = tuple(one._replace(deadline=LONG) for one in taken.state.outlived)
                taken = taken._replace(state=taken.state._replace(outlived=outlived))
            case _:
                taken = getattr(steps, f"on_{event[-1]}")(state, *event[:-1])
        return taken

    closed = ClosedModel(name, "coordinator", start, (), offers, lambda beside, event: beside, step)
    return forgetting(closed, *forgotten)


def _apart(generation: type) -> object:
    """The steps of a generation, changed so that a completed checkpoint subsumes no older one."""

    def end_older(_: object, state: Coordinator, done: Pending, subsumed: object) -> Step[Coordinator]:
        return Step(state, (), ())

    return type("Apart", (generation,), {"end_older": end_older})()


def _with_deadline(state: Coordinator, checkpoint: int) -> Coordinator:
    """The coordinator in which the time-out of this checkpoint passes now."""
    return state._replace(
        pending=tuple(
            one._replace(deadline=0) if one.checkpoint == checkpoint else one for one in state.pending
        )
    )


def closed_master_phase(coordinators: int, hooks: int, ids: int, profile: CoordinatorProfile) -> ClosedModel:
    """The master phase of a job with one source. Masters answer in any order, and triggers may be lost."""
    plan = Plan((True,), LONG, MANY, profile, tolerable_failures=0, coordinators=coordinators, hooks=hooks)

    def offers(state: Coordinator) -> Offered:
        if state.next_id + len(state.queue) <= ids:
            yield "Request", TriggerRequest(CHECKPOINT, False, False)
        masters = [(place, False) for place in range(coordinators)]
        masters += [(place, True) for place in range(hooks)]
        for checkpoint in range(1, state.next_id):
            for master in masters:
                yield "Answer", MasterAnswer(master[0], checkpoint, master[1], False)
            phase = [one for one in (*state.pending, *state.outlived) if one.checkpoint == state.master]
            awaited = [
                master
                for one in phase
                if one.checkpoint == checkpoint
                for master in masters
                if is_awaited(one, *master)
            ]
            for place, is_hook in awaited or masters[:1]:
                yield "GivingUp", MasterAnswer(place, checkpoint, is_hook, True)
            yield "LostTrigger", TriggerFails(0, checkpoint)
            yield "Expiry", CheckpointExpires(checkpoint)
            yield "Acknowledge", AcknowledgeMessage(0, checkpoint, 0)

    name = f"master phase, {coordinators} operator coordinators, {hooks} hooks, {profile.name}"
    start = running(new_coordinator(plan, 1))
    return _closed(name, start, offers, "store", "shared", "failures", "scheduler")


def closed_job(tasks: int, ids: int, *, retains: bool) -> ClosedModel:
    """Tasks finish, users request checkpoints and stops, and the job ends. The first task is the source."""
    sources = tuple(task == 0 for task in range(tasks))
    plan = Plan(sources, LONG, MANY, retains_on_cancellation=retains)

    def offers(state: Coordinator) -> Offered:
        if state.next_id <= ids:
            for kind in (CHECKPOINT, STOP):
                yield "Request", TriggerRequest(kind, False, False)
        for checkpoint in range(1, state.next_id):
            yield "Decline", DeclineMessage(0, checkpoint, ASYNC_EXCEPTION)
            yield "Expire", CheckpointExpires(checkpoint)
            for task in range(tasks):
                yield "Acknowledge", AcknowledgeMessage(task, checkpoint, 0)
        for task, runs in enumerate(state.tasks_run):
            if runs:
                yield "TaskEnds", TaskStatus(task, FINISHED)
        for status in ("FINISHED", "CANCELED", "FAILED", "SUSPENDED"):
            yield "End", JobEnd(status)

    name = f"life of a job of {tasks} tasks, ids to {ids}{', retained' if retains else ''}"
    start = running(new_coordinator(plan, 1))
    return _closed(name, start, offers, "unseen", "shared", "scheduler")


def closed_scheduler(interval: int, initial_delay: int, min_pause: int) -> ClosedModel:
    """The scheduler alone. Each checkpoint that it requests ends at once."""
    plan = Plan((True,), LONG, 1, interval=interval, initial_delay=initial_delay, min_pause=min_pause)
    start = new_coordinator(plan, 1)._replace(status=RUNNING, tasks_run=(True,), tasks_reached=(True,))
    steps = coordinator_steps(start)

    def offers(state: Coordinator) -> Offered:
        yield ("Stop", Occurs("stop")) if state.scheduler.runs else ("Start", Occurs("start"))
        yield "Completion", Occurs("completion")
        yield "Tick", Occurs("tick")

    def step(state: Coordinator, event: Event) -> Step[Coordinator]:
        match event[-1]:
            case "start":
                return steps.start_scheduler(state)
            case "stop":
                return steps.suspend(state)
            case "completion":
                return Step(pause(state), (), ("COORD-14",))
        taken = steps.on_advance(state, 1)
        after, due = taken.state, state.scheduler.due
        left = after.scheduler.due
        made = () if due != 1 else (RequestDue("too_early" if after.next_id == state.next_id else "request"),)
        after = after._replace(
            now=0,
            pause_ends=max(0, after.pause_ends - 1),
            scheduler=after.scheduler._replace(due=left if left == NONE else left - 1),
        )
        return taken._replace(state=after, effects=made)

    name = f"a scheduler, every {interval}, first after {initial_delay}, pause of {min_pause}"
    closed = ClosedModel(name, "coordinator", start, (), offers, lambda beside, event: beside, step)
    return forgetting(closed, "pending", "next_id")
