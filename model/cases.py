"""The shapes that the proofs go through: channels, tasks and collections of declared sizes.

Ids, offsets, handles and times are symbols and so stand for every value; what is counted here is
how many of them there are. Fields that a job fixes for good (how many to retain, how many at once)
are concrete and gone through one by one.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model import coordinator, store
from model.cases_gate import gate_cases, network_cases
from model.cases_modes import mode_cases
from model.cases_subtask import all_subtask_cases
from model.coordinator import RUNNING, Coordinator, Plan
from model.engines.prove import Case
from model.engines.symbolic import int_term, symbolic_like
from model.events import (
    AcknowledgeMessage,
    Add,
    Advance,
    DeclineMessage,
    Event,
    FailTasks,
    JobStatus,
    LatestRequest,
    RestoreRequest,
    TriggerRequest,
)
from model.pending import new_pending
from model.profiles import NEWEST, PROFILES
from model.steps import step_of
from model.store import CHECKPOINT, Entry, Store


def store_cases(retain: int, entries: int) -> Iterator[Case]:
    """A store of so many entries with any ids and types, and any addition or question."""
    shape = store.new_store(retain)._replace(entries=(Entry(0, 0),) * entries)
    state = symbolic_like(shape, "store")._replace(retain=retain, open=True)
    for event in (Add(0, 0), LatestRequest()):
        yield Case(
            "store",
            f"retain {retain}, {entries} entries, {event.kind}",
            state,
            asked := symbolic_like(event, "event"),
            step_of("store"),
            _store_is_sound(state, asked),
        )


def _store_is_sound(state: Store, event: Event) -> tuple[z3.BoolRef, ...]:
    """Ids differ, also from the one added; types are types."""
    ids = [int_term(entry.checkpoint) for entry in state.entries]
    types = [int_term(entry.type) for entry in state.entries]
    if type(event) is Add:
        ids.append(int_term(event.checkpoint))
        types.append(int_term(event.type))
    apart = (z3.Distinct(*ids),) if len(ids) > 1 else ()
    return (
        *apart,
        *(known >= 0 for known in ids),
        *(z3.And(kind >= 0, kind <= store.STOP) for kind in types),
    )


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
            _coordinator_is_sound(before, event),
        )


def _coordinator_is_sound(state: Coordinator, event: Event) -> tuple[z3.BoolRef, ...]:
    """Handles and times are not negative, the time-out is positive, ids begin at 1."""
    amounts = [int_term(handle) for pending in state.pending for handle in pending.states]
    amounts += [int_term(state.now), int_term(state.next_id) - 1, int_term(state.plan.timeout) - 1]
    if type(event) is Advance:
        amounts.append(int_term(event.ms))
    if type(event) is AcknowledgeMessage:
        amounts.append(int_term(event.handle))
    return tuple(amount >= 0 for amount in amounts)


def all_cases(*, channels: int = 4) -> Iterator[Case]:
    """Every case of the published proofs."""
    for count in range(1, channels + 1):
        yield from gate_cases(count)
    for profile in PROFILES.values():
        if profile is not NEWEST:
            for count in range(1, min(channels, 3) + 1):
                yield from gate_cases(count, profile)
    for count, waiting in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 1), (4, 0), (4, 1)):
        yield from network_cases(count, waiting)
    yield from mode_cases(channels)
    for retain, entries in product((1, 2, 3), (0, 1, 2, 3)):
        if entries <= max(retain, 2):
            yield from store_cases(retain, entries)
    yield from all_subtask_cases()
    for at_once in (1, 2):
        for pending, queue, stored in product((0, 1, 2), (0, 1), (0, 1)):
            if queue and pending < at_once:
                continue  # COORD-03: nothing waits that could start
            yield from coordinator_cases(2, pending, queue, stored, at_once)
