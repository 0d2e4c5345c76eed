"""Generations of the coordinator and its store: one protocol, and the switches in which releases differ.

A profile is a set of switches, with which the properties check the steps, and of values that the steps read.
The steps of older generations stand in `model.coordinator.generations` and `model.store.generations`. The
names are those of the wire; each profile holds up to the next one. A name with a third number is that of a
patch release: `1.14.0` holds for 1.14.0 to 1.14.2, and `1.14` from 1.14.3 on; `1.15.0` holds for 1.15.0 and
1.15.1, `1.16.0` for 1.16.0 and 1.16.1, and `1.17` from 1.16.2 on.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from model.events import (
    ASYNC_EXCEPTION,
    CHECKPOINT_DECLINED,
    CHECKPOINT_EXPIRED,
    FINALIZE_CHECKPOINT_FAILURE,
    IO_EXCEPTION,
)


@dataclass(frozen=True, eq=False, repr=False)
class CoordinatorProfile:
    """The switches of one generation. Each profile is a single object, to which states refer."""

    name: str
    """The name on the wire: the first release of the generation."""
    proposed: bool = False
    """It comes of a public discussion: no released jar has it, and no default picks it."""

    # -------- requests
    queues_requests: bool = True
    """A request that may not start yet waits; else it is rejected, and the scheduler repeats it later."""
    turns_after_end: int = 2
    """Number of turns of waiting requests after the end of a checkpoint.

    The first follows the end, the second the deletion of its state. The difference is visible within the
    minimum pause, where each turn removes a periodic head of the queue.
    """
    turn_after_deletion: bool = True
    """One more turn for each checkpoint that the store has deleted."""
    limits_deletions: bool = True
    """A request waits while more deletions are under way than checkpoints may be pending."""
    counts_empty_deletions: bool = False
    """The deletion of an aborted checkpoint without collected state is under way; else it ends at once."""
    savepoints_may_wait: bool = True
    """With unaligned checkpoints savepoints are not forced; else they always are."""
    every_task_must_run: bool = True
    """Every task must run at the start, and running tasks are awaited; else sources, and all are awaited."""
    finished_tasks_prevent_start: bool = True
    """If only sources must run: any finished task prevents a start; else only a finished source does."""
    after_finish_configurable: bool = True
    """Checkpoints after tasks finish can be configured."""
    after_finish_by_default: bool = True
    """Checkpoints after tasks finish are on by default."""

    # -------- the scheduler
    follows_tasks: bool = True
    """The scheduler runs while the job runs and every reported execution runs or has finished.

    Executions that failed and no longer exist count too. The execution graph also starts a stopped scheduler
    whenever a task begins to run. Else the scheduler runs while the job does.
    """
    start_suspends: bool = False
    """A start of the scheduler first suspends all requests and pending checkpoints; else only if it ran."""
    restarts_after_pause: bool = True
    """From its second start on the scheduler waits for the minimum pause; else for its initial delay."""

    abort_begins_anew: bool = False
    """An abort that leaves no checkpoint pending drops a postponed request.

    A running scheduler then waits for its initial delay again, and does not repeat the request at once.
    """

    # -------- the master phase
    abort_ends_master_phase: bool = True
    """The master phase ends with its checkpoint; else it lasts until the awaited masters have answered."""
    counts_failed_start: bool = True
    """A checkpoint that ends in its master phase fails once more, as a failed start."""

    # -------- messages
    lost_triggers_abort: bool = True
    """A trigger that could not be delivered aborts its checkpoint; else it has no effect."""
    abort_notifications: bool = True
    """The coordinator notifies tasks of aborts; else they work on."""
    registers_at_acknowledgement: bool = True
    """Shared state is registered at the acknowledgement, until no newer checkpoint may use it.

    Else it is registered at the completion, and counted by the checkpoints that use it.
    """
    restore_registers_anew: bool = False
    """A restore creates a new registry of shared state from the retained checkpoints."""

    # -------- completion
    stores_savepoints: bool = False
    """Savepoints replace older checkpoints and are notified like checkpoints; else they are not."""
    forced_not_subsumed: bool = False
    """A forced checkpoint is not subsumed; else a savepoint is not."""
    completes_before_storing: bool = False
    """A checkpoint is reported complete before it is stored."""
    counts_success_before_storing: bool = False
    """A checkpoint is counted as a success before it is stored, even if the store then fails."""
    keeps_possibly_stored: bool = True
    """A checkpoint that may be stored is kept, although its addition failed."""
    protects_newest_checkpoint: bool = True
    """The store keeps its newest checkpoint from savepoints; else it drops the oldest of any type."""
    subsumed_notifications: bool = True
    """The coordinator notifies tasks of the checkpoint that the store has dropped."""

    # -------- failures
    counted: tuple[str, ...] = (
        CHECKPOINT_DECLINED,
        ASYNC_EXCEPTION,
        CHECKPOINT_EXPIRED,
        IO_EXCEPTION,
        FINALIZE_CHECKPOINT_FAILURE,
    )
    """The reasons that count."""
    counts_failed_store: bool = True
    """A failed addition to the store counts."""
    counts_in_order: bool = True
    """Only the highest success clears the count, and failures up to it do not count."""
    declines_count_for_all_types: bool = True
    """The coordinator's own failures count for checkpoints only; a stop fails the job if a task fails it."""
    failed_stops_count_too: bool = False
    """A stop that fails, fails the job as soon as it is aborted, and then counts like any other."""

    # -------- regional checkpoints
    region_failed_percent: int = 0
    """Percentage of regions that may fail in a checkpoint that completes."""
    region_consecutive: int = 0
    """Number of such checkpoints after which the next one has to be global."""

    def __repr__(self) -> str:
        return f"{self.name}, no released jar" if self.proposed else f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickles to the one object of that name, also in another process."""
        return _profile_of, (self.name,)


_NO_FINALIZATION = (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED, IO_EXCEPTION)


def _up_to_1_17(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "counts_success_before_storing": True,
        "follows_tasks": False,
        "start_suspends": True,
        "restarts_after_pause": False,
        "counts_failed_store": False,
        "counts_empty_deletions": True,
    }
    return CoordinatorProfile(name, **{**switches, **older})  # type: ignore[arg-type]


def _up_to_1_15(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "turn_after_deletion": False,
        "abort_ends_master_phase": False,
        "counts_failed_start": False,
        "completes_before_storing": True,
    }
    return _up_to_1_17(name, **{**switches, **older})


def _up_to_1_14(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "after_finish_by_default": False,
        "registers_at_acknowledgement": False,
        "restore_registers_anew": True,
        "stores_savepoints": True,
        "subsumed_notifications": False,
        "counted": _NO_FINALIZATION,
    }
    return _up_to_1_15(name, **{**switches, **older})


def _up_to_1_13(name: str, **older: object) -> CoordinatorProfile:
    return _up_to_1_14(
        name,
        after_finish_configurable=False,
        declines_count_for_all_types=False,
        lost_triggers_abort=False,
        **{"counted": (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED), **older},
    )


def _profile_of(name: str) -> CoordinatorProfile:
    return profile_of(name)


COORDINATOR_PROFILES: Mapping[str, CoordinatorProfile] = {
    profile.name: profile
    for profile in (
        _up_to_1_13(
            "1.9",
            queues_requests=False,
            limits_deletions=False,
            savepoints_may_wait=False,
            every_task_must_run=False,
            finished_tasks_prevent_start=False,
            abort_notifications=False,
            turns_after_end=0,
            forced_not_subsumed=True,
            abort_begins_anew=True,
            failed_stops_count_too=True,
            keeps_possibly_stored=False,
            protects_newest_checkpoint=False,
            counted=(CHECKPOINT_DECLINED,),
            counts_in_order=False,
        ),
        _up_to_1_13(
            "1.11",
            limits_deletions=False,
            turns_after_end=1,
            every_task_must_run=False,
            finished_tasks_prevent_start=False,
            keeps_possibly_stored=False,
            protects_newest_checkpoint=False,
            counts_in_order=False,
        ),
        _up_to_1_13("1.12", every_task_must_run=False, finished_tasks_prevent_start=False),
        _up_to_1_13("1.13", every_task_must_run=False),
        _up_to_1_14("1.14.0", declines_count_for_all_types=False),
        _up_to_1_14("1.14"),
        _up_to_1_15("1.15.0", counted=_NO_FINALIZATION),
        _up_to_1_15("1.15"),
        _up_to_1_17("1.16.0", completes_before_storing=True),
        _up_to_1_17("1.17"),
        CoordinatorProfile(
            "1.18", follows_tasks=False, restarts_after_pause=False, counts_empty_deletions=True
        ),
        *(
            CoordinatorProfile(name, follows_tasks=False, restarts_after_pause=False)
            for name in ("1.19", "1.20")
        ),
        CoordinatorProfile("2.3"),
    )
}
"""By name, oldest first."""

NEWEST_COORDINATOR = COORDINATOR_PROFILES["2.3"]
"""The rules COORD-01 to COORD-12 and SUB-02 to SUB-09 in the newest generation."""

PROPOSED_COORDINATORS: Mapping[str, CoordinatorProfile] = {
    "proposed-FLIP-600": CoordinatorProfile(
        "proposed-FLIP-600",
        proposed=True,
        limits_deletions=False,  # the discussion leaves it out
        region_failed_percent=50,
        region_consecutive=2,
    )
}
"""By name; the discussion names no defaults for the two bounds."""


def profile_of(name: str) -> CoordinatorProfile:
    """The generation of that name, released or proposed. Raises KeyError if there is none."""
    return PROPOSED_COORDINATORS.get(name) or COORDINATOR_PROFILES[name]
