"""The cases of failures and ends: of checkpoints, of the store, of the coordinator and of the job.

Rules COORD-15 to COORD-22, COORD-25, COORD-28, COORD-34 to COORD-36 and SUB-11. The cases use the symbolic
state of `model.coordinator.proofs.coordinator` with other plans. Ids, handles, times and types are symbols.
The cases enumerate the shapes.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    IoFails,
    JobEnd,
    JobStatus,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.failures import Failures
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.coordinator.proofs.coordinator import coordinator_events, is_sound, symbolic_coordinator
from model.coordinator.requests import Request
from model.coordinator.state import CREATED, RUNNING, Coordinator, Io
from model.events import AFTER, BEFORE, ID, MAYBE, METADATA, NONE, Advance, Event
from model.steps import step_of
from model.store.store import CHECKPOINT, SAVEPOINT, STOP, Entry

DIFFERENT = ("2.3", "1.20", "1.17", "1.15", "1.14", "1.14.3", "1.13", "1.12", "1.11", "1.9")
"""The generations whose coordinators have different steps."""
PATCHED = ("1.20", "1.17", "1.16.0", "1.15", "1.15.0", "1.14.3", "1.14.0", "1.13", "1.12")
"""Additional generations for the failure cases. Some of them begin with a patch release."""
ENDS = ("FINISHED", "CANCELED", "FAILED", "SUSPENDED")
REASONS = ("CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "IO_EXCEPTION", "TASK_NOT_READY")
"""Reasons of declines. Releases differ in which of them count. One of them counts in no release."""


def case_of(
    label: str, state: Coordinator, event: Event, *assumptions: z3.BoolRef, stops: bool = False
) -> Case:
    """The case of one event in one state. `stops`: a pending checkpoint may be a stop-with-savepoint."""
    what = f"{state.plan.profile.name}, {label}, {len(state.pending)} pending, {event[-1]}"
    return Case(
        "coordinator",
        what,
        state,
        event,
        step_of("coordinator"),
        (*is_sound(state, event, highest=STOP if stops else STOP - 1), *assumptions),
    )


def of_release(state: Coordinator, name: str, **changes: Any) -> Coordinator:  # noqa: ANN401 - parts of a plan
    """The coordinator with the profile `name`, and with the given changes of its plan."""
    profile = COORDINATOR_PROFILES[name]
    plan = state.plan._replace(profile=profile, finished_tasks=profile.after_finish_by_default, **changes)
    return state._replace(plan=plan, store=state.store._replace(profile=profile))


def any_id(name: str) -> DeclineMessage:
    """A decline of any checkpoint."""
    return DeclineMessage(0, symbolic_like(0, "event.checkpoint"), name)


def acknowledged(task: int = 0) -> AcknowledgeMessage:
    """An acknowledgement of any checkpoint, with any state."""
    return AcknowledgeMessage(task, symbolic_like(0, "event.checkpoint"), symbolic_like(0, "event.handle"))


# ---------------------------------------------------------------- failures that count


def failure_cases(name: str, tolerable: int, counted: int, pending: int) -> Iterator[Case]:
    """Yields events with which a checkpoint fails, expires or completes after `counted` failures.

    `tolerable`: the number of failures that the job tolerates.
    """
    state = of_release(symbolic_coordinator(1, pending, 0, 0, 2), name, tolerable_failures=tolerable)
    ids = tuple(symbolic_like(0, f"counted.{place}") for place in range(counted))
    state = state._replace(failures=Failures(ids, symbolic_like(0, "highest_success")))
    label = f"{counted} failures of {tolerable} tolerated"
    for reason in REASONS:
        yield case_of(label, state, any_id(reason), stops=True)
    yield case_of(label, state, acknowledged(), stops=True)
    yield case_of(label, state, Advance(symbolic_like(0, "event.ms")), stops=True)


# ---------------------------------------------------------------- the store and its coordinator


def store_failure_cases(name: str, fault: int, pending: int, stored: int) -> Iterator[Case]:
    """Yields events while the next addition to the store fails as `fault` states. No failure is tolerated."""
    state = of_release(symbolic_coordinator(1, pending, 0, stored, 2), name, tolerable_failures=0)
    state = state._replace(fault=fault)
    yield case_of(f"store fails {fault}", state, acknowledged())
    yield case_of(f"store fails {fault}", state, any_id("ASYNC_EXCEPTION"))


def io_failure_cases(name: str, pending: int) -> Iterator[Case]:
    """Yields events while the next input or output, or also the store, fails. No failure is tolerated."""
    state = of_release(symbolic_coordinator(1, pending, 0, 1, 2), name, tolerable_failures=0)
    for fault in (0, BEFORE):
        state = state._replace(io=symbolic_like(Io(), "io"), fault=fault)
        yield case_of(f"input or output fails, fault {fault}", state, acknowledged())
    what = symbolic_like(0, "event.what")
    yield case_of(
        "input or output fails", state, IoFails(what), int_term(what) >= METADATA, int_term(what) <= ID
    )
    waiting = of_release(symbolic_coordinator(1, pending, 1, 0, 2), name, tolerable_failures=0)
    for start in (state._replace(fault=0), waiting):
        start = start._replace(io=symbolic_like(Io(), "io"))
        yield case_of("a start fails", start, TriggerRequest(symbolic_like(0, "event.type")), stops=True)
        yield case_of("a start fails", start, any_id("ASYNC_EXCEPTION"), stops=True)


def restart_cases(name: str, stored: int, unseen: int, *, is_open: bool) -> Iterator[Case]:
    """Yields the restart of a coordinator with `stored` entries and `unseen` other durable checkpoints.

    `is_open`: the coordinator has not shut down and has a pending checkpoint. Then its store may fail, too.
    """
    state = of_release(symbolic_coordinator(1, 1 if is_open else 0, 0, stored, 2), name)
    hidden = tuple(
        Entry(symbolic_like(0, f"unseen.{place}"), symbolic_like(0, f"unseen.{place}.type"))
        for place in range(unseen)
    )
    state = state._replace(unseen=hidden, open=is_open)
    label = f"{stored} stored and {unseen} unseen"
    yield case_of(label, state, CoordinatorRestart())
    if is_open:
        yield case_of(label, state, StoreFails(symbolic_like(0, "event.when")))


# ---------------------------------------------------------------- the end of the job


def job_end_cases(name: str, pending: int, waiting: int, stored: int) -> Iterator[Case]:
    """Yields the end of a job, with each status. The job may retain its checkpoints.

    If no checkpoint is pending or stored and no request waits, the cases include the events after the end.
    """
    state = symbolic_coordinator(1, pending, waiting, 0, 1)
    entries = tuple(
        Entry(symbolic_like(0, f"store.{place}"), symbolic_like(0, f"store.{place}.type"))
        for place in range(stored)
    )
    state = state._replace(store=state.store._replace(retain=3, entries=entries))
    kinds = tuple(
        z3.And(int_term(entry.type) >= CHECKPOINT, int_term(entry.type) <= STOP) for entry in entries
    )
    for keeps, status in product((False, True), ENDS):
        ending = of_release(state, name, retains_on_cancellation=keeps, tolerable_failures=1)
        yield case_of(f"{stored} stored", ending, JobEnd(status), *kinds)
    if not pending and not waiting and not stored:
        yield from closed_cases(of_release(state, name)._replace(open=False))


def closed_cases(closed: Coordinator) -> Iterator[Case]:
    """Yields every event at a coordinator that has shut down."""
    events: tuple[Event, ...] = (
        acknowledged(),
        any_id("ASYNC_EXCEPTION"),
        Advance(symbolic_like(0, "event.ms")),
        JobEnd("FINISHED"),
        JobStatus(RUNNING),
        RestoreRequest(),
        *(event for _, event in coordinator_events(closed) if event[-1] == "trigger"),
    )
    for event in events:
        yield case_of("shut down", closed, event)
    stopped = closed._replace(status=CREATED)
    yield case_of("shut down", stopped, JobEnd("FAILED"))
    with_timer = stopped._replace(plan=closed.plan._replace(interval=1))
    yield case_of("shut down", with_timer, TaskStatus(0, RUNNING))
    reported = with_timer.scheduler._replace(awaited=(False,))
    yield case_of("shut down", with_timer._replace(scheduler=reported), JobStatus(RUNNING))


def waiting_cases(name: str) -> Iterator[Case]:
    """Yields the end of a checkpoint and a request for a savepoint, while four periodic requests wait.

    In one more case the job reports RUNNING after a stop-with-savepoint has stopped the scheduler.
    """
    state = of_release(
        symbolic_coordinator(1, 1, 0, 1, 1), name, interval=2, initial_delay=1, min_pause=1, unaligned=True
    )
    waiting = Request(CHECKPOINT, forced=False, periodic=True, awaits_answer=True)
    state = state._replace(
        pending=(state.pending[0]._replace(type=CHECKPOINT),),
        queue=(waiting,) * 4 if state.plan.profile.queues_requests else (),
        pause_ends=symbolic_like(0, "pause_ends"),
        scheduler=state.scheduler._replace(
            runs=True, follows=True, awaited=(False,), delay=1, due=symbolic_like(0, "due")
        ),
    )
    in_time = int_term(state.scheduler.due) > int_term(state.now)
    for event in (acknowledged(), any_id("ASYNC_EXCEPTION"), TriggerRequest(SAVEPOINT)):
        yield case_of("four wait", state, event, in_time)
    stopped = state._replace(queue=(), scheduler=state.scheduler._replace(runs=False, due=NONE))
    yield case_of("stopped by a stop", stopped, JobStatus(RUNNING))


# ---------------------------------------------------------------- older releases


def older_cases(name: str, pending: int, stored: int, tasks: int = 2) -> Iterator[Case]:
    """Yields the events that end or subsume a checkpoint, in an older release."""
    state = of_release(symbolic_coordinator(tasks, pending, 0, stored, 2), name)
    lost = TriggerFails(0, symbolic_like(0, "event.checkpoint"))
    for event in (acknowledged(), any_id("ASYNC_EXCEPTION"), JobStatus("CANCELLING"), lost):
        yield case_of(f"{stored} stored", state, event)


# ---------------------------------------------------------------- all cases


def ending_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for name, tolerable in product(("2.3", "1.14", "1.11", "1.9"), (0, 1)):
        for counted in range(tolerable + 1):
            yield from failure_cases(name, tolerable, counted, 1)
    for name in PATCHED:
        yield from failure_cases(name, 0, 0, 1)
    for name, fault in product(DIFFERENT[:-1], (BEFORE, AFTER, MAYBE)):
        yield from store_failure_cases(name, fault, 1, 1)
    yield from store_failure_cases("2.3", MAYBE, 2, 1)
    for name in DIFFERENT[:-1]:
        yield from io_failure_cases(name, 1)
    yield from io_failure_cases("2.3", 2)
    for stored, unseen in ((0, 0), (1, 0), (0, 1), (1, 1)):
        yield from restart_cases("2.3", stored, unseen, is_open=True)
    yield from restart_cases("2.3", 0, 2, is_open=False)
    for name in ("2.3", "1.14"):
        for pending, waiting, stored in ((0, 0, 0), (1, 0, 1), (1, 1, 0)):
            yield from job_end_cases(name, pending, waiting, stored)
    for name in DIFFERENT:
        yield from waiting_cases(name)
    for name, pending in product(("1.14", "1.11", "1.9"), (1, 2)):
        yield from older_cases(name, pending, 1)
    for name in ("1.20", "1.17", "1.15", "1.13", "1.12"):
        yield from older_cases(name, 2, 1, tasks=1)


def thorough_ending_cases() -> Iterator[Case]:
    """The cases with more failures, and more pending, stored and unseen checkpoints. They take minutes."""
    for name, counted in product(("2.3", "1.14", "1.11", "1.9"), (0, 1, 2)):
        yield from failure_cases(name, 2, counted, 2)
    for name, fault in product(("2.3", "1.14", "1.11"), (BEFORE, AFTER, MAYBE)):
        yield from store_failure_cases(name, fault, 2, 1)
    for stored, unseen in ((1, 2), (0, 3)):
        yield from restart_cases("2.3", stored, unseen, is_open=True)
    for stored, unseen in ((1, 1), (0, 1), (0, 3)):
        yield from restart_cases("1.14", stored, unseen, is_open=stored > 0)
    for name, pending, stored in product(("2.3", "1.14"), (1, 2), (2, 3)):
        yield from job_end_cases(name, pending, 0, stored)
