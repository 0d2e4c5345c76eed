"""The state of a job on a dataflow that is an input: tasks, channels, snapshots, output."""

from typing import Any, NamedTuple

Channel = tuple[int, int]
"""The task that sends and the task that reads."""
History = tuple[Any, ...]
"""What a task has read: numbers, or pairs of a channel's number and a record, the sender's history."""
Part = tuple[int, History]
"""A transaction: the checkpoint whose snapshot closed it, and its records."""
Place = int
"""The place of a channel in the dataflow."""


class Barrier(NamedTuple):
    """A barrier in a channel; an item that is no barrier and no end is a record."""

    checkpoint: int
    kind: str = "barrier"


class End(NamedTuple):
    """The end of a channel: its sender has finished."""

    kind: str = "end"


class Snapshot(NamedTuple):
    """What the synchronous part of a snapshot takes."""

    history: History = ()
    prepared: tuple[Part, ...] = ()
    finished: bool = False


class Task(NamedTuple):
    """A running task."""

    history: History = ()
    written: History = ()
    """Of a sink: the open transaction."""
    prepared: tuple[Part, ...] = ()
    """Of a sink: the pre-committed transactions."""
    passed: int = 0
    """The latest checkpoint of which it took a snapshot, or which it gave up."""
    aligning: int = 0
    """The checkpoint whose barriers it collects; 0: none."""
    arrived: frozenset[Place] = frozenset()
    """The channels of these."""
    ended: frozenset[Place] = frozenset()
    """The channels on which nothing follows."""
    finished: bool = False
    """It has read all and has finished."""

    @property
    def is_recording(self) -> bool:
        """The snapshot is taken, and what is read of channels without a barrier is kept."""
        return self.aligning != 0 and self.aligning == self.passed


class Checkpoint(NamedTuple):
    """The snapshots of one checkpoint, by task."""

    captured: tuple[Snapshot | None, ...]
    stored: tuple[bool, ...]
    acknowledged: tuple[bool, ...]
    kept: tuple[tuple[History, ...], ...]
    """By place: the records that a barrier has overtaken."""
    references: tuple[int, ...] = ()
    """By task: the checkpoint that the snapshot is of; empty: all are of this one."""


class Job(NamedTuple):
    """The state of a job."""

    next: int
    """The coordinator's next id."""
    pending: tuple[int, ...]
    """The checkpoints in flight, in the order of their ids."""
    latest: int
    """The latest completed checkpoint; 0 is the start of the job."""
    up: bool
    """The tasks run."""
    failures: int
    aborts: int
    tasks: tuple[Task, ...]
    channels: tuple[tuple[Any, ...], ...]
    """By place: records and barriers, oldest first."""
    checkpoints: tuple[Checkpoint, ...]
    """By id."""
    output: tuple[History, ...]
    """By task: the committed records."""
    committed: tuple[int, ...]
    """By task: the latest committed transaction."""


def is_record(item: Any) -> bool:  # noqa: ANN401 - a record is any history
    """The item is neither a barrier nor an end."""
    return not isinstance(item, Barrier | End)
