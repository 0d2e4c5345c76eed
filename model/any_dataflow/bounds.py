"""The bounds within which the explorer visits a job on any dataflow, and the record of an action."""

from typing import NamedTuple

from model.any_dataflow.key_groups import Parallelism, unscaled


class JobBounds(NamedTuple):
    """The bounds of an exploration."""

    records: int = 1
    """Number of records of each source."""
    capacity: int = 2
    """Capacity of each channel, in records and barriers."""
    checkpoints: int = 2
    max_concurrent: int = 1
    failures: int = 1
    aborts: int = 0
    slow: frozenset[int] = frozenset()
    """Tasks whose snapshots take time."""
    ends: bool = False
    """Whether inputs end, so that tasks finish."""
    unaligned: frozenset[int] = frozenset()
    """Checkpoints whose barriers overtake records.

    They need slow tasks and one pending checkpoint at a time.
    """
    stops: frozenset[int] = frozenset()
    """Savepoints with which the job stops. They are aligned."""
    parallelism: Parallelism = unscaled
    """The parallelism of each attempt. Unless `unscaled`, checkpoints are aligned and inputs do not end."""


class Do(NamedTuple):
    """An action, by its name in TLA+. `of`: its arguments, such as a task, channel, checkpoint or region."""

    action: str
    of: int = 0
    checkpoint: int = 0
    kind: str = "do"
