"""Events and effects of unaligned checkpoints: barriers with options, announcements, persisting.

The options of a barrier state how its checkpoint aligns. Only the modes `unaligned` and `alternating` of a
gate use these events; in the other modes every barrier is aligned (`model.gate.events.Barrier`).
"""

from typing import NamedTuple

ALIGNED = 0
"""Channels stay blocked until all have delivered the barrier, however long that takes."""
UNALIGNED = 1
"""The barrier overtakes the records before it; they become part of the snapshot."""
FORCED_ALIGNED = 2
"""Aligned without a time limit: some channel cannot take part in an unaligned checkpoint."""
TIMED = 3
"""Aligned until the alignment has lasted longer than the gate's time-out; then unaligned."""


class Options(NamedTuple):
    """The options that a barrier carries beside its id."""

    alignment: int
    """One of the four constants above."""
    savepoint: bool
    timestamp: int
    """When the coordinator triggered the checkpoint, in milliseconds."""


NO_OPTIONS = Options(ALIGNED, False, 0)
"""The value of `first` while no checkpoint is pending."""


# ---------------------------------------------------------------- events


class OptionedBarrier(NamedTuple):
    """Barrier `checkpoint` arrives on a channel, with its options."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "barrier"


class Announce(NamedTuple):
    """A channel announces barrier `checkpoint`, which it holds behind records that are not read yet."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "announce"


class Inject(NamedTuple):
    """The coordinator triggers the task itself, because tasks before it have finished."""

    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "inject"


class ReceiveBarrier(NamedTuple):
    """The network thread has received barrier `checkpoint` on a channel; the task reads it later."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "receive_barrier"


class RunMail(NamedTuple):
    """The task thread emits the effects that the network thread left for it."""

    kind: str = "mail"


# ---------------------------------------------------------------- effects


class TriggerUnaligned(NamedTuple):
    """The subtask takes its snapshot and sends the barrier ahead of the records in its outputs."""

    checkpoint: int
    unaligned: bool = True
    kind: str = "trigger"


class StartPersisting(NamedTuple):
    """In-flight input becomes part of the snapshot from now on; on each channel until its barrier arrives."""

    checkpoint: int
    kind: str = "start_persisting"


class StopPersisting(NamedTuple):
    """In-flight input is no longer part of a snapshot. `checkpoint` is the id of the event that ends it."""

    checkpoint: int
    kind: str = "stop_persisting"


class Persist(NamedTuple):
    """The operator processes the record and the snapshot stores it: its channel's barrier is awaited."""

    channel: int
    value: int
    kind: str = "persist"


class Prioritise(NamedTuple):
    """The announced barrier of a channel overtakes the records before it."""

    channel: int
    kind: str = "prioritise"
