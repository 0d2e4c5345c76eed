"""How far a job on any dataflow is explored, and its actions."""

from typing import NamedTuple

from model.any_dataflow.key_groups import Parallelism, unscaled


class Bounds(NamedTuple):
    """How far the job is explored."""

    records: int = 1
    """Of each source."""
    capacity: int = 2
    """Of each channel, in records and barriers."""
    checkpoints: int = 2
    max_concurrent: int = 1
    failures: int = 1
    aborts: int = 0
    slow: frozenset[int] = frozenset()
    """Tasks whose snapshots take time."""
    ends: bool = False
    """Inputs end, and tasks finish."""
    unaligned: frozenset[int] = frozenset()
    """Checkpoints whose barriers overtake records; all tasks are slow then, and one is in flight."""
    stops: frozenset[int] = frozenset()
    """Savepoints with which the job stops; they are aligned."""
    parallelism: Parallelism = unscaled
    """Other than `unscaled` only with aligned checkpoints, and tasks that do not finish."""


class Do(NamedTuple):
    """An action: its name in TLA+, the task, channel or checkpoint it is of, and the task's checkpoint."""

    action: str
    of: int = 0
    checkpoint: int = 0
    kind: str = "do"
