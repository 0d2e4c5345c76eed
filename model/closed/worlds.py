"""Closed models: a component with one declared environment, small enough to see every state.

A node is the component's state beside what the environment remembers (how far each channel has come,
which ids were used). The environment decides which events may come; bounds are guards. The gate and
the store stand in TLA+ with the very same environment (spec/models/GateModel.tla, StoreModel.tla).
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from model import alignment, coordinator_state, network, store
from model.alignment import Gate
from model.coordinator_profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, CoordinatorProfile
from model.coordinator_state import RUNNING, Coordinator, Plan
from model.events import (
    AcknowledgeMessage,
    Add,
    Advance,
    Barrier,
    Cancel,
    DeclineMessage,
    EndOfPartition,
    Event,
    FailTasks,
    Injection,
    JobStatus,
    Record,
    RestoreRequest,
    Step,
    TaskStatus,
    TriggerRequest,
)
from model.pending import new_pending
from model.profiles import NEWEST, PROFILES, Profile
from model.steps import step_of
from model.store import CHECKPOINT, SAVEPOINT, STOP, Store

Environment = tuple[int, ...]
Offered = Iterator[tuple[str, Event]]
Offers = Callable[[Any], Offered]
"""From the component's state: the actions and events that may come as far as it is concerned."""


class Portions(NamedTuple):
    """How a world comes apart, so that one can see how little each of its moves looks at."""

    movers: tuple[Offers, ...]
    """What the world offers, in its order, each by itself."""
    by_member: tuple[str, ...]
    """The names of collections that are never longer or shorter: each member is a part of its own."""
    growing: Mapping[str, Any] = {}
    """The names of collections that grow and shrink, `name.*` for the members of one, each with a member that
    comes apart as all of them do; None: they do not come apart."""


BY_TASK = ("tasks_run", "tasks_finished", "tasks_reached", "tasks", "acknowledged", "states", "shared")
"""Collections of a coordinator with one member for each task."""


class World(NamedTuple):
    """A component closed by an environment."""

    name: str
    component: str
    """As the properties name it."""
    state: Any
    """The component at the start."""
    environment: Environment
    """What the environment remembers at the start."""
    offers: Offers
    allows: Callable[[Environment, Event], Environment | None]
    """What the environment remembers after the event; None if it does not let it happen now."""
    step: Callable[[Any, Event], Step[Any]]
    toured: bool = True
    """Its runs mean the same on the wire; not so where a bound is set lower than the protocol has it."""
    portions: Portions | None = None
    """Of a world with too many shapes for a kernel: a composition, a large coordinator."""


def gate_world(
    channels: int,
    ids: int,
    *,
    counts_as_aligned: bool,
    polled: bool,
    profile: Profile = NEWEST,
    injects: bool = False,
) -> World:
    """Each channel delivers barriers and cancellations with ids from 1 to `ids` that never go back.

    `injects`: the task itself may be triggered too, at any time and with any id.
    """

    def offers(gate: Gate) -> Iterator[tuple[str, Event]]:
        if injects:
            for checkpoint in range(1, ids + 1):
                yield "Inject", Injection(checkpoint)
        for channel in range(channels):
            if gate.failed or gate.closed[channel] or (polled and gate.blocked[channel]):
                continue
            for checkpoint in range(1, ids + 1):
                yield "Barrier", Barrier(channel, checkpoint)
                yield "Cancel", Cancel(channel, checkpoint)
            yield "EndOfPartition", EndOfPartition(channel)

    def allows(last: Environment, event: Event) -> Environment | None:
        if type(event) is Barrier or type(event) is Cancel:
            channel, checkpoint = event.channel, event.checkpoint
            if checkpoint < last[channel]:
                return None
            return (*last[:channel], checkpoint, *last[channel + 1 :])
        return last

    level = "polled" if polled else "handler"
    ends = "ends count" if counts_as_aligned else "ends abort"
    older = "" if profile is NEWEST else f", {profile.name}"
    injected = ", injected" if injects else ""
    return World(
        f"gate of {channels} channels, ids to {ids}, {level}, {ends}{older}{injected}",
        "gate",
        alignment.new_gate(channels, counts_as_aligned, profile),
        (0,) * channels,
        offers,
        allows,
        step_of("gate"),
    )


def store_world(retain: int, ids: int, profile: CoordinatorProfile = NEWEST_COORDINATOR) -> World:
    """Every id from 1 to `ids` may be added once, as any type and in any order."""

    def offers(state: Store) -> Iterator[tuple[str, Event]]:
        for checkpoint, kind in product(range(1, ids + 1), (CHECKPOINT, SAVEPOINT, STOP)):
            yield "Add", Add(checkpoint, kind)

    def allows(added: Environment, event: Event) -> Environment | None:
        if type(event) is not Add or added[event.checkpoint - 1]:
            return None
        place = event.checkpoint - 1
        return (*added[:place], 1, *added[place + 1 :])

    return World(
        f"store retaining {retain}, ids to {ids}"
        + ("" if profile is NEWEST_COORDINATOR else f", {profile.name}"),
        "store",
        store.new_store(retain, profile),
        (0,) * ids,
        offers,
        allows,
        step_of("store"),
    )


def _anything(environment: Environment, event: Event) -> Environment:
    return environment


def coordinator_world(tasks: int, ids: int, *, max_concurrent: int, retain: int) -> World:
    """One source and further tasks; time passes by one unit, a checkpoint expires after two."""
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

    return World(
        f"coordinator of {tasks} tasks, ids to {ids}, {max_concurrent} at once, retaining {retain}",
        "coordinator",
        start,
        (),
        offers,
        _anything,
        step_of("coordinator"),
        portions=Portions((offers,), BY_TASK, {"pending": new_pending(1, CHECKPOINT, 2, plan.sources)}),
    )


def network_world(channels: int, ids: int, waiting: int) -> World:
    """A polled gate with what waits before it; at most `waiting` items wait."""
    inner = gate_world(channels, ids, counts_as_aligned=True, polled=False)

    def offers(inbox: network.Inbox) -> Iterator[tuple[str, Event]]:
        for action, event in inner.offers(inbox.gate):
            channel = event[0]
            assert type(channel) is int
            held = inbox.gate.blocked[channel]
            if not network.has_ended(inbox, channel) and not (held and len(inbox.waiting) >= waiting):
                yield action, event
        for channel in range(channels):
            held = inbox.gate.blocked[channel] and len(inbox.waiting) >= waiting
            if not network.has_ended(inbox, channel) and not held:
                yield "Record", Record(channel, len(inbox.waiting))

    return World(
        f"polled gate of {channels} channels, ids to {ids}, at most {waiting} waiting",
        "network",
        network.new_inbox(channels, True),
        (0,) * channels,
        offers,
        inner.allows,
        step_of("network"),
    )


def small_worlds() -> tuple[World, ...]:
    """The closed models that are explored, toured and mutated: every rule of a component fires in one."""
    from model.closed.coordinator import coordinator_worlds  # they are made of World
    from model.closed.modes import mode_worlds
    from model.closed.offsets import offsets_worlds
    from model.closed.sink import sink_worlds
    from model.closed.source import source_worlds
    from model.closed.subtask import subtask_worlds

    gates = tuple(
        gate_world(channels, ids, counts_as_aligned=counts_as_aligned, polled=polled)
        for channels, ids in ((1, 3), (2, 3), (3, 3))
        for counts_as_aligned in (True, False)
        for polled in (True, False)
    )
    older = tuple(
        gate_world(channels, ids, counts_as_aligned=False, polled=False, profile=profile)
        for profile in PROFILES.values()
        if profile is not NEWEST
        for channels, ids in ((1, 3), (2, 3), (3, 2))
    )
    return (
        *gates,
        *older,
        gate_world(2, 3, counts_as_aligned=True, polled=False, injects=True),
        gate_world(3, 2, counts_as_aligned=True, polled=True, injects=True),
        network_world(2, 2, 2),
        *mode_worlds(),
        *subtask_worlds(),
        coordinator_world(2, 3, max_concurrent=2, retain=1),
        coordinator_world(2, 2, max_concurrent=1, retain=2),
        *coordinator_worlds(),
        store_world(1, 4),
        store_world(2, 4),
        *(store_world(2, 3, COORDINATOR_PROFILES[name]) for name in ("1.11", "1.14")),
        *sink_worlds(),
        *offsets_worlds(),
        *source_worlds(),
    )
