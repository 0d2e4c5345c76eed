"""The generations of Flink at the checkpoint coordinator and its store, as far as their behaviour differs.

`COORDINATOR_GENERATIONS` is by the name of the wire's `profile`. The oldest is spelt out, and each later
one says what it brought.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class CoordinatorGeneration:
    """What one generation of coordinators has beyond the oldest."""

    queues_requests: bool = False
    """A request that may not start waits in a queue; before, it was dropped and the schedule asked again."""
    turns_after_end: int = 0
    """How often what waits gets its turn when a checkpoint has ended: for its end, and from 1.12 on once its
    remains are deleted. Each turn removes one periodic request that comes within the pause."""
    turn_after_deletion: bool = False
    """One more turn for each completed checkpoint that was deleted to make room."""
    plans_in_background: bool = False
    """Who takes part in a start is found out in the job's main thread; further turns find it busy."""
    forgets_on_abort: bool = True
    """A request that was put off is forgotten when an abort leaves nothing pending, and the scheduler, if it
    runs, waits for its initial delay again."""
    forces_aligned_savepoints_only: bool = False
    """A savepoint is forced only while checkpoints are aligned."""
    spares_pending_savepoints: bool = False
    """A pending savepoint is never subsumed; before, a forced id was not, whatever its type."""
    abort_messages: bool = False
    """Tasks are told of aborts (FLINK-8871)."""
    coordinators_and_hooks: bool = False
    """Operator coordinators and master hooks take their part before the tasks are triggered."""

    aborts_end_master_phase: bool = False
    """The master phase ends with its checkpoint; before, with the answers of those that were asked
    (FLINK-26394)."""
    counts_failed_starts: bool = False
    """A checkpoint that ends in its master phase is counted again as a start that failed."""

    keeps_the_newest_checkpoint: bool = False
    """The store drops what a restore will not need; before, whatever was oldest (FLINK-21351)."""
    keeps_what_may_be_stored: bool = False
    """A checkpoint whose storing failed is not deleted when it may have been stored after all."""

    everybody_has_to_run: bool = False
    """Every task has to run for a start; before, only the sources had to (COORD-01)."""
    finished_tasks_hinder: bool = False
    """While only sources have to run, no task may have finished."""
    finished_tasks_possible: bool = False
    """Checkpoints can go on after tasks have finished."""
    finished_tasks_by_default: bool = False
    """Checkpoints go on after tasks have finished unless that is switched off."""
    lost_triggers_abort: bool = False
    """A trigger message that does not arrive aborts its checkpoint (FLINK-21246)."""

    savepoints_stand_apart: bool = False
    """A savepoint replaces nothing and tells no task; neither it nor a stop is stored (FLINK-25191)."""
    subsumption_messages: bool = False
    """Tasks are told of dropped checkpoints."""
    registers_at_acknowledgement: bool = False
    """Shared state is known by the newest id that used it, from its acknowledgement on."""
    restores_keep_the_registry: bool = False
    """A restore leaves the registry of shared state as it is; before, it held only what retained ones use."""
    completes_after_storing: bool = False
    """A checkpoint is complete when it is in the store; before, when it was finalised (FLINK-31077)."""

    counts_success_after_storing: bool = False
    """A checkpoint clears the count of failures when it is in the store; before, when it was finalised."""

    stops_fail_once: bool = False
    """A stop that fails, fails the job; before, it did so as soon as it was aborted, and counted as well."""
    counts_what_takes_too_long: bool = False
    """An expired checkpoint and a failed asynchronous part count as failures (FLINK-17351)."""
    newest_success_counts: bool = False
    """Only the highest success clears the counter, and failures up to it are ignored (FLINK-18336)."""
    counts_failed_storage: bool = False
    """A task that cannot write its state counts as a failure."""
    counts_failed_completion: bool = False
    """A checkpoint that could not be finalised counts as a failure."""
    failures_are_told_apart: bool = False
    """What a task declined counts for every type, what the coordinator gave up for checkpoints only."""
    counts_failing_store: bool = False
    """A failed addition to the store counts as a failure."""

    schedules_by_tasks: bool = False
    """The listener awaits every execution, and the execution graph starts a scheduler that stands still when
    a task begins to run; before, the scheduler ran whenever the job did."""
    starts_without_suspending: bool = False
    """A start of a scheduler that stands still leaves alone what waits or is pending."""
    pauses_before_a_later_start: bool = False
    """The initial delay is that of the first start; a later one waits for the minimum pause only."""


_1_9: Final = CoordinatorGeneration()
_1_11: Final = replace(
    _1_9,
    queues_requests=True,
    forces_aligned_savepoints_only=True,
    spares_pending_savepoints=True,
    abort_messages=True,
    turns_after_end=1,
    forgets_on_abort=False,
    stops_fail_once=True,
    coordinators_and_hooks=True,
    counts_what_takes_too_long=True,
)
_1_12: Final = replace(
    _1_11,
    turns_after_end=2,
    keeps_the_newest_checkpoint=True,
    keeps_what_may_be_stored=True,
    newest_success_counts=True,
)
_1_13: Final = replace(_1_12, finished_tasks_hinder=True, plans_in_background=True)
_1_14: Final = replace(
    _1_13,
    everybody_has_to_run=True,
    finished_tasks_possible=True,
    lost_triggers_abort=True,
    counts_failed_storage=True,
    failures_are_told_apart=True,
)
_1_15: Final = replace(
    _1_14,
    finished_tasks_by_default=True,
    savepoints_stand_apart=True,
    subsumption_messages=True,
    registers_at_acknowledgement=True,
    counts_failed_completion=True,
    restores_keep_the_registry=True,
)
_1_17: Final = replace(
    _1_15,
    completes_after_storing=True,
    aborts_end_master_phase=True,
    counts_failed_starts=True,
    turn_after_deletion=True,
)
"""The coordinator of 1.16 behaves so too."""
_1_18: Final = replace(
    _1_17, counts_failing_store=True, counts_success_after_storing=True, starts_without_suspending=True
)
_2_3: Final = replace(_1_18, schedules_by_tasks=True, pauses_before_a_later_start=True)

NEWEST_NAME: Final = "2.3"
COORDINATOR_GENERATIONS: Final[Mapping[str, CoordinatorGeneration]] = {
    "1.9": _1_9,
    "1.11": _1_11,
    "1.12": _1_12,
    "1.13": _1_13,
    "1.14": _1_14,
    "1.15": _1_15,
    "1.17": _1_17,
    "1.18": _1_18,
    "1.19": _1_18,
    "1.20": _1_18,
    NEWEST_NAME: _2_3,
}
NEWEST_COORDINATOR: Final = _2_3
