"""Generations of the snapshot steps of a subtask: the switches in which the releases of Flink differ.

`TASK_PROFILES` maps each value of the option `profile` to the switches of that generation. The defaults are
the switches of the oldest generation. Each later generation sets the switches that it added. No release has
removed a switch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class TaskProfile:
    """The switches of one generation.

    Each docstring states the behaviour with the switch, and after "else" the behaviour without it.
    """

    orders_triggers: bool = False
    """The task ignores a trigger that is not above the last one; else it takes every trigger."""
    notified_of_aborts: bool = False
    """The coordinator notifies tasks of aborts, and a task remembers them until their trigger arrives."""
    broken_snapshot_fails: bool = False
    """A synchronous part that throws fails the task; else the task declines the checkpoint."""
    declines_with_cause: bool = False
    """A decline names the reason of the failed asynchronous part; else the reason is always the same."""
    names_async_failure: bool = False
    """A decline after a failed asynchronous part has a reason; else the coordinator records JOB_FAILURE."""
    stopped_ignores_failures: bool = False
    """An asynchronous part that fails after the task has stopped has no effect; else the task declines."""
    completes_in_order: bool = False
    """The task notifies its operators only of a completion with a higher id than all before; else of each.

    The restored checkpoint counts as one before.
    """
    notified_of_subsumed: bool = False
    """The coordinator notifies tasks of a dropped checkpoint."""
    remembers: int | None = 128
    """Number of aborts that the task remembers; None: as many as checkpoints may be pending at once."""
    infers_aborts: bool = False
    """An id more than `remembers` below the highest aborted id counts as aborted; else it counts as new."""


_1_9: Final = TaskProfile()
_1_10: Final = replace(_1_9, names_async_failure=True)
_1_11: Final = replace(
    _1_10,
    orders_triggers=True,
    notified_of_aborts=True,
    broken_snapshot_fails=True,
    declines_with_cause=True,
    stopped_ignores_failures=True,
)
_1_14: Final = replace(_1_11, completes_in_order=True)
_1_15: Final = replace(_1_14, notified_of_subsumed=True)
_1_17: Final = replace(_1_15, remembers=None, infers_aborts=True)

NEWEST_TASK: Final = "2.3"
TASK_PROFILES: Final[Mapping[str, TaskProfile]] = {
    "1.9": _1_9,
    "1.10": _1_10,
    "1.11": _1_11,
    "1.12": _1_11,
    "1.13": _1_11,
    "1.14": _1_14,
    "1.15": _1_15,
    "1.17": _1_17,
    "1.18": _1_17,
    "1.19": _1_17,
    "1.20": _1_17,
    NEWEST_TASK: _1_17,
}
"""The switches of each generation, by its name on the wire, oldest first."""
