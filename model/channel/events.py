"""The words of one channel: what stands in it, what happens to it, and what it says (model.channel.channel).

How a barrier wants to be aligned is said in the words of the gate (`model.gate.unaligned_events`). What a
channel hands to its gate is what the gate takes: a record, a barrier, or the announcement of one.
"""

from typing import NamedTuple

# ---------------------------------------------------------------- what stands in a queue


class Datum(NamedTuple):
    """A record, opaque to the protocol."""

    value: int


class Mark(NamedTuple):
    """A barrier."""

    checkpoint: int
    alignment: int
    """One of `model.gate.unaligned_events`; UNALIGNED is urgent."""


class Notice(NamedTuple):
    """The announcement of a barrier that stands behind records; urgent."""

    checkpoint: int


Item = Datum | Mark | Notice

# ---------------------------------------------------------------- events


class Emit(NamedTuple):
    """The sending task writes a record."""

    value: int
    kind: str = "emit"


class SendBarrier(NamedTuple):
    """The sending task takes its snapshot, and its barrier goes into the channel."""

    checkpoint: int
    alignment: int
    kind: str = "send_barrier"


class TimeOut(NamedTuple):
    """The sending task has waited long enough for an aligned barrier to leave."""

    checkpoint: int
    kind: str = "time_out"


class AbortAtSender(NamedTuple):
    """The sending task hears that the checkpoint is given up."""

    checkpoint: int
    kind: str = "abort"


class Transfer(NamedTuple):
    """The network carries one item from the sender to the receiver, if there is one that may go."""

    kind: str = "transfer"


class Take(NamedTuple):
    """The receiving gate reads one item, if there is one."""

    kind: str = "take"


class ResumeSender(NamedTuple):
    """The receiving gate lets the channel go on after an aligned barrier."""

    kind: str = "resume"


class BeginPersisting(NamedTuple):
    """The receiving task begins an unaligned snapshot."""

    checkpoint: int
    kind: str = "start_persisting"


class EndPersisting(NamedTuple):
    """The receiving task has all of a snapshot, or gives it up."""

    checkpoint: int
    kind: str = "stop_persisting"


class MakeUrgent(NamedTuple):
    """The receiving gate wants the announced barrier at once."""

    checkpoint: int
    kind: str = "prioritise"


class RestoreChannel(NamedTuple):
    """A new attempt begins with what a checkpoint has of this channel."""

    input: tuple[int, ...]
    """What the receiver stored, oldest first."""
    output: tuple[int, ...]
    """What the sender stored, oldest first."""
    kind: str = "restore"


# ---------------------------------------------------------------- effects


class GiveRecord(NamedTuple):
    """The gate reads a record."""

    value: int
    kind: str = "record"


class GiveBarrier(NamedTuple):
    """The gate reads a barrier."""

    checkpoint: int
    alignment: int
    kind: str = "barrier"


class GiveNotice(NamedTuple):
    """The gate reads the announcement of a barrier."""

    checkpoint: int
    kind: str = "announce"


class StoreOutput(NamedTuple):
    """The sender's part of the checkpoint is complete: the records that its barrier overtook."""

    checkpoint: int
    records: tuple[int, ...]
    kind: str = "store_output"


class LoseOutput(NamedTuple):
    """The sender's part of the checkpoint will never be known."""

    checkpoint: int
    kind: str = "lose_output"


class StoreInput(NamedTuple):
    """These records are in flight at the receiver, and part of the checkpoint."""

    checkpoint: int
    records: tuple[int, ...]
    kind: str = "store_input"


class DeclineStart(NamedTuple):
    """The snapshot cannot begin here."""

    checkpoint: int
    reason: str
    kind: str = "decline"
