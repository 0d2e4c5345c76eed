"""The kinds of alignment of a checkpoint, and the options that a barrier carries in addition to its id.

Only gates of the modes `unaligned` and `alternating` read the options; in the other modes every barrier is
aligned.
"""

from typing import NamedTuple

ALIGNED = 0
"""Channels stay blocked until all have delivered the barrier, however long that takes."""
UNALIGNED = 1
"""The barrier overtakes the records before it. These records become part of the snapshot."""
FORCED_ALIGNED = 2
"""Aligned without a time limit, because some channel does not support unaligned checkpoints."""
TIMED = 3
"""Aligned at first. If the alignment lasts longer than the gate's time-out, it becomes unaligned."""


class Options(NamedTuple):
    """The options that a barrier carries in addition to its id."""

    alignment: int
    """The alignment of the barrier, one of the four constants above."""
    savepoint: bool
    timestamp: int
    """When the coordinator triggered the checkpoint, in milliseconds."""


NO_OPTIONS = Options(ALIGNED, False, 0)
"""The value of `first` while no checkpoint is pending."""
