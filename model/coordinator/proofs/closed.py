"""The cases of a coordinator for inductive proofs: every event in every shape within stated numbers.

All values of a state, of its configuration and of an event are symbols, also words. A shape is the numbers of
a state's parts. The proofs assume only that the rules of states hold. `promised` states the assumptions about
an event. The configured times of the scheduler are concrete numbers, because z3 divides only by constants.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

import z3

from model.checker.prove import Case
from model.checker.symbolic import SymbolicWord, any_word, int_term, symbolic_like, word_number
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    Deleted,
    FailTasks,
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
from model.coordinator.pending import new_pending
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.coordinator.recovery import CANCELED, FAILED, SUSPENDED
from model.coordinator.requests import Request
from model.coordinator.state import FINISHED, Coordinator, Plan, new_coordinator
from model.coordinator.trigger import MasterAnswer
from model.events import (
    BEFORE,
    CHECKPOINT_EXPIRED,
    CHECKPOINT_SUBSUMED,
    FINALIZE_CHECKPOINT_FAILURE,
    ID,
    IO_EXCEPTION,
    MAYBE,
    METADATA,
    NONE,
    PRE_FLIGHT,
    TRIGGER_CHECKPOINT_FAILURE,
    Advance,
    Event,
)
from model.steps import step_of
from model.store.store import CHECKPOINT, STOP, Entry

INTERVAL = 10
"""The configured time between two periodic requests, in ms. The next two constants are in ms, too."""
DELAY = 5
PAUSE = 4
OWN_REASONS = (
    CHECKPOINT_SUBSUMED,
    CHECKPOINT_EXPIRED,
    FINALIZE_CHECKPOINT_FAILURE,
    TRIGGER_CHECKPOINT_FAILURE,
    *(reason for reason in PRE_FLIGHT if reason != IO_EXCEPTION),
)
"""The reasons that only the coordinator uses. No task declines for one of them."""
ENDS = (FINISHED, CANCELED, FAILED, SUSPENDED)


class Numbers(NamedTuple):
    """The numbers of the parts of a coordinator that have no bound in the protocol."""

    pending: int
    waiting: int
    stored: int
    unseen: int
    """Durable checkpoints whose addition has failed, so the coordinator does not have them in its store."""
    counted: int
    """Failures that have counted."""


class Closed(NamedTuple):
    """One configuration, and the maximum numbers of parts of its coordinator in the proofs."""

    plan: Plan
    at_most: Numbers

    def holds(self, state: Coordinator) -> bool:
        """Whether the state has this configuration and at most these numbers of parts.

        False for a state with more than one retained checkpoint, or with shared files.
        """
        files = state.shared
        return (
            configuration_of(state.plan) == configuration_of(self.plan)
            and state.store.retain == 1
            and all(number <= most for number, most in zip(numbers_of(state), self.at_most, strict=True))
            and not (files.registered or files.completed or files.unseen)
        )

    def cases(self) -> Iterator[Case]:
        """Yields every event in every shape."""
        for state in self.shapes():
            for event in events(state):
                yield Case(
                    "coordinator",
                    f"{self.plan.profile.name}, {numbers_of(state)}, {event[-1]}",
                    state,
                    event,
                    step_of("coordinator"),
                    promised(state, event),
                )

    def shapes(self) -> Iterator[Coordinator]:
        """Yields a symbolic coordinator of every shape."""
        for numbers in product(*(range(most + 1) for most in self.at_most)):
            yield any_coordinator(self.plan, Numbers(*numbers))


def any_plan(
    name: str,
    *,
    sources: tuple[bool, ...] = (True,),
    interval: int = 0,
    coordinators: int = 0,
    hooks: int = 0,
) -> Plan:
    """A symbolic configuration of the release `name`, with these sources, masters and interval (0: none)."""
    profile = COORDINATOR_PROFILES[name]
    plan: Plan = symbolic_like(Plan(sources, timeout=0, max_concurrent=0), "plan")
    return plan._replace(
        sources=sources,
        profile=profile,
        interval=interval,
        initial_delay=DELAY if interval else 0,
        min_pause=PAUSE if interval else 0,
        finished_tasks=plan.finished_tasks if profile.after_finish_configurable else False,
        coordinators=coordinators,
        hooks=hooks,
        slow_cleaning=False,
        io_failures=True,
    )


def configuration_of(plan: Plan) -> tuple[object, ...]:
    """The concrete values of a configuration."""
    times = plan.interval, plan.initial_delay, plan.min_pause
    environment = plan.slow_cleaning, plan.io_failures, len(plan.savepoint)
    return plan.profile.name, plan.sources, times, plan.coordinators, plan.hooks, *environment


def numbers_of(state: Coordinator) -> Numbers:
    """The numbers of a state's parts."""
    return Numbers(
        len(state.pending),
        len(state.queue),
        len(state.store.entries),
        len(state.unseen),
        len(state.failures.counted),
    )


def any_coordinator(plan: Plan, numbers: Numbers) -> Coordinator:
    """A coordinator with these numbers of parts, and symbols for all values that a step may change."""
    new = new_coordinator(plan, 1)
    every_task = (False,) * len(plan.sources)
    entry = Entry(0, CHECKPOINT)
    one = new_pending(0, 0, 0, every_task, forced=False, coordinators=plan.coordinators, hooks=plan.hooks)
    state: Coordinator = symbolic_like(
        new._replace(
            pending=(one,) * numbers.pending,
            queue=(Request(CHECKPOINT, False, False, False),) * numbers.waiting,
            store=new.store._replace(entries=(entry,) * numbers.stored),
            unseen=(entry,) * numbers.unseen,
            failures=Failures((0,) * numbers.counted, NONE),
        ),
        "state",
    )
    listens = plan.interval and plan.profile.follows_tasks
    scheduler = state.scheduler._replace(
        awaited=state.scheduler.awaited if listens else new.scheduler.awaited,
        awaits_former=state.scheduler.awaits_former if listens else False,
        unreported=state.scheduler.unreported if listens else every_task,
        postponed=False if plan.profile.queues_requests else state.scheduler.postponed,
    )
    return state._replace(
        plan=plan,
        status=any_word("state.status"),
        master=state.master if plan.coordinators or plan.hooks else NONE,
        turns=0,
        scheduler=scheduler if plan.interval else new.scheduler._replace(postponed=scheduler.postponed),
        pause_ends=state.pause_ends if plan.min_pause else 0,
        store=new.store._replace(entries=state.store.entries),
        shared=new.shared._replace(unclaimed=state.shared.unclaimed),
    )


def events(state: Coordinator) -> Iterator[Event]:
    """Yields an event of every class, with symbols for ids, handles, flags, types, times and words."""
    plan, checkpoint = state.plan, symbolic_like(0, "event.checkpoint")
    flags = symbolic_like((False,) * len(plan.sources), "event.tasks")
    yield JobStatus(any_word("event.status"))
    for task in range(len(plan.sources)):
        yield TaskStatus(task, any_word("event.status"))
        yield TriggerFails(task, checkpoint)
    yield symbolic_like(TriggerRequest(CHECKPOINT), "event")
    for task in (*range(len(plan.sources)), symbolic_like(0, "event.task")):
        yield AcknowledgeMessage(task, checkpoint, symbolic_like(0, "event.handle"))
    yield DeclineMessage(symbolic_like(0, "event.task"), checkpoint, any_word("event.reason"))
    yield symbolic_like(Advance(0), "event")
    yield symbolic_like(StoreFails(BEFORE), "event")
    yield symbolic_like(IoFails(METADATA), "event")
    yield Deleted()
    yield FailTasks(flags)
    yield RestoreRequest(())
    yield RestoreRequest(flags)
    yield CoordinatorRestart()
    yield JobEnd(any_word("event.status"))
    for is_hook, number in ((False, plan.coordinators), (True, plan.hooks)):
        for place in range(number):
            yield MasterAnswer(place, checkpoint, is_hook, symbolic_like(False, "event.fails"))


def promised(state: Coordinator, event: Event) -> tuple[z3.BoolRef, ...]:
    """The assumptions about an event: its words and types are known, and its amounts are not negative.

    If the number of the sender is a symbol, it is not in the plan. One event advances time by at most an
    interval of the scheduler.
    """
    if type(event) is TriggerRequest:
        return int_term(event.type) >= CHECKPOINT, int_term(event.type) <= STOP
    if type(event) is AcknowledgeMessage:
        unknown = () if type(event.task) is int else (int_term(event.task) >= len(state.plan.sources),)
        return (int_term(event.handle) >= 0, *unknown)
    if type(event) is DeclineMessage:
        return tuple(z3.Not(is_word(event.reason, own)) for own in OWN_REASONS)
    if type(event) is JobEnd:
        return (z3.Or(*(is_word(event.status, end) for end in ENDS)),)
    if type(event) is StoreFails:
        return int_term(event.when) >= BEFORE, int_term(event.when) <= MAYBE
    if type(event) is IoFails:
        return int_term(event.what) >= METADATA, int_term(event.what) <= ID
    if type(event) is Advance:
        most = (int_term(event.ms) <= state.plan.interval,) if state.plan.interval else ()
        return (int_term(event.ms) >= 0, *most)
    return ()


def is_word(symbol: object, word: str) -> z3.BoolRef:
    """The condition that the symbol is this word."""
    assert isinstance(symbol, SymbolicWord)
    return symbol.term == word_number(word)


@cache
def closed_coordinators() -> tuple[Closed, ...]:
    """The configurations of the published proofs, with maximum numbers of parts."""
    return (Closed(any_plan("2.3"), Numbers(1, 1, 1, 0, 0)),)


@cache
def thorough_coordinators() -> Mapping[str, Closed]:
    """Maps names to the configurations of a thorough verification, whose proofs take minutes."""
    few = Numbers(1, 0, 1, 0, 0)
    return {
        "2.3": Closed(any_plan("2.3"), Numbers(1, 1, 1, 1, 0)),
        "2.3-master": Closed(any_plan("2.3", hooks=1), few),
        "2.3-operator-coordinator": Closed(any_plan("2.3", coordinators=1), few),
        "2.3-two-pending": Closed(any_plan("2.3"), few._replace(pending=2, stored=0)),
        "2.3-counted": Closed(any_plan("2.3"), few._replace(counted=1)),
        "2.3-two-tasks": Closed(any_plan("2.3", sources=(True, False)), few),
        **{name: Closed(any_plan(name), few) for name in ("1.9", "1.14", "1.20")},
    }


def is_within(state: Coordinator) -> bool:
    """Whether the published closed proofs cover states with this configuration and these numbers."""
    return any(closed.holds(state) for closed in closed_coordinators())


def outside(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases whose states the published closed proofs do not cover."""
    return (case for case in cases if not is_within(case.state))


def sends(state: Coordinator, event: Event) -> bool:
    """Whether the environment may send the event: one flag for each task, no files, and known masters."""
    if type(event) is FailTasks:
        return len(event.failed) == len(state.tasks_run)
    if type(event) is RestoreRequest:
        return len(event.tasks) in (0, len(state.tasks_run))
    if type(event) is MasterAnswer:
        return event.place < (state.plan.hooks if event.is_hook else state.plan.coordinators)
    return type(event) is not AcknowledgeMessage or not event.shared
