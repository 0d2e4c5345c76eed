"""The cases of starts of checkpoints: masters before sources, the scheduler, finished tasks.

Rules COORD-23, COORD-24, COORD-26, COORD-27, COORD-30 and COORD-31. The cases use the symbolic state of
`model.coordinator.proofs.coordinator` with other plans.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.coordinator.events import (
    FailTasks,
    JobStatus,
    RestoreRequest,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
)
from model.coordinator.pending import Pending
from model.coordinator.proofs.coordinator import symbolic_coordinator
from model.coordinator.proofs.failures_and_ends import (
    DIFFERENT,
    acknowledged,
    any_id,
    case_of,
    of_release,
    waiting_cases,
)
from model.coordinator.requests import QUEUE_LIMIT, Request
from model.coordinator.state import FINISHED, RESTARTING, RUNNING, Coordinator, Io, Scheduler
from model.coordinator.trigger import MasterAnswer
from model.events import BEFORE, MAYBE, NONE, Advance, Event
from model.store.store import CHECKPOINT, STOP

INTERVAL = 10
"""The interval in ms. The time of the first request is a symbol."""
PAUSE = 4


def trigger() -> TriggerRequest:
    """A request of any type."""
    return TriggerRequest(symbolic_like(0, "event.type"))


# ---------------------------------------------------------------- masters


def master_cases(
    name: str, coordinators: int, hooks: int, pending: int, waiting: int, phase: str
) -> Iterator[Case]:
    """Yields answers of masters. The newest checkpoint, an aborted one or none is in the master phase."""
    state = symbolic_coordinator(1, pending, waiting, 0, 2)
    state = of_release(
        state, name, coordinators=coordinators, hooks=hooks, tolerable_failures=0, unaligned=True
    )
    answered = tuple(
        one._replace(coordinators=(True,) * coordinators, hooks=(True,) * hooks) for one in state.pending
    )
    state = state._replace(pending=answered)
    if phase == "begun":
        begun = in_phase(state.pending[-1], coordinators, hooks)
        state = state._replace(pending=(*state.pending[:-1], begun), master=begun.checkpoint)
    elif phase == "outlived":
        left = in_phase(state.pending[-1], coordinators, hooks)
        state = state._replace(pending=state.pending[:-1], outlived=(left,), master=left.checkpoint)
    for event in master_events(state):
        yield case_of(f"{coordinators} masters and {hooks} hooks, {phase}", state, event, *awaited(state))


def refused_start_cases(name: str) -> Iterator[Case]:
    """Yields the answer of the last hook after all acknowledgements, if the checkpoint cannot be stored."""
    known = next(master_cases(name, 1, 1, 1, 0, "begun")).state
    pending = tuple(one._replace(acknowledged=(True,)) for one in known.pending)
    answer = MasterAnswer(0, symbolic_like(0, "event.checkpoint"), True, False)
    for fault in (BEFORE, MAYBE):
        state = known._replace(pending=pending, fault=fault)
        yield case_of(f"faster than the hook, fault {fault}", state, answer)
    state = known._replace(pending=pending, io=Io(metadata=True))
    yield case_of("faster than the hook, metadata not written", state, answer)


def waiting_master_cases(name: str, *, outlived: bool) -> Iterator[Case]:
    """Four periodic requests wait, and the master phase of a pending or of an aborted checkpoint ends."""
    known = next(waiting_cases(name)).state
    begun = in_phase(known.pending[0], 1, 0)
    state = known._replace(
        plan=known.plan._replace(coordinators=1),
        pending=() if outlived else (begun,),
        outlived=(begun,) if outlived else (),
        master=begun.checkpoint,
    )
    checkpoint, in_time = (
        symbolic_like(0, "event.checkpoint"),
        int_term(known.scheduler.due) > int_term(known.now),
    )
    for event in (
        MasterAnswer(0, checkpoint, False, True),
        MasterAnswer(0, checkpoint, False, False),
        any_id("ASYNC_EXCEPTION"),
    ):
        yield case_of(f"four wait for masters, {outlived}", state, event, in_time, *awaited(state))


def in_phase(one: Pending, coordinators: int, hooks: int) -> Pending:
    """The checkpoint in its master phase, with any answers of its masters."""
    return one._replace(
        coordinators=tuple(symbolic_like(False, f"coordinators.{place}") for place in range(coordinators)),
        hooks=tuple(symbolic_like(False, f"hooks.{place}") for place in range(hooks)),
    )


def awaited(state: Coordinator) -> tuple[z3.BoolRef, ...]:
    """The assumptions: hooks answer after operator coordinators; an aborted checkpoint awaits a master."""
    terms: list[z3.BoolRef] = []
    for one in state.outlived:
        done = z3.And(*(bool_term(known) for known in one.coordinators))
        hooks = tuple(bool_term(known) for known in one.hooks)
        terms += [z3.Implies(z3.Or(*hooks), done), z3.Not(z3.And(done, *hooks))]
        terms.append(int_term(one.checkpoint) < int_term(state.next_id))
        terms.append(int_term(one.checkpoint) >= 1)
        terms += [int_term(other.checkpoint) != int_term(one.checkpoint) for other in state.pending]
    return tuple(terms)


def master_events(state: Coordinator) -> Iterator[Event]:
    """Yields answers of each master, and all events that begin or end a checkpoint."""
    checkpoint = symbolic_like(0, "event.checkpoint")
    for is_hook, fails in product((False, True), (False, True)):
        for place in range(state.plan.hooks if is_hook else state.plan.coordinators):
            yield MasterAnswer(place, checkpoint, is_hook, fails)
    yield TriggerFails(0, checkpoint)
    yield acknowledged()
    yield any_id("ASYNC_EXCEPTION")
    yield Advance(symbolic_like(0, "event.ms"))
    yield trigger()


# ---------------------------------------------------------------- the scheduler


def scheduler_cases(name: str, pending: int, *, runs: bool) -> Iterator[Case]:
    """Yields the events of a running or stopped scheduler, with a pause. At most two requests become due."""
    state = of_release(
        symbolic_coordinator(1, pending, 0, 0, 1),
        name,
        interval=INTERVAL,
        initial_delay=INTERVAL // 2,
        min_pause=PAUSE,
    )
    scheduler = state.scheduler._replace(
        runs=runs,
        follows=runs,
        awaited=(False,),
        due=symbolic_like(0, "due") if runs else NONE,
        delay=PAUSE if runs and state.plan.profile.restarts_after_pause else INTERVAL // 2,
    )
    state = state._replace(scheduler=scheduler, pause_ends=symbolic_like(0, "pause_ends"))
    if not runs:
        state = state._replace(status="RESTARTING")
    assumptions: tuple[z3.BoolRef, ...] = ()
    if runs:
        to_the_due = int_term(scheduler.due) - int_term(state.now)
        assumptions = (to_the_due > 0, to_the_due <= INTERVAL)
    for event in scheduler_events(runs=runs):
        bound: tuple[z3.BoolRef, ...] = ()
        if type(event) is Advance:
            bound = (int_term(event.ms) <= INTERVAL,)
        label = "the scheduler runs" if runs else "it stands still"
        yield case_of(label, state, event, *assumptions, *bound, stops=type(event) is TriggerRequest)


def passing_cases(pending: int, *, over: bool) -> Iterator[Case]:
    """Yields events in which time passes and two or three requests become due. `over`: all tasks finished."""
    state = next(scheduler_cases("2.3", pending, runs=True)).state
    state = state._replace(tasks_run=(not over,), tasks_finished=(over,))
    due, now = int_term(state.scheduler.due), int_term(state.now)
    event = Advance(symbolic_like(0, "event.ms"))
    bounds = (due > now, due <= now + INTERVAL, int_term(event.ms) <= 2 * INTERVAL)
    yield case_of(f"the scheduler runs, tasks over {over}, two due", state, event, *bounds)


def postponed_case() -> Case:
    """A decline in 1.9 while a request of the scheduler is postponed."""
    state = next(scheduler_cases("1.9", 1, runs=True)).state
    state = state._replace(scheduler=state.scheduler._replace(due=NONE, postponed=True))
    return case_of("a request is postponed", state, any_id("ASYNC_EXCEPTION"))


def scheduler_events(*, runs: bool) -> Iterator[Event]:
    """Yields events that start or stop the scheduler, make its requests due, or do not affect it."""
    yield Advance(symbolic_like(0, "event.ms"))
    yield acknowledged()
    yield any_id("ASYNC_EXCEPTION")
    if runs:
        yield JobStatus("CANCELLING")
        yield JobStatus(RUNNING)
        yield FailTasks((True,))
        yield TriggerRequest(STOP)
        yield TaskStatus(0, FINISHED)
    else:
        yield JobStatus(RUNNING)
        yield TaskStatus(0, RUNNING)


def listener_cases(status: str, *, other_runs: bool) -> Iterator[Case]:
    """Yields reports of two tasks. The first has any history. The second runs or has not reported."""
    state = symbolic_coordinator(2, 0, 0, 0, 1)
    plan = state.plan._replace(interval=INTERVAL, initial_delay=INTERVAL // 2, min_pause=PAUSE)
    runs, over = symbolic_like(False, "runs"), symbolic_like(False, "over")
    scheduler: Scheduler = symbolic_like(state.scheduler, "scheduler")
    scheduler = scheduler._replace(
        postponed=False,
        awaited=(scheduler.awaited[0], not other_runs),
        unreported=(scheduler.unreported[0], not other_runs),
    )
    state = state._replace(
        plan=plan,
        status=status,
        tasks_run=(runs, other_runs),
        tasks_finished=(over, False),
        scheduler=scheduler,
    )
    known = z3.Or(bool_term(runs), bool_term(over), bool_term(scheduler.awaited[0]))
    assumptions = (
        z3.Not(z3.And(bool_term(runs), bool_term(over))),
        z3.Or(known, bool_term(scheduler.unreported[0])),
        z3.Or(int_term(scheduler.delay) == INTERVAL // 2, int_term(scheduler.delay) == PAUSE),
        z3.If(
            bool_term(scheduler.runs),
            int_term(scheduler.due) > int_term(state.now),
            int_term(scheduler.due) == NONE,
        ),
    )
    for event in (
        RestoreRequest((True, False)),
        RestoreRequest(),
        JobStatus("CANCELLING" if status == RUNNING else RUNNING),
        TaskStatus(0, RUNNING),
        TaskStatus(0, FINISHED),
        TaskStatus(1, "CANCELED"),
        FailTasks((True, False)),
    ):
        yield case_of(f"any execution beside {other_runs}", state, event, *assumptions)


# ---------------------------------------------------------------- the longest queue


def longest_queue_cases() -> Iterator[Case]:
    """Yields events while the queue is full or lacks one request. Its last request may be periodic."""
    state = of_release(symbolic_coordinator(1, 1, 0, 0, 1), "2.3", unaligned=True)
    waiting = Request(CHECKPOINT, forced=False, periodic=False, awaits_answer=True)
    for number, last_is_periodic in product((QUEUE_LIMIT - 1, QUEUE_LIMIT), (False, True)):
        queue = (*(waiting,) * (number - 1), waiting._replace(periodic=last_is_periodic))
        for event in (TriggerRequest(CHECKPOINT), TriggerRequest(CHECKPOINT, False, True)):
            yield case_of(f"{number} wait", state._replace(queue=queue), event)


# ---------------------------------------------------------------- tasks that finish


def finished_cases(name: str, run: tuple[bool, ...], over: tuple[bool, ...]) -> Iterator[Case]:
    """Yields a request and the finish of a task. `run`: the tasks that run; `over`: those that finished."""
    state = of_release(symbolic_coordinator(len(run), 0, 0, 0, 1), name)
    state = state._replace(tasks_run=run, tasks_finished=over)
    yield case_of(f"{run} run, {over} over", state, trigger())
    for task in range(len(run)):
        yield case_of(f"{run} run, {over} over", state, TaskStatus(task, FINISHED))


# ---------------------------------------------------------------- all cases


def beginning_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for phase in ("begun", "over"):
        yield from master_cases("2.3", 1, 1, 1, 0, phase)
    yield from master_cases("2.3", 2, 1, 1, 1, "begun")
    for phase in ("begun", "outlived"):
        yield from master_cases("1.15", 2, 1, 1, 0, phase)
    yield from master_cases("1.15", 1, 2, 1, 0, "outlived")
    for name in DIFFERENT[1:-1]:  # 1.9 awaits its masters within the request
        yield from master_cases(name, 1, 1, 1, 0, "begun")
    for name in ("2.3", "1.17", "1.15"):
        yield from refused_start_cases(name)
    for name, outlived in (("2.3", False), ("1.15", False), ("1.15", True)):
        yield from waiting_master_cases(name, outlived=outlived)
    yield from longest_queue_cases()
    for status, runs in product((RUNNING, RESTARTING), (False, True)):
        yield from listener_cases(status, other_runs=runs)
    for name, runs in product(DIFFERENT, (False, True)):
        yield from scheduler_cases(name, 1 if runs else 0, runs=runs)
    yield from scheduler_cases("2.3", 0, runs=True)
    yield postponed_case()
    for pending, over in ((0, False), (1, False), (0, True)):
        yield from passing_cases(pending, over=over)
    for name, (one, other) in product(("2.3", "1.14", "1.13", "1.12"), product((0, 1, 2), repeat=2)):
        yield from finished_cases(name, (one == 1, other == 1), (one == 2, other == 2))
    for name in ("1.20", "1.17", "1.15", "1.11"):
        yield from finished_cases(name, (True, False), (False, False))


def thorough_beginning_cases() -> Iterator[Case]:
    """The additional cases of a thorough verification: more masters and pending checkpoints, minutes."""
    for phase in ("begun", "over", "outlived"):
        name = "1.15" if phase == "outlived" else "2.3"
        yield from master_cases(name, 2, 2, 2, 1, phase)
    for name, statuses in product(("2.3", "1.14", "1.12"), product((0, 1, 2), repeat=3)):
        yield from finished_cases(
            name, tuple(one == 1 for one in statuses), tuple(one == 2 for one in statuses)
        )
