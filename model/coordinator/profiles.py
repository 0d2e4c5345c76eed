"""The generations of the coordinator and its store, described by the switches in which releases differ.

A profile is a set of switches and values. The properties check the steps against the switches. The steps read
the values. The modules `model.coordinator.generations` and `model.store.generations` hold the steps of older
generations. The adapter protocol uses the names of the profiles. A profile describes its release and the
later releases up to the next profile. A name with a third number names a patch release: `1.14.0` describes
1.14.0 to 1.14.2, `1.14.3` describes 1.14.3 and 1.14.4, and `1.14` describes 1.14.5 and 1.14.6. `1.15.0`
describes 1.15.0 and 1.15.1. `1.16.0` describes 1.16.0 and 1.16.1, and `1.17` begins with 1.16.2.
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
    """The switches of one generation. There is one object for each generation, which all states share."""

    name: str
    """The name in the adapter protocol."""
    proposed: bool = False
    """The generation comes from a public discussion. No released jar has it, and no default selects it."""

    # -------- requests
    queues_requests: bool = True
    """A request that is not allowed to start yet waits in a queue.

    Else it is rejected, and the scheduler repeats a periodic request later.
    """
    turns_after_end: int = 2
    """Number of turns that waiting requests get when a checkpoint ends.

    The first turn follows the end, and the second turn follows the deletion of the checkpoint's state. The
    number has an effect only within the minimum pause: each turn then rejects one periodic request at the
    head of the queue.
    """
    turn_after_deletion: bool = True
    """Waiting requests get one more turn for each checkpoint that the store has deleted."""
    limits_deletions: bool = True
    """Requests wait while the number of deletions under way exceeds the limit of pending checkpoints."""
    counts_empty_deletions: bool = False
    """The deletion of an aborted checkpoint without state may also take time. Else it ends at once."""
    savepoints_may_wait: bool = True
    """In a job with unaligned checkpoints, savepoints are not forced. Else every savepoint is forced."""
    every_task_must_run: bool = True
    """A checkpoint starts only if every unfinished task runs, and it awaits the running tasks.

    Else it starts if all sources run, and it awaits all tasks.
    """
    finished_tasks_prevent_start: bool = True
    """Where only sources must run, any finished task prevents a start. Else only a finished source does."""
    after_finish_configurable: bool = True
    """Checkpoints after tasks finish can be configured."""
    after_finish_by_default: bool = True
    """Checkpoints after tasks finish are on by default."""

    # -------- the scheduler
    follows_tasks: bool = True
    """The scheduler runs while the job runs and every execution runs or has finished, by its last report.

    This includes executions that no longer exist. In addition, the execution graph starts a stopped scheduler
    when a task begins to run. Else the scheduler runs while the job runs.
    """
    start_suspends: bool = False
    """Each start of the scheduler first rejects waiting requests and aborts pending checkpoints.

    Else a start does this only if the scheduler already runs.
    """
    restarts_after_pause: bool = True
    """From its second start on, the scheduler waits for the minimum pause. Else for the initial delay."""

    abort_begins_anew: bool = False
    """An abort that leaves no checkpoint pending drops a postponed request.

    A running scheduler then waits for its initial delay again, and does not repeat the request at once.
    """

    # -------- the master phase
    abort_ends_master_phase: bool = True
    """The abort of a checkpoint ends its master phase. Else the phase lasts until masters have answered."""
    counts_failed_start: bool = True
    """The abort of a checkpoint in its master phase counts as two failures: the abort and a failed start."""

    counts_failed_io: bool = True
    """A failed input or output at the start counts as a failure, with IO_EXCEPTION (FLINK-24384)."""

    location_first: bool = False
    """The storage location is initialised before the checkpoint is pending. Else it is initialised later."""
    names_failed_io: bool = True
    """After a failed input or output, the request is rejected with IO_EXCEPTION. Else with another reason."""

    # -------- starts from a savepoint
    restores_savepoints: bool = True
    """The model has jobs that start from a savepoint. Else the model of the generation omits them."""
    has_claim_modes: bool = True
    """A job that starts from a savepoint has a claim mode. Else it behaves as in LEGACY."""

    # -------- messages
    lost_triggers_abort: bool = True
    """A trigger that is lost aborts its checkpoint. Else it has no effect."""
    abort_notifications: bool = True
    """The coordinator notifies tasks of aborts. Else tasks continue their snapshots."""
    registers_at_acknowledgement: bool = True
    """An acknowledgement registers shared state. It stays registered until no newer checkpoint can use it.

    Else a completion registers shared state, and the registry counts the checkpoints that use it.
    """
    restore_registers_anew: bool = False
    """A restore replaces the registry of shared state by a new one, made from the retained checkpoints."""

    # -------- completion
    stores_savepoints: bool = False
    """A completed savepoint is stored, it subsumes older checkpoints, and the tasks are notified of it.

    Else none of the three happens.
    """
    forced_not_subsumed: bool = False
    """A newer checkpoint does not subsume forced ones. Else it does not subsume savepoints."""
    completes_before_storing: bool = False
    """A checkpoint is reported complete before it is stored."""
    counts_success_before_storing: bool = False
    """A checkpoint counts as a success before it is stored, so even if the store then fails."""
    keeps_possibly_stored: bool = True
    """If it is unknown whether the store has stored a checkpoint, the coordinator does not delete it."""
    protects_newest_checkpoint: bool = True
    """The store never drops its newest checkpoint when a savepoint is added, except by stop-with-savepoint.

    Else the store drops the oldest entry of any type.
    """
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
    """The reasons for which a failure of a checkpoint counts toward the number that the job tolerates."""
    counts_failed_store: bool = True
    """A failed addition to the store counts as a failure."""
    counts_in_order: bool = True
    """Only a success with a higher id than all earlier ones clears the count of failures.

    A failure counts only if its id is above the highest success. Else every success clears the count, and the
    failures of all ids count.
    """
    declines_count_for_all_types: bool = True
    """A failure that a task reports counts for checkpoints and savepoints. Others count for checkpoints only.

    A stop-with-savepoint fails the job only if a task reports the failure. Else all failures count for both
    types, and every failure of a stop that has started fails the job.
    """
    failed_stops_count_too: bool = False
    """The abort of a stop-with-savepoint fails the job, and also counts like that of any other checkpoint."""

    # -------- regional checkpoints
    region_failed_percent: int = 0
    """Maximum percentage of regions that can fail in a checkpoint that completes."""
    region_consecutive: int = 0
    """Number of consecutive checkpoints that may fall back. The next one must have all snapshots (global)."""

    def __repr__(self) -> str:
        return f"{self.name}, no released jar" if self.proposed else f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickling returns the existing profile of this name, also in another process."""
        return _profile_of, (self.name,)


_NO_FINALIZATION = (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED, IO_EXCEPTION)


def _up_to_1_19(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "follows_tasks": False,
        "start_suspends": True,
        "restarts_after_pause": False,
    }
    return CoordinatorProfile(name, **{**switches, **older})  # type: ignore[arg-type]


def _up_to_1_17(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "counts_success_before_storing": True,
        "counts_failed_store": False,
        "counts_empty_deletions": True,
    }
    return _up_to_1_19(name, **{**switches, **older})


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
        "has_claim_modes": False,
        "registers_at_acknowledgement": False,
        "restore_registers_anew": True,
        "stores_savepoints": True,
        "subsumed_notifications": False,
        "counted": _NO_FINALIZATION,
    }
    return _up_to_1_15(name, **{**switches, **older})


def _up_to_1_14_4(name: str, **older: object) -> CoordinatorProfile:
    return _up_to_1_14(name, **{"location_first": True, **older})


def _up_to_1_13(name: str, **older: object) -> CoordinatorProfile:
    return _up_to_1_14_4(
        name,
        after_finish_configurable=False,
        declines_count_for_all_types=False,
        lost_triggers_abort=False,
        names_failed_io=False,
        counts_failed_io=False,
        **{"counted": (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED), **older},
    )


def _profile_of(name: str) -> CoordinatorProfile:
    return profile_of(name)


COORDINATOR_PROFILES: Mapping[str, CoordinatorProfile] = {
    profile.name: profile
    for profile in (
        _up_to_1_13(
            "1.9",
            restores_savepoints=False,
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
            restores_savepoints=False,
            limits_deletions=False,
            turns_after_end=1,
            every_task_must_run=False,
            finished_tasks_prevent_start=False,
            keeps_possibly_stored=False,
            protects_newest_checkpoint=False,
            counts_in_order=False,
        ),
        _up_to_1_13(
            "1.12", restores_savepoints=False, every_task_must_run=False, finished_tasks_prevent_start=False
        ),
        _up_to_1_13("1.13", every_task_must_run=False),
        _up_to_1_14_4("1.14.0", declines_count_for_all_types=False, counts_failed_io=False),
        _up_to_1_14_4("1.14.3"),
        _up_to_1_14("1.14"),
        _up_to_1_15("1.15.0", counted=_NO_FINALIZATION),
        _up_to_1_15("1.15"),
        _up_to_1_17("1.16.0", completes_before_storing=True),
        _up_to_1_17("1.17"),
        _up_to_1_19("1.18", counts_empty_deletions=True),
        _up_to_1_19("1.19"),
        CoordinatorProfile("1.20", follows_tasks=False, restarts_after_pause=False),
        CoordinatorProfile("2.3"),
    )
}
"""Maps the name of each profile to the profile, oldest first."""

NEWEST_COORDINATOR = COORDINATOR_PROFILES["2.3"]
"""The newest generation. The modules of `model.coordinator` describe it."""

PROPOSED_COORDINATORS: Mapping[str, CoordinatorProfile] = {
    "proposed-FLIP-600": CoordinatorProfile(
        "proposed-FLIP-600",
        proposed=True,
        limits_deletions=False,  # the discussion does not mention it
        region_failed_percent=50,
        region_consecutive=2,
    )
}
"""The proposed generations by name. The discussion states no defaults for the two `region_` bounds."""


def profile_of(name: str) -> CoordinatorProfile:
    """The generation of that name, released or proposed. Raises KeyError if there is none."""
    return PROPOSED_COORDINATORS.get(name) or COORDINATOR_PROFILES[name]
