"""The words of unaligned checkpoints: barriers with options, announcements, time, and what is said of them.

A barrier says how its checkpoint wants to be aligned. These words are told to the modes `unaligned` and
`alternating` of a gate only; in the others every barrier is an aligned one (`model.events.Barrier`).
"""

from typing import NamedTuple

ALIGNED = 0
"""Channels are blocked until all have delivered, however long that takes."""
UNALIGNED = 1
"""The barrier overtakes the records before it; they become part of the snapshot."""
FORCED_ALIGNED = 2
"""Aligned for ever: some channel cannot take part in an unaligned checkpoint."""
TIMED = 3
"""Aligned, until the alignment has lasted longer than the gate's time-out; then unaligned."""


class Options(NamedTuple):
    """What a barrier carries beside its id."""

    alignment: int
    """One of the four above."""
    savepoint: bool
    timestamp: int
    """When the coordinator triggered the checkpoint, in milliseconds."""


NO_OPTIONS = Options(ALIGNED, False, 0)
"""Of the pending checkpoint when there is none."""


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
    """A channel tells that barrier `checkpoint` stands in it, behind records that are not read yet."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "announce"


class Inject(NamedTuple):
    """The coordinator triggers the task itself, whose predecessors have finished in part."""

    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "inject"


class ReceiveBarrier(NamedTuple):
    """The network's thread has received barrier `checkpoint` on a channel; the task reads it later."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "receive_barrier"


class RunMail(NamedTuple):
    """The task's thread does what the network's left for it."""

    kind: str = "mail"


# ---------------------------------------------------------------- effects


class TriggerUnaligned(NamedTuple):
    """The subtask takes its snapshot now, and sends the barrier past what stands in its outputs."""

    checkpoint: int
    unaligned: bool = True
    kind: str = "trigger"


class StartPersisting(NamedTuple):
    """From now on in-flight input is part of the snapshot, channel by channel until the barrier comes."""

    checkpoint: int
    kind: str = "start_persisting"


class StopPersisting(NamedTuple):
    """In-flight input is no longer part of a snapshot; the id is the one whose event ends it."""

    checkpoint: int
    kind: str = "stop_persisting"


class Persist(NamedTuple):
    """The record reaches the operator and is stored in the snapshot: its channel's barrier is late."""

    channel: int
    value: int
    kind: str = "persist"


class Prioritise(NamedTuple):
    """The announced barrier of a channel is to overtake what stands before it."""

    channel: int
    kind: str = "prioritise"
