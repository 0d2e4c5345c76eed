"""Generations of the coordinator and its store: one protocol, and the switches in which releases differ.

As `model.subtask.profiles` has it for subtasks: a step function reads a switch where the generations part
ways, and none asks for a name. The names are those of the wire, each for itself and what follows up to the
next; `1.17` also for the coordinator of 1.16, which behaves like it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from model.coordinator.events import CHECKPOINT_DECLINED, FINALIZE_CHECKPOINT_FAILURE, IO_EXCEPTION
from model.events import ASYNC_EXCEPTION, CHECKPOINT_EXPIRED


@dataclass(frozen=True, eq=False, repr=False)
class CoordinatorProfile:
    """The switches of one generation. There is one object of each, and states refer to it."""

    name: str
    """As the wire calls it: the first release of the generation."""

    # -------- requests
    queues: bool = True
    """A request that may not start yet waits; else it is rejected, and the scheduler makes up for it."""
    turns_after_end: int = 2
    """So often what waits gets its turn when a checkpoint has ended: once for its end, once more when what it
    left behind is deleted. It shows within the min pause, where each turn removes a periodic head."""
    turn_after_drop: bool = True
    """... and once more for each checkpoint that the store has deleted."""
    plans_later: bool = True
    """Who takes part is found out behind all that an event brings with it: further turns find it busy."""
    savepoints_may_wait: bool = True
    """With unaligned checkpoints savepoints are not forced; else they always are."""
    awaits_every_task: bool = False
    """Only sources have to run at the start, and every task has to acknowledge; else those that run."""
    minds_finished_tasks: bool = True
    """Where only sources have to run, any task that has finished keeps checkpoints from starting; else only a
    source."""
    finished_tasks_may_be_asked_for: bool = True
    """Checkpoints after tasks finish are there to be configured."""
    goes_on_after_finished_tasks: bool = True
    """... and they are on if nothing is said."""

    # -------- the scheduler
    follows_tasks: bool = True
    """The listener has the scheduler run while the job does and every execution that it has heard of runs or
    has finished, also one that failed and is no more; and the execution graph starts a scheduler that stands
    still whenever a task begins to run. Else the scheduler runs while the job does."""
    start_suspends: bool = False
    """A start of the scheduler first suspends whatever waits or is pending; else only if it ran."""
    restarts_after_pause: bool = True
    """From its second start on the scheduler waits for the min pause; else for the initial delay again."""

    abort_begins_anew: bool = False
    """Where a request was put off and an abort leaves nothing pending, the request is forgotten, and the
    scheduler that runs waits for its initial delay again; it does not ask at once."""

    # -------- the master phase
    abort_ends_master_phase: bool = True
    """With its checkpoint the phase is over; else it lasts until those who were asked have answered."""
    counts_failed_start: bool = True
    """A checkpoint that ends in its master phase fails once more, as a start that came to nothing."""

    # -------- messages
    hears_lost_triggers: bool = True
    """A trigger that could not be delivered aborts its checkpoint; else nobody notices."""
    tells_of_aborts: bool = True
    """Tasks are told of aborts; else they work on."""
    registers_early: bool = True
    """Shared state is registered with the acknowledgement, until no newer checkpoint may use it; else with
    the completion, and counted by the checkpoints that use it."""
    restore_registers_anew: bool = False
    """A restore begins a new registry of shared state, with what the retained checkpoints use."""

    # -------- completion
    stores_savepoints: bool = False
    """Savepoints replace and are told of as checkpoints are; else a user's savepoint is nobody's business."""
    forced_are_safe: bool = False
    """What was forced is not subsumed; else savepoints are not."""
    completes_first: bool = False
    """A checkpoint is called complete before it is stored."""
    counts_success_first: bool = False
    """A checkpoint is counted as a success before it is stored, also where the store then fails."""
    doubts_the_store: bool = True
    """A checkpoint that may be stored is kept, although its addition failed."""
    protects_the_last: bool = True
    """The store keeps its newest checkpoint from savepoints; else it drops whatever is oldest."""
    tells_of_subsumed: bool = True
    """Tasks are told which checkpoint the store has dropped."""

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
    """Only the highest success clears the count, and failures up to it are old news."""
    savepoints_fail_alone: bool = True
    """The coordinator's own failures count for checkpoints only, and a stop fails the job for a task's."""
    stop_counts_too: bool = False
    """A stop that fails, fails the job as soon as it is aborted, and counts as any other behind that."""

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """The one object of that name, also in another process."""
        return _profile_of, (self.name,)


def _up_to_1_14(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "goes_on_after_finished_tasks": False,
        "follows_tasks": False,
        "start_suspends": True,
        "restarts_after_pause": False,
        "registers_early": False,
        "restore_registers_anew": True,
        "stores_savepoints": True,
        "turn_after_drop": False,
        "abort_ends_master_phase": False,
        "counts_failed_start": False,
        "completes_first": True,
        "counts_success_first": True,
        "tells_of_subsumed": False,
        "counted": (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED, IO_EXCEPTION),
        "counts_failed_store": False,
    }
    return CoordinatorProfile(name, **{**switches, **older})  # type: ignore[arg-type]


def _up_to_1_13(name: str, **older: object) -> CoordinatorProfile:
    return _up_to_1_14(
        name,
        finished_tasks_may_be_asked_for=False,
        savepoints_fail_alone=False,
        hears_lost_triggers=False,
        **{"counted": (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED), **older},
    )


def _profile_of(name: str) -> CoordinatorProfile:
    return COORDINATOR_PROFILES[name]


COORDINATOR_PROFILES: Mapping[str, CoordinatorProfile] = {
    profile.name: profile
    for profile in (
        _up_to_1_13(
            "1.9",
            queues=False,
            savepoints_may_wait=False,
            awaits_every_task=True,
            minds_finished_tasks=False,
            plans_later=False,
            tells_of_aborts=False,
            turns_after_end=0,
            forced_are_safe=True,
            abort_begins_anew=True,
            stop_counts_too=True,
            doubts_the_store=False,
            protects_the_last=False,
            counted=(CHECKPOINT_DECLINED,),
            counts_in_order=False,
        ),
        _up_to_1_13(
            "1.11",
            turns_after_end=1,
            awaits_every_task=True,
            minds_finished_tasks=False,
            plans_later=False,
            doubts_the_store=False,
            protects_the_last=False,
            counts_in_order=False,
        ),
        _up_to_1_13("1.12", awaits_every_task=True, minds_finished_tasks=False, plans_later=False),
        _up_to_1_13("1.13", awaits_every_task=True),
        _up_to_1_14("1.14"),
        CoordinatorProfile(
            "1.15",
            turn_after_drop=False,
            abort_ends_master_phase=False,
            counts_failed_start=False,
            follows_tasks=False,
            start_suspends=True,
            restarts_after_pause=False,
            completes_first=True,
            counts_success_first=True,
            counts_failed_store=False,
        ),
        CoordinatorProfile(
            "1.17",
            counts_success_first=True,
            follows_tasks=False,
            start_suspends=True,
            restarts_after_pause=False,
            counts_failed_store=False,
        ),
        *(
            CoordinatorProfile(name, follows_tasks=False, restarts_after_pause=False)
            for name in ("1.18", "1.19", "1.20")
        ),
        CoordinatorProfile("2.3"),
    )
}
"""By name, oldest first."""

NEWEST_COORDINATOR = COORDINATOR_PROFILES["2.3"]
"""The rules COORD-01 to COORD-12 and SUB-02 to SUB-09 as they are today."""
