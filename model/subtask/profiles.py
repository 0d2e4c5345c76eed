"""Generations of a subtask's snapshot steps: one protocol, and the switches in which releases differ.

As `model.gate.profiles` has it for gates: a step function reads a switch where the generations part ways, and
none asks for a name. The names are those of the wire, each for itself and what follows up to the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class TaskProfile:
    """The switches of one generation. There is one object of each, and states refer to it."""

    name: str
    """As the wire calls it: the first release of the generation."""
    orders_triggers: bool = True
    """A trigger that is not above the last one is ignored; else every trigger is obeyed."""
    hears_aborts: bool = True
    """The coordinator tells of aborts; else it cannot, and the task works on a dead checkpoint."""
    broken_snapshot_fails: bool = True
    """A synchronous part that throws fails the task; else the checkpoint is declined."""
    declines_with_cause: bool = True
    """A failed asynchronous part is declined with the reason that its failure names; else with one word."""
    stopped_says_nothing: bool = True
    """An asynchronous part that fails after the task has stopped is told to nobody; else it is declined."""
    completes_in_order: bool = True
    """Only a newer completion is told, also when it travels with an abort; else each one is told as it is."""
    hears_subsumed: bool = True
    """The coordinator tells which checkpoint a completion has dropped; else it does not."""
    remembers: int = 0
    """How many aborts are remembered; 0: as many as checkpoints may be pending at once."""
    infers_aborts: bool = True
    """An id further below the highest abort than aborts are remembered counts as aborted; else as new."""

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """The one object of that name, also in another process."""
        return _profile_of, (self.name,)


def _up_to_1_10(name: str) -> TaskProfile:
    return TaskProfile(
        name,
        orders_triggers=False,
        hears_aborts=False,
        broken_snapshot_fails=False,
        declines_with_cause=False,
        stopped_says_nothing=False,
        completes_in_order=False,
        hears_subsumed=False,
        infers_aborts=False,
    )


def _up_to_1_13(name: str) -> TaskProfile:
    return TaskProfile(
        name, completes_in_order=False, hears_subsumed=False, remembers=128, infers_aborts=False
    )


def _profile_of(name: str) -> TaskProfile:
    return TASK_PROFILES[name]


TASK_PROFILES: Mapping[str, TaskProfile] = {
    profile.name: profile
    for profile in (
        _up_to_1_10("1.9"),
        _up_to_1_13("1.11"),
        _up_to_1_13("1.12"),
        _up_to_1_13("1.13"),
        TaskProfile("1.14", hears_subsumed=False, remembers=128, infers_aborts=False),
        TaskProfile("1.15", remembers=128, infers_aborts=False),
        *(TaskProfile(name) for name in ("1.17", "1.18", "1.19", "1.20", "2.3")),
    )
}
"""By name, oldest first."""

NEWEST_TASK = TASK_PROFILES["2.3"]
"""TASK-01 to TASK-10 as they are today."""

DISTINCT = tuple(TASK_PROFILES[name] for name in ("1.9", "1.11", "1.14", "1.15", "2.3"))
"""One profile for each behaviour."""
