"""A reader that commits its offsets when a checkpoint completes. Rules OFFSET-01 to OFFSET-07.

A snapshot stores the offsets under the checkpoint's id. The completion of exactly that id commits them to the
external system, so that this system knows the progress of the reader. The protocol does not depend on the
commit: a restore reads the offsets of the restored state, and never the committed ones.
"""

from typing import NamedTuple

from model.events import NONE, Effects, Step
from model.offsets.events import CommitOffsets, Ignored, Seek


class Remembered(NamedTuple):
    """The offsets of one snapshot. One number represents the positions in all partitions."""

    checkpoint: int
    offsets: int


NOTHING = Remembered(NONE, 0)
"""The value of `committed` before the first commit."""


class Reader(NamedTuple):
    """A reader and the offsets committed to the external system."""

    running: bool
    """The reader has not crashed."""
    remembered_at_most: int
    """Maximum number of snapshots whose offsets are remembered. Never changes."""
    newest: int
    """The highest id of which the reader has taken a snapshot. The ids of a job only grow."""
    remembered: tuple[Remembered, ...]
    """Volatile: the offsets that a completion may commit, oldest first."""
    committed: Remembered
    """Durable: the offsets that were committed last."""


def new_reader(remembered_at_most: int) -> Reader:
    """A running reader before its first snapshot."""
    return Reader(True, remembered_at_most, NONE, (), NOTHING)


def on_snapshot(reader: Reader, checkpoint: int, offsets: int) -> Step[Reader]:
    """The reader takes a snapshot and remembers its offsets. Over the bound it drops the oldest ones."""
    filed = (*reader.remembered, Remembered(checkpoint, offsets))
    rules: tuple[str, ...] = ("OFFSET-01",)
    if len(filed) > reader.remembered_at_most:
        filed = filed[1:]
        rules = ("OFFSET-01", "OFFSET-02")
    return Step(reader._replace(newest=checkpoint, remembered=filed), (), rules)


def on_notify_complete(reader: Reader, checkpoint: int) -> Step[Reader]:
    """A checkpoint is complete. The reader commits its offsets and drops these and all older ones."""
    effects: Effects = ()
    for filed in reader.remembered:
        if filed.checkpoint == checkpoint:
            reader = reader._replace(committed=filed)
            effects = (CommitOffsets(checkpoint, filed.offsets),)
    if not effects:
        return Step(reader, (Ignored(checkpoint),), ("OFFSET-04",))
    newer = tuple(filed for filed in reader.remembered if filed.checkpoint > checkpoint)
    return Step(reader._replace(remembered=newer), effects, ("OFFSET-03", "OFFSET-07"))


def on_notify_abort(reader: Reader, checkpoint: int) -> Step[Reader]:
    """A checkpoint was aborted. The reader keeps its offsets until a later checkpoint completes."""
    return Step(reader, (), ("OFFSET-05",))


def on_crash(reader: Reader) -> Step[Reader]:
    """A crash loses the remembered offsets. The committed offsets are in the external system."""
    return Step(reader._replace(running=False, remembered=()), (), ("OFFSET-06",))


def on_restore(reader: Reader, offsets: int) -> Step[Reader]:
    """The reader restarts at the offsets of the restored state."""
    return Step(reader._replace(running=True), (Seek(offsets),), ("OFFSET-06",))
