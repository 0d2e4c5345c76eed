"""The shapes that the proofs go through: channels, tasks and collections of declared sizes.

Ids, offsets, handles and times are symbols and so stand for every value; what is counted here is
how many of them there are. Fields that a job fixes for good (how many to retain, how many at once)
are concrete and gone through one by one.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from model import alignment, coordinator, network, store, subtask
from model.coordinator import RUNNING, Coordinator, Plan
from model.engines.prove import Case
from model.engines.symbolic import symbolic_like
from model.events import (
    AbortNotification,
    AbortOnBarrier,
    AcknowledgeMessage,
    Add,
    Advance,
    AsyncDone,
    AsyncFailed,
    Barrier,
    Cancel,
    Checkpoint,
    CompleteNotification,
    DeclineMessage,
    EndOfPartition,
    Event,
    FailTasks,
    JobStatus,
    LatestRequest,
    Record,
    RestoreRequest,
    Status,
    TriggerRequest,
)
from model.pending import new_pending
from model.steps import step_of
from model.store import CHECKPOINT, Entry, Store


def gate_cases(channels: int) -> Iterator[Case]:
    """A gate of so many channels in any state, and anything that may come on an open one."""
    state = symbolic_like(alignment.new_gate(channels, True), "gate")
    for channel in range(channels):
        for event in (Barrier(channel, 0), Cancel(channel, 0), EndOfPartition(channel)):
            yield Case(
                "gate",
                f"{channels} channels, {event.kind} on {channel}",
                state,
                _arriving(event),
                step_of("gate"),
                _channel_is_open,
            )


def _arriving(event: Any) -> Any:  # noqa: ANN401 - an Item: its channel is concrete, its id is not
    if type(event) is EndOfPartition:
        return event
    if type(event) is Record:
        return event._replace(value=symbolic_like(0, f"event.{event.channel}.value"))
    return event._replace(checkpoint=symbolic_like(0, "event.checkpoint"))


def _channel_is_open(gate: alignment.Gate, event: Any) -> object:  # noqa: ANN401 - an Item
    return not gate.closed[event.channel] and (
        type(event) is EndOfPartition or type(event) is Record or event.checkpoint >= 0
    )


def network_cases(channels: int, waiting: int) -> Iterator[Case]:
    """A polled gate before which so many items wait, of every class and on every channel."""

    def items(position: int) -> Iterator[network.Item]:
        for channel in range(channels):
            name = f"waiting.{position}"
            yield Record(channel, symbolic_like(0, f"{name}.value"))
            yield Barrier(channel, symbolic_like(0, f"{name}.checkpoint"))
            yield Cancel(channel, symbolic_like(0, f"{name}.checkpoint"))
            yield EndOfPartition(channel)

    gate = symbolic_like(alignment.new_gate(channels, True), "gate")
    for held in product(*(tuple(items(position)) for position in range(waiting))):
        ended = [item.channel for item in held if type(item) is EndOfPartition]
        if len(ended) != len(set(ended)) or _follows_its_end(held):
            continue
        for channel in range(channels):
            for event in (
                Record(channel, 0),
                Barrier(channel, 0),
                Cancel(channel, 0),
                EndOfPartition(channel),
            ):
                if channel in ended:
                    continue
                yield Case(
                    "network",
                    f"{channels} channels, {[item.kind for item in held]} waiting, {event.kind} on {channel}",
                    network.Inbox(gate, held),
                    _arriving(event),
                    step_of("network"),
                    _inbox_is_sound,
                )


def _follows_its_end(held: tuple[network.Item, ...]) -> bool:
    return any(
        type(item) is EndOfPartition and any(later.channel == item.channel for later in held[place + 1 :])
        for place, item in enumerate(held)
    )


def _inbox_is_sound(inbox: network.Inbox, event: Any) -> object:  # noqa: ANN401 - an Item
    """The gate satisfies its invariant, and what waits is on open channels with proper ids."""
    gate = inbox.gate
    sound = gate.current >= -1 and not any(
        held and ended for held, ended in zip(gate.blocked, gate.closed, strict=True)
    )
    awaits = not all(held or ended for held, ended in zip(gate.blocked, gate.closed, strict=True))
    aligned = awaits if gate.pending else not any(gate.blocked)
    return (
        sound
        and aligned
        and _channel_is_open(gate, event)
        and all(_channel_is_open(gate, item) for item in inbox.waiting)
    )


def store_cases(retain: int, entries: int) -> Iterator[Case]:
    """A store of so many entries with any ids and types, and any addition or question."""
    shape = store.new_store(retain)._replace(entries=(Entry(0, 0),) * entries)
    state = symbolic_like(shape, "store")._replace(retain=retain, open=True)
    for event in (Add(0, 0), LatestRequest()):
        yield Case(
            "store",
            f"retain {retain}, {entries} entries, {event.kind}",
            state,
            symbolic_like(event, "event"),
            step_of("store"),
            _store_is_sound,
        )


def _store_is_sound(state: Store, event: Event) -> object:
    known = tuple(entry.checkpoint for entry in state.entries)
    apart = not any(left == right for place, left in enumerate(known) for right in known[place + 1 :])
    types = all(0 <= entry.type <= store.STOP for entry in state.entries)
    if type(event) is not Add:
        return apart and types
    new = event.checkpoint >= 0 and not any(left == event.checkpoint for left in known)
    return apart and types and new and 0 <= event.type <= store.STOP


def subtask_cases(aborted: int, running: int, bound: int) -> Iterator[Case]:
    """A subtask that remembers so many aborts while so many snapshots run."""
    shape = subtask.new_subtask(bound)._replace(aborted=(0,) * aborted, running=(0,) * running)
    state = symbolic_like(shape, "subtask")._replace(remembered_at_most=bound)
    for event in (
        Checkpoint(0),
        AbortOnBarrier(0, "SUBSUMED"),
        AbortNotification(0, 0),
        CompleteNotification(0),
        AsyncDone(0),
        AsyncFailed(0),
        Status(True),
    ):
        yield Case(
            "subtask",
            f"{aborted} aborts remembered, {running} snapshots running, {event.kind}",
            state,
            symbolic_like(event, "event"),
            step_of("subtask"),
            _subtask_is_sound,
        )


def _subtask_is_sound(state: subtask.Subtask, event: Event) -> object:
    known = state.aborted
    return not any(left == right for place, left in enumerate(known) for right in known[place + 1 :])


def coordinator_cases(tasks: int, pending: int, queue: int, stored: int, at_once: int) -> Iterator[Case]:
    """A coordinator with so many tasks, pending checkpoints, waiting requests and stored ones."""
    plan = Plan((True, *(False,) * (tasks - 1)), timeout=0, max_concurrent=at_once)
    shape = coordinator.new_coordinator(plan, 1)._replace(
        pending=(new_pending(0, False, 0, tasks),) * pending, queue=(False,) * queue
    )
    shape = shape._replace(store=shape.store._replace(entries=(Entry(0, CHECKPOINT),) * stored))
    state = symbolic_like(shape, "coordinator")
    state = state._replace(
        status=RUNNING,
        tasks_run=(True,) * tasks,
        plan=plan._replace(timeout=state.plan.timeout),
        store=state.store._replace(
            retain=1, open=True, entries=tuple(e._replace(type=CHECKPOINT) for e in state.store.entries)
        ),
    )
    stopped = state._replace(status="RESTARTING")
    events: list[tuple[Coordinator, Event]] = [
        (state, TriggerRequest(symbolic_like(False, "event.savepoint"))),
        (state, DeclineMessage(0, symbolic_like(0, "event.checkpoint"), "ASYNC_EXCEPTION")),
        (state, Advance(symbolic_like(0, "event.ms"))),
        (state, FailTasks((True, *(False,) * (tasks - 1)))),
        (state, JobStatus("CANCELLING")),
    ]
    events += [
        (
            state,
            AcknowledgeMessage(task, symbolic_like(0, "event.checkpoint"), symbolic_like(0, "event.handle")),
        )
        for task in range(tasks + 1)
    ]
    if not pending and not queue:
        events += [
            (stopped, RestoreRequest()),
            (stopped, JobStatus(RUNNING)),
            (stopped, TriggerRequest(symbolic_like(False, "event.savepoint"))),
        ]
    for before, event in events:
        yield Case(
            "coordinator",
            f"{tasks} tasks, {pending} pending, {queue} waiting, {stored} stored, "
            f"{at_once} at once, {event[-1]}",
            before,
            event,
            step_of("coordinator"),
            _coordinator_is_sound,
        )


def _coordinator_is_sound(state: Coordinator, event: Event) -> object:
    handles = all(handle >= 0 for pending in state.pending for handle in pending.states)
    times = state.plan.timeout >= 1 and state.now >= 0
    if type(event) is Advance:
        times = times and event.ms >= 0
    if type(event) is AcknowledgeMessage:
        handles = handles and event.handle >= 0
    return handles and times and state.next_id >= 1


def all_cases(*, channels: int = 4) -> Iterator[Case]:
    """Every case of the published proofs."""
    for count in range(1, channels + 1):
        yield from gate_cases(count)
    for count, waiting in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 1), (4, 0), (4, 1)):
        yield from network_cases(count, waiting)
    for retain, entries in product((1, 2, 3), (0, 1, 2, 3)):
        if entries <= max(retain, 2):
            yield from store_cases(retain, entries)
    for bound in (1, 2):
        for aborted, running in product(range(bound + 1), (0, 1, 2)):
            yield from subtask_cases(aborted, running, bound)
    for at_once in (1, 2):
        for pending, queue, stored in product((0, 1, 2), (0, 1), (0, 1)):
            if queue and pending < at_once:
                continue  # COORD-03: nothing waits that could start
            yield from coordinator_cases(2, pending, queue, stored, at_once)
