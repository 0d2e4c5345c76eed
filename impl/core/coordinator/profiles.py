"""Generations of the coordinator and its store: the switches in which the releases of Flink differ.

`COORDINATOR_PROFILES` maps each value of the option `profile` to the switches of that generation. The
defaults are the switches of the oldest generation. Each later generation sets the switches that it changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class CoordinatorProfile:
    """The switches of one generation.

    Each docstring states the behaviour with the switch, and after "else" the behaviour without it.
    """

    queues_requests: bool = False
    """A request that is not allowed to start yet is queued.

    Else it is rejected, and the scheduler repeats a periodic request later.
    """
    turns_after_end: int = 0
    """Number of turns of waiting requests after the end of a checkpoint.

    The first turn follows the end, and the second turn follows the deletion of the checkpoint's state. The
    number is visible within the minimum pause, where each turn removes one periodic head of the queue.
    """
    turn_after_deletion: bool = False
    """Waiting requests get one more turn for each checkpoint that the store has deleted."""
    limits_deletions: bool = False
    """A request waits while more deletions are under way than the limit of pending checkpoints."""
    counts_empty_deletions: bool = False
    """The deletion of an aborted checkpoint lasts even if no state was collected. Else it ends at once."""
    plans_later: bool = False
    """The coordinator determines the tasks of a new checkpoint after the event, not within it.

    Other turns of the event then have no effect.
    """
    savepoints_may_wait: bool = False
    """In a job with unaligned checkpoints, savepoints are not forced. Else every savepoint is forced."""
    forced_not_subsumed: bool = True
    """A forced checkpoint is not subsumed. Else a savepoint is not subsumed."""
    abort_notifications: bool = False
    """The coordinator notifies tasks of aborts. Else tasks continue their snapshots (FLINK-8871)."""
    coordinators_and_hooks: bool = False
    """Operator coordinators and hooks can be configured."""

    abort_ends_master_phase: bool = False
    """The master phase ends with its checkpoint. Else it lasts until the awaited masters have answered.

    Changed by FLINK-26394.
    """
    counts_failed_start: bool = False
    """A checkpoint that is aborted in its master phase counts a second time, as a failed start."""

    counts_failed_io: bool = False
    """A start that fails by input or output counts, as IO_EXCEPTION (FLINK-24384)."""

    location_first: bool = True
    """The storage location is initialised before a checkpoint is pending. Else it is initialised later."""
    restores_savepoints: bool = False
    """The option `restored_savepoint` can be configured."""
    has_claim_modes: bool = False
    """A job that starts from a savepoint has a claim mode. Else it behaves as in LEGACY (FLIP-193)."""

    names_io_failures: bool = False
    """A request that fails by input or output is rejected with IO_EXCEPTION. Else with a general reason."""

    protects_newest_checkpoint: bool = False
    """The store never drops its newest checkpoint because a savepoint is added (FLINK-21351).

    The exception is a stop-with-savepoint. Without the switch, the store drops the oldest entry of any type.
    """
    keeps_possibly_stored: bool = False
    """The coordinator keeps a checkpoint if it is unknown whether the store has stored it."""

    every_task_must_run: bool = False
    """A checkpoint starts only if every unfinished task runs, and it awaits the running tasks (COORD-01).

    Else it starts if the sources run, and it awaits all tasks.
    """
    finished_tasks_prevent_start: bool = False
    """If only sources must run: any finished task prevents a start. Else only a finished source does."""
    after_finish_configurable: bool = False
    """Checkpoints after tasks finish can be configured."""
    after_finish_by_default: bool = False
    """Checkpoints after tasks finish are on by default."""
    lost_triggers_abort: bool = False
    """A trigger that is lost aborts its checkpoint. Else it has no effect (FLINK-21246)."""

    stores_savepoints: bool = True
    """A savepoint is stored and subsumes older checkpoints, and the tasks are notified of it.

    Else the completion of a savepoint does none of the three. Changed by FLINK-25191.
    """
    subsumed_notifications: bool = False
    """The coordinator notifies tasks of the checkpoint that the store has dropped."""
    registers_at_acknowledgement: bool = False
    """The acknowledgement registers shared state, until no newer checkpoint can use it.

    Else the completion registers shared state, and the registry counts the checkpoints that use it.
    """
    restore_registers_anew: bool = True
    """A restore reduces the registry of shared state to the retained checkpoints. Else the registry stays."""
    completes_before_storing: bool = True
    """A checkpoint is reported complete before it is stored. Else after it is stored (FLINK-31077)."""

    counts_success_before_storing: bool = True
    """A checkpoint is counted as a success before it is stored, even if the store then fails."""

    failed_stops_count_too: bool = True
    """A failing stop fails the job when it is aborted, and then counts like any other checkpoint."""
    counts_timeouts: bool = False
    """An expired checkpoint and a failed asynchronous part count as failures (FLINK-17351)."""
    counts_in_order: bool = False
    """Only a success newer than all earlier ones clears the count of failures (FLINK-18336).

    Failures of checkpoints up to the newest success do not count. Else every success clears the count, and
    failures of any checkpoint count.
    """
    counts_io_exceptions: bool = False
    """IO_EXCEPTION counts as a failure."""
    counts_failed_finalization: bool = False
    """FINALIZE_CHECKPOINT_FAILURE counts as a failure."""
    declines_count_for_all_types: bool = False
    """Failures that tasks report count for checkpoints and savepoints, all others only for checkpoints.

    A stop-with-savepoint fails the job only if a task fails the stop. Else every failure counts for both
    types, and every failure of a stop that has started fails the job.
    """
    counts_failed_store: bool = False
    """A failed addition to the store counts as a failure."""

    follows_tasks: bool = False
    """The scheduler runs while the job runs and every reported execution runs or has finished.

    This includes executions that have failed and no longer exist. The execution graph also starts a stopped
    scheduler when a task begins to run. If the switch is false, the scheduler runs while the job runs.
    """
    start_suspends: bool = True
    """Each start of the scheduler first suspends all requests and pending checkpoints.

    Else a start does so only if the scheduler runs already.
    """
    restarts_after_pause: bool = False
    """From its second start on, the scheduler waits for the minimum pause, else for its initial delay."""


_1_9: Final = CoordinatorProfile()
_1_11: Final = replace(
    _1_9,
    queues_requests=True,
    savepoints_may_wait=True,
    forced_not_subsumed=False,
    abort_notifications=True,
    turns_after_end=1,
    failed_stops_count_too=False,
    coordinators_and_hooks=True,
    counts_timeouts=True,
)
_1_12: Final = replace(
    _1_11,
    turns_after_end=2,
    limits_deletions=True,
    counts_empty_deletions=True,
    protects_newest_checkpoint=True,
    keeps_possibly_stored=True,
    counts_in_order=True,
)
_1_13: Final = replace(_1_12, finished_tasks_prevent_start=True, plans_later=True, restores_savepoints=True)
_1_14_0: Final = replace(
    _1_13,
    every_task_must_run=True,
    after_finish_configurable=True,
    lost_triggers_abort=True,
    counts_io_exceptions=True,
    names_io_failures=True,
)
_1_14_3: Final = replace(_1_14_0, declines_count_for_all_types=True, counts_failed_io=True)
_1_14_5: Final = replace(_1_14_3, location_first=False)
_1_15_0: Final = replace(
    _1_14_5,
    after_finish_by_default=True,
    stores_savepoints=False,
    subsumed_notifications=True,
    registers_at_acknowledgement=True,
    has_claim_modes=True,
    restore_registers_anew=False,
)
_1_15_2: Final = replace(_1_15_0, counts_failed_finalization=True)
_1_16_0: Final = replace(
    _1_15_2, abort_ends_master_phase=True, counts_failed_start=True, turn_after_deletion=True
)
_1_16_2: Final = replace(_1_16_0, completes_before_storing=False)
_1_18: Final = replace(_1_16_2, counts_failed_store=True, counts_success_before_storing=False)
_1_19: Final = replace(_1_18, counts_empty_deletions=False)
_1_20: Final = replace(_1_19, start_suspends=False)
_2_3: Final = replace(_1_20, follows_tasks=True, restarts_after_pause=True)

NEWEST_NAME: Final = "2.3"
COORDINATOR_PROFILES: Final[Mapping[str, CoordinatorProfile]] = {
    "1.9": _1_9,
    "1.11": _1_11,
    "1.12": _1_12,
    "1.13": _1_13,
    "1.14.0": _1_14_0,
    "1.14.3": _1_14_3,
    "1.14": _1_14_5,
    "1.15.0": _1_15_0,
    "1.15": _1_15_2,
    "1.16.0": _1_16_0,
    "1.17": _1_16_2,
    "1.18": _1_18,
    "1.19": _1_19,
    "1.20": _1_20,
    NEWEST_NAME: _2_3,
}
NEWEST_COORDINATOR: Final = _2_3
