"""The state of a job on a given dataflow: tasks, channels, snapshots, output."""

from typing import Any, NamedTuple

Channel = tuple[int, int]
"""A channel: the task that sends and the task that reads."""
History = tuple[Any, ...]
"""The history of a task: all that it has read, in order.

A source reads numbers. Another task reads pairs of a channel's number and a record. A task sends its history
as a record. A record therefore shows each record on which it depends.
"""
Part = tuple[int, History]
"""A transaction: the checkpoint whose snapshot closed it, and its records."""
Place = int
"""A channel by its index in the channels of the dataflow, from 0."""


class Barrier(NamedTuple):
    """A barrier in a channel. An item that is no barrier and no end is a record."""

    checkpoint: int
    kind: str = "barrier"


class End(NamedTuple):
    """The end of a channel, because its sender has finished."""

    kind: str = "end"


class Snapshot(NamedTuple):
    """The state that the synchronous part of a snapshot captures."""

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
    """The latest checkpoint for which the task has taken a snapshot or which it has given up."""
    aligning: int = 0
    """The checkpoint whose barriers the task collects; 0 for none."""
    arrived: frozenset[Place] = frozenset()
    """The channels whose barrier of this checkpoint has arrived."""
    ended: frozenset[Place] = frozenset()
    """The channels whose end has arrived."""
    finished: bool = False
    """Whether the task has read all records and has finished."""

    @property
    def is_recording(self) -> bool:
        """The task has taken its snapshot, and some barriers have not arrived.

        Until a channel's barrier arrives, the records that the task reads from it are part of the channel
        state.
        """
        return self.aligning != 0 and self.aligning == self.passed


class Checkpoint(NamedTuple):
    """The snapshots of one checkpoint, by task."""

    captured: tuple[Snapshot | None, ...]
    stored: tuple[bool, ...]
    acknowledged: tuple[bool, ...]
    kept: tuple[tuple[History, ...], ...]
    """By place of a channel: the in-flight data."""
    references: tuple[int, ...] = ()
    """By task: the checkpoint for which its snapshot was taken. For a failed region it is an older one.

    Empty: all snapshots were taken for this checkpoint.
    """


class Job(NamedTuple):
    """The state of a job."""

    next: int
    """The id of the next checkpoint."""
    pending: tuple[int, ...]
    """The pending checkpoints, in the order of their ids."""
    latest: int
    """The latest completed checkpoint. 0 is the start of the job."""
    up: bool
    """Whether the tasks run. False between a failure and the restore."""
    failures: int
    aborts: int
    tasks: tuple[Task, ...]
    channels: tuple[tuple[Any, ...], ...]
    """By place of a channel: its items, oldest first."""
    checkpoints: tuple[Checkpoint, ...]
    """By id: the checkpoint with its snapshots."""
    output: tuple[History, ...]
    """By task: the committed records."""
    committed: tuple[int, ...]
    """By task: the checkpoint of the latest committed transaction, 0 if there is none."""


def is_record(item: Any) -> bool:  # noqa: ANN401 - a record is any history
    """The item is neither a barrier nor an end."""
    return not isinstance(item, Barrier | End)
