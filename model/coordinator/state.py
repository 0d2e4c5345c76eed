"""What the coordinator of one job knows: its plan, its tasks, what waits, what is pending, what is kept.

Tasks are known by their position in the plan, operator coordinators and hooks by their place in the
configuration, time as a number of ms that events advance.
"""

from typing import NamedTuple

from model.coordinator.failures import Failures, new_failures
from model.coordinator.pending import Pending
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.coordinator.requests import Request
from model.coordinator.shared_state import SharedState, new_shared_state
from model.events import NONE
from model.store.store import Entry, Store, new_store

RUNNING = "RUNNING"
FINISHED = "FINISHED"
CREATED = "CREATED"
RESTARTING = "RESTARTING"

UNLIMITED = -1
"""So many failures are tolerated that they need not be counted."""


class Plan(NamedTuple):
    """What does not change while the job lives."""

    sources: tuple[bool, ...]
    """One flag for each task: it is triggered by the coordinator."""
    timeout: int
    """In ms: how long a checkpoint may stay pending."""
    max_concurrent: int
    """How many may be pending before further checkpoints wait."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR
    interval: int = 0
    """In ms, between the scheduler's requests; 0: there are none."""
    initial_delay: int = 0
    """In ms, before the first of them."""
    min_pause: int = 0
    """In ms, between a completion and the next periodic start."""
    tolerable_failures: int = UNLIMITED
    unaligned: bool = False
    """Savepoints are not forced."""
    finished_tasks: bool = True
    """Checkpoints go on after tasks have finished."""
    retains_on_cancellation: bool = False
    """A job that was cancelled or failed leaves its completed checkpoints behind."""
    coordinators: int = 0
    """How many operator coordinators there are."""
    hooks: int = 0
    """How many master hooks there are."""


class Scheduler(NamedTuple):
    """The coordinator's own clock for periodic requests."""

    runs: bool
    due: int
    """Virtual time in ms of its next request, -1 if none is due."""
    delay: int
    """In ms: how long its next start will wait for the first request."""
    follows: bool
    """The job's listener has it running; a stop-with-savepoint lets it stand still behind its back."""
    put_off: bool
    """A request was sent away, and the next end of a checkpoint makes up for it."""
    awaited: tuple[bool, ...]
    """For each task: its execution was last heard of as one that neither runs nor has finished."""
    awaits_former: bool
    """So was one that is no more, and nothing will be heard of it again."""
    unheard: tuple[bool, ...]
    """For each task: it has a new execution, which is heard of when the job runs."""


class Coordinator(NamedTuple):
    """The coordinator of one job."""

    plan: Plan
    status: str
    """Of the job; only RUNNING lets checkpoints start."""
    tasks_run: tuple[bool, ...]
    tasks_finished: tuple[bool, ...]
    tasks_reached: tuple[bool, ...]
    """Those that were deployed at some time: there is somebody to tell."""
    now: int
    """Virtual time in ms."""
    next_id: int
    pending: tuple[Pending, ...]
    """Ascending by id."""
    master: int
    """The checkpoint in its master phase: sources are not triggered yet. -1 if there is none."""
    outlived: tuple[Pending, ...]
    """The checkpoint in its master phase, if it was aborted and the phase goes on; else none."""
    turns: int
    """How often what waits is still to get its turn within this event, beyond the first time."""
    queue: tuple[Request, ...]
    """Waiting requests, head first."""
    scheduler: Scheduler
    pause_ends: int
    """Virtual time in ms until which periodic requests come too early."""
    failures: Failures
    store: Store
    fault: int
    """How the next addition to the store fails; 0: it does not."""
    unseen: tuple[Entry, ...]
    """What is durable although its addition failed."""
    shared: SharedState
    open: bool
    """Not shut down."""


def new_coordinator(plan: Plan, retain: int) -> Coordinator:
    """The coordinator of a job whose tasks do not run yet."""
    return Coordinator(
        plan=plan,
        status=CREATED,
        tasks_run=(False,) * len(plan.sources),
        tasks_finished=(False,) * len(plan.sources),
        tasks_reached=(False,) * len(plan.sources),
        now=0,
        next_id=1,
        pending=(),
        master=NONE,
        outlived=(),
        turns=0,
        queue=(),
        scheduler=new_scheduler(plan),
        pause_ends=0,
        failures=new_failures(),
        store=new_store(retain, plan.profile),
        fault=0,
        unseen=(),
        shared=new_shared_state(),
        open=True,
    )


def new_scheduler(plan: Plan) -> Scheduler:
    """A scheduler that stands still."""
    return Scheduler(
        runs=False,
        due=NONE,
        delay=plan.initial_delay,
        follows=False,
        put_off=False,
        awaited=(True,) * len(plan.sources),
        awaits_former=False,
        unheard=(False,) * len(plan.sources),
    )


def can_start(coordinator: Coordinator) -> bool:
    """Job and tasks all run (COORD-01), or have finished where that is allowed."""
    plan = coordinator.plan
    if coordinator.status != RUNNING:
        return False
    if plan.profile.awaits_every_task:
        if plan.profile.minds_finished_tasks and any(coordinator.tasks_finished):
            return False
        return all(
            runs or not source for runs, source in zip(coordinator.tasks_run, plan.sources, strict=True)
        )
    if plan.finished_tasks:
        return all(
            runs or over for runs, over in zip(coordinator.tasks_run, coordinator.tasks_finished, strict=True)
        )
    return all(coordinator.tasks_run)


def taking_part(coordinator: Coordinator) -> tuple[bool, ...]:
    """The tasks that a checkpoint which starts now awaits: one flag for each."""
    if coordinator.plan.profile.awaits_every_task:
        return (True,) * len(coordinator.tasks_run)
    return coordinator.tasks_run


def to_trigger(coordinator: Coordinator, pending: Pending) -> tuple[int, ...]:
    """The tasks that begin it: sources, and those whose sources have all finished (COORD-04)."""
    plan = coordinator.plan
    sources_left = any(takes and source for takes, source in zip(pending.tasks, plan.sources, strict=True))
    return tuple(
        task
        for task, (takes, source) in enumerate(zip(pending.tasks, plan.sources, strict=True))
        if takes and (source or not sources_left)
    )


def find(pending: tuple[Pending, ...], checkpoint: int) -> Pending | None:
    """The pending checkpoint with that id, if it is pending."""
    for candidate in pending:
        if candidate.checkpoint == checkpoint:
            return candidate
    return None


def replace_pending(coordinator: Coordinator, changed: Pending) -> Coordinator:
    """The same pending checkpoints, with what has become of one of them."""
    return coordinator._replace(
        pending=tuple(
            changed if other.checkpoint == changed.checkpoint else other for other in coordinator.pending
        )
    )


def drop_pending(coordinator: Coordinator, ended: Pending) -> Coordinator:
    """The checkpoint is pending no more."""
    remaining = tuple(other for other in coordinator.pending if other.checkpoint != ended.checkpoint)
    return coordinator._replace(pending=remaining)
