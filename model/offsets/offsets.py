"""A reader that commits its offsets when a checkpoint completes. Rules OFFSET-01 to OFFSET-07.

A snapshot files the offsets under the checkpoint's id; the completion of exactly that id commits them. So
the system behind the reader learns how far it has come. Nothing depends on that: a restore reads the
offsets of the restored state, never what was committed.
"""

from typing import NamedTuple

from model.events import NONE, Effects, Step
from model.offsets.events import CommitOffsets, Ignored, Seek


class Remembered(NamedTuple):
    """The offsets of one snapshot; a number stands for the positions in all partitions."""

    checkpoint: int
    offsets: int


NOTHING = Remembered(NONE, 0)
"""Nothing was committed yet."""


class Reader(NamedTuple):
    """A reader and what the system behind it was told."""

    running: bool
    """Not crashed."""
    remembered_at_most: int
    newest: int
    """The highest id ever snapshotted; ids of a job only grow."""
    remembered: tuple[Remembered, ...]
    """Volatile: what a completion may commit, oldest first."""
    committed: Remembered
    """Outlives a crash: what was committed last."""


def new_reader(remembered_at_most: int) -> Reader:
    """A running reader without any snapshot."""
    return Reader(True, remembered_at_most, NONE, (), NOTHING)


def on_snapshot(reader: Reader, checkpoint: int, offsets: int) -> Step[Reader]:
    """A snapshot is taken: file the offsets, and forget the oldest beyond the bound."""
    filed = (*reader.remembered, Remembered(checkpoint, offsets))
    rules: tuple[str, ...] = ("OFFSET-01",)
    if len(filed) > reader.remembered_at_most:
        filed = filed[1:]
        rules = ("OFFSET-01", "OFFSET-02")
    return Step(reader._replace(newest=checkpoint, remembered=filed), (), rules)


def on_notify_complete(reader: Reader, checkpoint: int) -> Step[Reader]:
    """A checkpoint is complete: commit its offsets, and forget them and all older ones."""
    effects: Effects = ()
    for filed in reader.remembered:
        if filed.checkpoint == checkpoint:
            reader = reader._replace(committed=filed)
            effects = (CommitOffsets(checkpoint, filed.offsets),)
    if not effects:
        return Step(reader, (Ignored(checkpoint),), ("OFFSET-04",))
    newer = tuple(filed for filed in reader.remembered if filed.checkpoint > checkpoint)
    return Step(reader._replace(remembered=newer), effects, ("OFFSET-03", "OFFSET-07"))


def on_notify_abort(reader: Reader, checkpoint: int, completed: int = NONE) -> Step[Reader]:
    """A checkpoint was aborted: its offsets go when a later one completes."""
    return Step(reader, (), ("OFFSET-05",))


def on_crash(reader: Reader) -> Step[Reader]:
    """What was remembered is lost; what was committed is not the reader's to lose."""
    return Step(reader._replace(running=False, remembered=()), (), ("OFFSET-06",))


def on_restore(reader: Reader, offsets: int) -> Step[Reader]:
    """The reader restarts at the offsets of the restored state."""
    return Step(reader._replace(running=True), (Seek(offsets),), ("OFFSET-06",))
