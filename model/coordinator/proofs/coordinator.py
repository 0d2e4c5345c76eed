"""The cases of the coordinator, by numbers of tasks, pending and stored checkpoints, and waiting requests.

Ids, times, handles and the types of requests and pending checkpoints are symbols.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.coordinator import state as coordinator_state
from model.coordinator.events import (
    AcknowledgeMessage,
    DeclineMessage,
    FailTasks,
    JobStatus,
    RestoreRequest,
    TriggerRequest,
)
from model.coordinator.pending import Pending, new_pending
from model.coordinator.requests import Request
from model.coordinator.state import RUNNING, Coordinator, Plan
from model.events import Advance, Event
from model.steps import step_of
from model.store.store import CHECKPOINT, SAVEPOINT, Entry


def coordinator_cases(
    tasks: int, pending: int, queue: int, stored: int, at_once: int, retain: int = 1
) -> Iterator[Case]:
    """Yields every event at a coordinator with these numbers of tasks, checkpoints and waiting requests.

    `at_once`: the limit of pending checkpoints.
    """
    state = symbolic_coordinator(tasks, pending, queue, stored, at_once, retain)
    for before, event in coordinator_events(state):
        yield _case(before, event)


def completion_cases(tasks: int, pending: int, stored: int, retain: int) -> Iterator[Case]:
    """Yields cases of subsumption and retention: a task acknowledges, which may complete a checkpoint."""
    state = symbolic_coordinator(tasks, pending, 0, stored, 2, retain)
    for before, event in coordinator_events(state):
        if type(event) is AcknowledgeMessage:
            yield _case(before, event)


def _case(state: Coordinator, event: Event) -> Case:
    return Case(
        "coordinator",
        f"{len(state.tasks_run)} tasks, {len(state.pending)} pending, {len(state.queue)} waiting, "
        f"{len(state.store.entries)} stored of {state.store.retain}, {state.plan.max_concurrent} at once, "
        f"{event[-1]}",
        state,
        event,
        step_of("coordinator"),
        is_sound(state, event),
    )


def coordinator_events(state: Coordinator) -> Iterator[tuple[Coordinator, Event]]:
    """Yields every event. If nothing is pending or waits, also the events of a job that does not run."""
    tasks = len(state.tasks_run)
    stopped = state._replace(status="RESTARTING")
    requested = TriggerRequest(symbolic_like(0, "event.type"))
    events: list[tuple[Coordinator, Event]] = [
        (state, requested),
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
    if not state.pending and not state.queue:
        events += [(stopped, RestoreRequest()), (stopped, JobStatus(RUNNING)), (stopped, requested)]
    yield from events


def symbolic_coordinator(
    tasks: int, pending: int, queue: int, stored: int, at_once: int, retain: int = 1
) -> Coordinator:
    """The coordinator of a running job, with symbols for all values that an event may depend on."""
    plan = Plan((True, *(False,) * (tasks - 1)), timeout=0, max_concurrent=at_once)
    shape = coordinator_state.new_coordinator(plan, retain)
    return shape._replace(
        status=RUNNING,
        tasks_run=(True,) * tasks,
        tasks_reached=(True,) * tasks,
        plan=plan._replace(timeout=symbolic_like(0, "plan.timeout")),
        now=symbolic_like(0, "now"),
        next_id=symbolic_like(0, "next_id"),
        pending=tuple(_symbolic_pending(place, tasks) for place in range(pending)),
        queue=tuple(
            Request(
                symbolic_like(0, f"queue.{place}.type"),
                symbolic_like(False, f"queue.{place}.forced"),
                False,
                True,
            )
            for place in range(queue)
        ),
        store=shape.store._replace(
            entries=tuple(Entry(symbolic_like(0, f"store.{place}"), CHECKPOINT) for place in range(stored))
        ),
    )


def _symbolic_pending(place: int, tasks: int) -> Pending:
    shape = new_pending(0, 0, 0, (True,) * tasks, forced=False, coordinators=0, hooks=0)
    symbols: Pending = symbolic_like(shape, f"pending.{place}")
    return symbols._replace(tasks=shape.tasks)


def is_sound(state: Coordinator, event: Event, highest: int = SAVEPOINT) -> tuple[z3.BoolRef, ...]:
    """The assumptions: amounts are not negative, the time-out is positive, ids begin at 1, types are known.

    Savepoints are forced. `highest`: the highest type. By default the types are CHECKPOINT and SAVEPOINT,
    because a pending stop differs from a savepoint only when it completes or fails.
    """
    amounts = [int_term(handle) for pending in state.pending for handle in pending.states]
    amounts += [int_term(state.now), int_term(state.next_id) - 1, int_term(state.plan.timeout) - 1]
    types = [int_term(pending.type) for pending in state.pending]
    types += [int_term(waiting.type) for waiting in state.queue]
    if type(event) is Advance:
        amounts.append(int_term(event.ms))
    if type(event) is AcknowledgeMessage:
        amounts.append(int_term(event.handle))
    if type(event) is TriggerRequest:
        types.append(int_term(event.type))
    return (
        *(amount >= 0 for amount in amounts),
        *(z3.And(kind >= CHECKPOINT, kind <= highest) for kind in types),
    )


def request_cases(waiting: int, pending: int) -> Iterator[Case]:
    """Yields events while requests of any priority wait: a new request, the end of a checkpoint, a stop.

    In these cases savepoints may wait, the scheduler runs, and there is a minimum pause. No savepoint is
    periodic: behind a periodic savepoint that is too early, a forced request waits for the next turn (as in
    Flink), which the properties do not allow.
    """
    state = symbolic_coordinator(1, pending, 0, 0, 1)
    state = state._replace(
        plan=state.plan._replace(unaligned=True, interval=10, min_pause=1),
        pause_ends=symbolic_like(0, "pause_ends"),
        scheduler=state.scheduler._replace(
            runs=True, follows=True, awaited=(False,), due=symbolic_like(0, "due")
        ),
        queue=tuple(_symbolic_request(place) for place in range(waiting)),
    )
    requested = TriggerRequest(
        symbolic_like(0, "event.type"),
        symbolic_like(False, "event.forced"),
        symbolic_like(False, "event.periodic"),
    )
    checkpoint = symbolic_like(0, "event.checkpoint")
    events: list[Event] = [requested, JobStatus("CANCELLING")]
    if pending:
        events.append(DeclineMessage(0, checkpoint, "ASYNC_EXCEPTION"))
        events.append(AcknowledgeMessage(0, checkpoint, symbolic_like(0, "event.handle")))
    for event in events:
        yield Case(
            "coordinator",
            f"{waiting} of any urgency waiting, {pending} pending, {event[-1]}",
            state,
            event,
            step_of("coordinator"),
            (
                *is_sound(state, event),
                *(
                    z3.Implies(bool_term(one.periodic), int_term(one.type) == CHECKPOINT)
                    for one in (*state.queue, Request(*requested[:3], awaits_answer=True))
                ),
                int_term(state.scheduler.due) > int_term(state.now),
            ),
        )


def _symbolic_request(place: int) -> Request:
    request: Request = symbolic_like(Request(0, False, False, True), f"queue.{place}")
    return request._replace(awaits_answer=True)


def all_coordinator_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for at_once in (1, 2):
        for pending, queue, stored in product((0, 1, 2), (0, 1), (0, 1)):
            if (queue and pending < at_once) or stored < pending - 1:
                continue  # COORD-03: a waiting request could start; further numbers are thorough cases
            yield from coordinator_cases(2, pending, queue, stored, at_once)
    for tasks, retain in product((1, 2, 3, 4), (1, 2, 3)):
        yield from completion_cases(tasks, 2 if tasks < 3 else 1, retain, retain)
    for waiting, pending in ((0, 0), (1, 1), (2, 1), (3, 1)):
        yield from request_cases(waiting, pending)


def thorough_coordinator_cases() -> Iterator[Case]:
    """The additional cases of a thorough verification: up to four tasks and three retained checkpoints."""
    for at_once, queue in product((1, 2), (0, 1)):
        yield from coordinator_cases(2, 2, queue, 0, at_once)
    for tasks, retain in product((1, 2, 3, 4), (1, 2, 3)):
        for stored in {0, retain - 1, retain}:
            yield from completion_cases(tasks, 2, stored, retain)
            if tasks != 2 or retain > 1:
                for pending in (0, 1):
                    yield from coordinator_cases(tasks, pending, 0, stored, 2, retain)
    for waiting, pending in ((2, 2), (3, 2)):
        yield from request_cases(waiting, pending)
