"""Generations of the coordinator and its store: one protocol, and the switches in which releases differ.

As `model.subtask_profiles` has it for subtasks: a step function reads a switch where the generations part
ways, and none asks for a name. The names are those of the wire, each for itself and what follows up to the
next.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from model.coordinator_events import CHECKPOINT_DECLINED, FINALIZE_CHECKPOINT_FAILURE, IO_EXCEPTION
from model.events import ASYNC_EXCEPTION, CHECKPOINT_EXPIRED


@dataclass(frozen=True, eq=False, repr=False)
class CoordinatorProfile:
    """The switches of one generation. There is one object of each, and states refer to it."""

    name: str
    """As the wire calls it: the first release of the generation."""

    # -------- requests
    queues: bool = True
    """A request that may not start yet waits; else it is rejected, and the scheduler makes up for it."""
    savepoints_may_wait: bool = True
    """With unaligned checkpoints savepoints are not forced; else they always are."""
    awaits_every_task: bool = False
    """Only sources have to run at the start, and every task has to acknowledge; else those that run."""
    finished_tasks_may_be_asked_for: bool = True
    """Checkpoints after tasks finish are there to be configured."""
    goes_on_after_finished_tasks: bool = True
    """... and they are on if nothing is said."""

    # -------- the scheduler
    follows_tasks: bool = True
    """The scheduler runs while job and tasks do; else while the job does."""
    restarts_after_pause: bool = True
    """From its second start on the scheduler waits for the min pause; else for the initial delay again."""

    # -------- messages
    hears_lost_triggers: bool = True
    """A trigger that could not be delivered aborts its checkpoint; else nobody notices."""
    tells_of_aborts: bool = True
    """Tasks are told of aborts; else they work on."""
    registers_early: bool = True
    """Shared state is registered with the acknowledgement, until no newer checkpoint may use it; else with
    the completion, and counted by the checkpoints that use it."""

    # -------- completion
    stores_savepoints: bool = False
    """Savepoints replace and are told of as checkpoints are; else a user's savepoint is nobody's business."""
    forced_are_safe: bool = False
    """What was forced is not subsumed; else savepoints are not."""
    completes_first: bool = False
    """A checkpoint is called complete, and counted as a success, before it is stored."""
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

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """The one object of that name, also in another process."""
        return (COORDINATOR_PROFILES.__getitem__, (self.name,))


def _up_to_1_14(name: str, **older: object) -> CoordinatorProfile:
    switches: dict[str, object] = {
        "goes_on_after_finished_tasks": False,
        "follows_tasks": False,
        "restarts_after_pause": False,
        "registers_early": False,
        "stores_savepoints": True,
        "completes_first": True,
        "tells_of_subsumed": False,
        "counted": (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED, IO_EXCEPTION),
        "counts_failed_store": False,
        "savepoints_fail_alone": False,
    }
    return CoordinatorProfile(name, **{**switches, **older})  # type: ignore[arg-type]


def _up_to_1_13(name: str, **older: object) -> CoordinatorProfile:
    return _up_to_1_14(
        name,
        finished_tasks_may_be_asked_for=False,
        hears_lost_triggers=False,
        **{"counted": (CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED), **older},
    )


COORDINATOR_PROFILES: Mapping[str, CoordinatorProfile] = {
    profile.name: profile
    for profile in (
        _up_to_1_13(
            "1.9",
            queues=False,
            savepoints_may_wait=False,
            awaits_every_task=True,
            tells_of_aborts=False,
            forced_are_safe=True,
            doubts_the_store=False,
            protects_the_last=False,
            counted=(CHECKPOINT_DECLINED,),
            counts_in_order=False,
        ),
        _up_to_1_13(
            "1.11",
            awaits_every_task=True,
            doubts_the_store=False,
            protects_the_last=False,
            counts_in_order=False,
        ),
        _up_to_1_13("1.12", awaits_every_task=True),
        _up_to_1_13("1.13"),
        _up_to_1_14("1.14"),
        CoordinatorProfile(
            "1.15",
            follows_tasks=False,
            restarts_after_pause=False,
            completes_first=True,
            counts_failed_store=False,
        ),
        CoordinatorProfile(
            "1.17",
            follows_tasks=False,
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
