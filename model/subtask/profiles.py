"""The generations of a subtask's snapshot steps, described by the switches in which releases differ.

As in `model.gate.profiles`, the properties check the steps against the switches. The adapter protocol uses
the names of the profiles. A profile describes the releases from its own up to the next profile.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class TaskProfile:
    """The switches of one generation. There is one object for each generation, which all states share."""

    name: str
    """The name in the adapter protocol: the first release of the generation."""
    orders_triggers: bool = True
    """The task ignores a trigger whose id is not above the last one. Else it takes every trigger."""
    notified_of_aborts: bool = True
    """The coordinator notifies tasks of aborts. Else a task continues its snapshot after an abort."""
    broken_snapshot_fails: bool = True
    """If the synchronous part throws, the task fails. Else the task declines the checkpoint."""
    declines_with_cause: bool = True
    """A decline has the reason of the failed asynchronous part. Else it always has the same reason."""
    names_async_failure: bool = True
    """A decline after a failed asynchronous part has a reason. Else the coordinator records JOB_FAILURE."""
    stopped_ignores_failures: bool = True
    """If an asynchronous part fails after the task has stopped, nothing happens. Else the task declines."""
    completes_in_order: bool = True
    """The task notifies its operators only of completions above the last and the restored id. Else of all."""
    notified_of_subsumed: bool = True
    """The coordinator notifies tasks of the checkpoint that a completion has dropped. Else it does not."""
    remembers: int = 0
    """Number of aborts that the task remembers. 0: as many as checkpoints may be pending at once."""
    infers_aborts: bool = True
    """An id counts as aborted if it is far below the highest abort: the task may have dropped its abort."""

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickling returns the existing profile of this name, also in another process."""
        return _profile_of, (self.name,)


def _up_to_1_10(name: str, *, names_async_failure: bool) -> TaskProfile:
    return TaskProfile(
        name,
        orders_triggers=False,
        notified_of_aborts=False,
        broken_snapshot_fails=False,
        declines_with_cause=False,
        names_async_failure=names_async_failure,
        stopped_ignores_failures=False,
        completes_in_order=False,
        notified_of_subsumed=False,
        infers_aborts=False,
    )


def _up_to_1_13(name: str) -> TaskProfile:
    return TaskProfile(
        name, completes_in_order=False, notified_of_subsumed=False, remembers=128, infers_aborts=False
    )


def _profile_of(name: str) -> TaskProfile:
    return TASK_PROFILES[name]


TASK_PROFILES: Mapping[str, TaskProfile] = {
    profile.name: profile
    for profile in (
        _up_to_1_10("1.9", names_async_failure=False),
        _up_to_1_10("1.10", names_async_failure=True),
        _up_to_1_13("1.11"),
        _up_to_1_13("1.12"),
        _up_to_1_13("1.13"),
        TaskProfile("1.14", notified_of_subsumed=False, remembers=128, infers_aborts=False),
        TaskProfile("1.15", remembers=128, infers_aborts=False),
        *(TaskProfile(name) for name in ("1.17", "1.18", "1.19", "1.20", "2.3")),
    )
}
"""Maps the name of each profile to the profile, oldest first."""

NEWEST_TASK = TASK_PROFILES["2.3"]
"""The generation that `model.subtask.subtask` describes."""

DISTINCT = tuple(TASK_PROFILES[name] for name in ("1.9", "1.10", "1.11", "1.14", "1.15", "2.3"))
"""One profile for each distinct behaviour."""
