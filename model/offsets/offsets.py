"""A source's reader that commits its offsets when a checkpoint completes. Rules OFFSET-01 to OFFSET-07.

At a snapshot the reader remembers its offsets under the checkpoint's id. When exactly this checkpoint is
complete, it commits these offsets to the external system, which then shows the progress of the reader. The
checkpoints do not depend on commits: a restore uses the offsets of the restored state, and never the
committed ones.
"""

from typing import NamedTuple

from model.events import NONE, Effects, Step
from model.offsets.events import CommitOffsets, Ignored, Seek


class Remembered(NamedTuple):
    """The offsets of one snapshot. In the model, one number represents the positions in all partitions."""

    checkpoint: int
    offsets: int


NOTHING = Remembered(NONE, 0)
"""The value of `committed` before the first commit."""


class Reader(NamedTuple):
    """A reader and the offsets committed to the external system."""

    running: bool
    """The reader has not crashed."""
    remembered_at_most: int
    """Maximum number of snapshots whose offsets the reader remembers. Never changes."""
    newest: int
    """The id of the reader's newest snapshot. The ids of a job only grow."""
    remembered: tuple[Remembered, ...]
    """The offsets that a completion may commit, oldest first. A crash loses them."""
    committed: Remembered
    """The last committed offsets. They are in the external system and outlive a crash."""


def new_reader(remembered_at_most: int) -> Reader:
    """A running reader before its first snapshot."""
    return Reader(True, remembered_at_most, NONE, (), NOTHING)


def on_snapshot(reader: Reader, checkpoint: int, offsets: int) -> Step[Reader]:
    """The reader takes a snapshot and remembers its offsets. Above the bound it drops the oldest ones."""
    filed = (*reader.remembered, Remembered(checkpoint, offsets))
    rules: tuple[str, ...] = ("OFFSET-01",)
    if len(filed) > reader.remembered_at_most:
        filed = filed[1:]
        rules = ("OFFSET-01", "OFFSET-02")
    return Step(reader._replace(newest=checkpoint, remembered=filed), (), rules)


def on_notify_complete(reader: Reader, checkpoint: int) -> Step[Reader]:
    """A checkpoint is complete. The reader commits its offsets, and drops them and all older ones."""
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
