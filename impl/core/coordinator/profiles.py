"""Generations of the coordinator and its store: the switches in which the releases of Flink differ.

`COORDINATOR_PROFILES` maps the option `profile` of the wire to the switches of that generation. The defaults
are those of the oldest; each later generation sets the switches that it changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class CoordinatorProfile:
    """The switches of one generation.

    Each docstring states what holds with the switch, and after "else" what holds without it.
    """

    queues_requests: bool = False
    """A request that may not start yet waits; else it is rejected, and the scheduler repeats it later."""
    turns_after_end: int = 0
    """Number of turns of the queue after the end of a checkpoint.

    The first turn follows the end, the second (from 1.12 on) the deletion of its state. Within the minimum
    pause, each turn rejects one periodic request at the head of the queue.
    """
    turn_after_deletion: bool = False
    """One more turn for each completed checkpoint that the store has deleted."""
    limits_deletions: bool = False
    """Requests wait while more deletions are under way than checkpoints may be pending."""
    counts_empty_deletions: bool = False
    """An aborted checkpoint without collected state has a deletion under way too; else it ends at once."""
    plans_later: bool = False
    """The tasks of a new checkpoint are determined after the event, whose other turns then have no effect."""
    savepoints_may_wait: bool = False
    """If checkpoints are unaligned, savepoints are not forced; else savepoints are always forced."""
    forced_not_subsumed: bool = True
    """A forced checkpoint is not subsumed; else a savepoint is not."""
    abort_notifications: bool = False
    """The coordinator notifies tasks of aborts (FLINK-8871)."""
    coordinators_and_hooks: bool = False
    """Operator coordinators and hooks can be configured."""

    abort_ends_master_phase: bool = False
    """An abort ends the master phase; else it lasts until the awaited masters have answered (FLINK-26394)."""
    counts_failed_start: bool = False
    """A checkpoint that ends in its master phase counts once more, as a failed start."""

    counts_failed_io: bool = False
    """A start that fails by input or output counts as IO_EXCEPTION (FLINK-24384)."""

    location_first: bool = True
    """The storage location is initialised before a checkpoint is pending; else after."""
    restores_savepoints: bool = False
    """The start from a savepoint is offered."""
    has_claim_modes: bool = False
    """A job that starts from a savepoint has a claim mode; else it behaves as in LEGACY (FLIP-193)."""

    names_io_failures: bool = False
    """A request that fails by input or output is rejected with IO_EXCEPTION; else without such a reason."""

    protects_newest_checkpoint: bool = False
    """The addition of a savepoint does not drop the newest checkpoint; else it may (FLINK-21351)."""
    keeps_possibly_stored: bool = False
    """A checkpoint that may be stored is kept, although its addition failed."""

    every_task_must_run: bool = False
    """Every task must run for a start; else only the sources (COORD-01)."""
    finished_tasks_prevent_start: bool = False
    """If only sources must run: any finished task prevents a start; else only a finished source does."""
    after_finish_configurable: bool = False
    """Checkpoints after tasks finish can be configured."""
    after_finish_by_default: bool = False
    """Checkpoints after tasks finish are on by default."""
    lost_triggers_abort: bool = False
    """A trigger that could not be delivered aborts its checkpoint (FLINK-21246)."""

    stores_savepoints: bool = True
    """Completed savepoints are stored, drop older checkpoints and are notified; else nothing of this.

    Changed by FLINK-25191.
    """
    subsumed_notifications: bool = False
    """The coordinator notifies tasks of the checkpoint that the store has dropped."""
    registers_at_acknowledgement: bool = False
    """Shared state is registered at the acknowledgement; else at the completion."""
    restore_registers_anew: bool = True
    """A restore reduces the registry of shared state to the retained checkpoints; else it keeps it."""
    completes_before_storing: bool = True
    """A checkpoint is reported complete before it is stored; else after (FLINK-31077)."""

    counts_success_before_storing: bool = True
    """A checkpoint counts as a success before it is stored, even if the store then fails; else after."""

    failed_stops_count_too: bool = True
    """A failed stop fails the job at its abort, and counts as a failure too; else it only fails the job."""
    counts_timeouts: bool = False
    """An expired checkpoint and a failed asynchronous part count as failures (FLINK-17351)."""
    counts_in_order: bool = False
    """Only the highest success clears the count, and failures up to it do not count (FLINK-18336)."""
    counts_io_exceptions: bool = False
    """IO_EXCEPTION counts as a failure."""
    counts_failed_finalization: bool = False
    """FINALIZE_CHECKPOINT_FAILURE counts as a failure."""
    declines_count_for_all_types: bool = False
    """A decline counts for every type; an abort by the coordinator counts for checkpoints only."""
    counts_failed_store: bool = False
    """A failed addition to the store counts as a failure."""

    follows_tasks: bool = False
    """The scheduler runs while the job runs and the listener awaits no execution; else while the job runs.

    The execution graph also starts a stopped scheduler when a task begins to run.
    """
    start_suspends: bool = True
    """Each start of the scheduler suspends first (`completion.suspend`); else only if it already runs."""
    restarts_after_pause: bool = False
    """From its second start on the scheduler waits for the minimum pause; else for its initial delay."""


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
