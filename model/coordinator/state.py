"""The state of one job's coordinator: plan, tasks, waiting requests, pending and completed checkpoints.

Tasks, operator coordinators and hooks are identified by their positions in the configuration. Time is a
number of milliseconds, which events advance.
"""

from typing import NamedTuple

from model.coordinator.failures import Failures, new_failures
from model.coordinator.pending import Pending
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.coordinator.requests import Request
from model.coordinator.shared_state import SharedState, new_shared_state
from model.events import NONE
from model.store.store import CHECKPOINT, SAVEPOINT, Entry, Store, latest, new_store

RUNNING = "RUNNING"
FINISHED = "FINISHED"
CREATED = "CREATED"
RESTARTING = "RESTARTING"

# The claim modes of a job that starts from a savepoint or retained checkpoint. Up to 1.14 only LEGACY exists.
LEGACY = 0
CLAIM = 1
NO_CLAIM = 2

UNLIMITED = -1
"""The job tolerates any number of failures, so the coordinator counts none."""


class Plan(NamedTuple):
    """The configuration of a job. It never changes."""

    sources: tuple[bool, ...]
    """By task: the task is a source, so the coordinator triggers it."""
    timeout: int
    """Maximum time in ms for which a checkpoint may be pending."""
    max_concurrent: int
    """Limit of pending checkpoints. While it is reached, further requests wait."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR
    interval: int = 0
    """Time in ms between two requests of the scheduler. 0: no periodic requests."""
    initial_delay: int = 0
    """Time in ms before the first periodic request."""
    min_pause: int = 0
    """Minimum time in ms between a completion and the next periodic start."""
    tolerable_failures: int = UNLIMITED
    unaligned: bool = False
    """The job has unaligned checkpoints. Savepoints are then not forced."""
    finished_tasks: bool = True
    """Checkpoints continue after tasks have finished."""
    retains_on_cancellation: bool = False
    """A job that was cancelled or failed keeps its completed checkpoints."""
    coordinators: int = 0
    """Number of operator coordinators."""
    hooks: int = 0
    """Number of master hooks."""
    slow_cleaning: bool = False
    """Each deletion is under way until the event `deleted`. Else it ends at once."""
    io_failures: bool = False
    """The event `io_fails` can occur, after which an input or output of the coordinator fails."""
    savepoint: tuple[int, ...] = ()
    """The id of the savepoint or retained checkpoint from which the job starts, as a tuple. Empty: none."""
    claim_mode: int = LEGACY
    """The claim mode of this savepoint: CLAIM, NO_CLAIM or LEGACY."""


class Scheduler(NamedTuple):
    """The timer of periodic requests, and the job's listener."""

    runs: bool
    due: int
    """Virtual time in ms of the next request. -1 if no request is due."""
    delay: int
    """Delay in ms of the first request after the next start of the scheduler."""
    follows: bool
    """The listener has started the scheduler. It may not run, because a stop-with-savepoint also stops it."""
    postponed: bool
    """A request was rejected, and the scheduler repeats it when a checkpoint ends. Only up to 1.10."""
    awaited: tuple[bool, ...]
    """By task: the last reported status of its execution is neither running nor finished."""
    awaits_former: bool
    """The listener also awaits an execution that no longer exists and never reports again."""
    unreported: tuple[bool, ...]
    """By task: it has a new execution, which has not reported yet. It reports when the job runs."""


class Io(NamedTuple):
    """The planned failures of the coordinator's inputs and outputs."""

    metadata: bool = False
    """The metadata of the next complete checkpoint cannot be written."""
    location: bool = False
    """The storage location of the next checkpoint cannot be initialised."""
    id: bool = False
    """The next id cannot be drawn."""


class Regional(NamedTuple):
    """The additional state of a coordinator whose checkpoints can fall back: proposed, in no released jar."""

    consecutive: int = 0
    """Number of checkpoints that have fallen back since the last global one."""
    declined: tuple[tuple[int, tuple[bool, ...]], ...] = ()
    """For each pending checkpoint with a decline: its id, and by task, whether the task has declined."""
    references: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """For each retained checkpoint that fell back: its id, and by task, the checkpoint with the snapshot."""
    held: tuple[int, ...] = ()
    """Dropped checkpoints to which retained ones refer."""


class Coordinator(NamedTuple):
    """The coordinator of one job."""

    plan: Plan
    status: str
    """The status of the job. Checkpoints start only while it is RUNNING."""
    tasks_run: tuple[bool, ...]
    tasks_finished: tuple[bool, ...]
    tasks_reached: tuple[bool, ...]
    """By task: it was deployed at some time. The coordinator notifies only such tasks."""
    now: int
    """Virtual time in ms."""
    next_id: int
    pending: tuple[Pending, ...]
    """The pending checkpoints, ascending by id."""
    master: int
    """The id of the checkpoint in its master phase: its tasks are not triggered yet. -1 if there is none."""
    outlived: tuple[Pending, ...]
    """The checkpoint in its master phase, if it was aborted and the phase continues. Only up to 1.15."""
    turns: int
    """Number of turns, in addition to the first one, that waiting requests still get within this event."""
    queue: tuple[Request, ...]
    """Waiting requests, head first."""
    scheduler: Scheduler
    pause_ends: int
    """Virtual time in ms until which periodic requests are too early."""
    failures: Failures
    store: Store
    fault: int
    """The way in which the next addition to the store fails. 0: it does not fail."""
    unseen: tuple[Entry, ...]
    """Checkpoints that are durable although their addition failed."""
    shared: SharedState
    open: bool
    """The coordinator has not shut down."""
    regional: Regional = Regional()
    deletions: tuple[bool, ...] = ()
    """For each deletion under way, oldest first: whether waiting requests get a turn when it ends."""
    io: Io = Io()


def new_coordinator(plan: Plan, retain: int) -> Coordinator:
    """The coordinator of a new job. It retains the savepoint from which the job starts, if any (COORD-37)."""
    return Coordinator(
        plan=plan,
        status=CREATED,
        tasks_run=(False,) * len(plan.sources),
        tasks_finished=(False,) * len(plan.sources),
        tasks_reached=(False,) * len(plan.sources),
        now=0,
        next_id=plan.savepoint[0] + 1 if plan.savepoint else 1,
        pending=(),
        master=NONE,
        outlived=(),
        turns=0,
        queue=(),
        scheduler=new_scheduler(plan),
        pause_ends=0,
        failures=new_failures(),
        store=new_store(retain, plan.profile)._replace(entries=restored_entries(plan)),
        fault=0,
        unseen=(),
        shared=restored_files(plan),
        open=True,
    )


def restored_entries(plan: Plan) -> tuple[Entry, ...]:
    """The entry of the restored savepoint, if any. With CLAIM it is stored as a checkpoint (SUB-13)."""
    return tuple(
        Entry(checkpoint, CHECKPOINT if plan.claim_mode == CLAIM else SAVEPOINT)
        for checkpoint in plan.savepoint
    )


def holds_savepoint(coordinator: Coordinator) -> bool:
    """Whether the store retains the restored savepoint."""
    entries = coordinator.store.entries
    return any(entry.checkpoint == savepoint for savepoint in coordinator.plan.savepoint for entry in entries)


def restored_files(plan: Plan) -> SharedState:
    """The registry of a new job. From 1.15 on it deletes no file of a savepoint in claim mode LEGACY."""
    keeps = plan.savepoint and plan.profile.has_claim_modes and plan.claim_mode == LEGACY
    return new_shared_state()._replace(unclaimed=plan.savepoint[0] if keeps else NONE)


def unclaimed(plan: Plan) -> tuple[int, ...]:
    """The restored savepoint, if the job does not own it."""
    return () if not plan.savepoint or plan.claim_mode == CLAIM else plan.savepoint


def triggers_full(coordinator: Coordinator) -> bool:
    """Whether checkpoints are full: the mode is NO_CLAIM and no checkpoint has completed (COORD-38)."""
    plan = coordinator.plan
    newest = latest(coordinator.store)
    return any(plan.claim_mode == NO_CLAIM and newest == savepoint for savepoint in plan.savepoint)


def new_scheduler(plan: Plan) -> Scheduler:
    """A stopped scheduler."""
    return Scheduler(
        runs=False,
        due=NONE,
        delay=plan.initial_delay,
        follows=False,
        postponed=False,
        awaited=(True,) * len(plan.sources),
        awaits_former=False,
        unreported=(False,) * len(plan.sources),
    )


def to_trigger(coordinator: Coordinator, pending: Pending) -> tuple[int, ...]:
    """The tasks that the coordinator triggers: sources that take part, or all such tasks (COORD-04)."""
    plan = coordinator.plan
    sources_left = any(takes and source for takes, source in zip(pending.tasks, plan.sources, strict=True))
    return tuple(
        task
        for task, (takes, source) in enumerate(zip(pending.tasks, plan.sources, strict=True))
        if takes and (source or not sources_left)
    )


def find(pending: tuple[Pending, ...], checkpoint: int) -> Pending | None:
    """The pending checkpoint with that id, or None."""
    for candidate in pending:
        if candidate.checkpoint == checkpoint:
            return candidate
    return None


def replace_pending(coordinator: Coordinator, changed: Pending) -> Coordinator:
    """The coordinator with one pending checkpoint replaced by `changed`."""
    return coordinator._replace(
        pending=tuple(
            changed if other.checkpoint == changed.checkpoint else other for other in coordinator.pending
        )
    )


def drop_pending(coordinator: Coordinator, ended: Pending) -> Coordinator:
    """The coordinator without the pending checkpoint `ended`."""
    remaining = tuple(other for other in coordinator.pending if other.checkpoint != ended.checkpoint)
    return coordinator._replace(pending=remaining)
