"""Items, events and effects of one channel (`model.channel.channel`).

The alignments of a barrier are those of the gate (`model.gate.unaligned_events`). The effects of a channel
are the inputs of its gate: a record, a barrier, or the announcement of one.
"""

from typing import NamedTuple

# ---------------------------------------------------------------- items of a queue


class Datum(NamedTuple):
    """A record; the protocol does not read its value."""

    value: int


class Mark(NamedTuple):
    """A barrier."""

    checkpoint: int
    alignment: int
    """One of the constants of `model.gate.unaligned_events`; UNALIGNED is urgent."""


class Notice(NamedTuple):
    """The announcement of a barrier that waits behind records; urgent."""

    checkpoint: int


Item = Datum | Mark | Notice

# ---------------------------------------------------------------- events


class Emit(NamedTuple):
    """The sending task writes a record."""

    value: int
    kind: str = "emit"


class SendBarrier(NamedTuple):
    """The sending task takes its snapshot, and its barrier enters the channel."""

    checkpoint: int
    alignment: int
    kind: str = "send_barrier"


class TimeOut(NamedTuple):
    """The alignment time-out passes at the sending task."""

    checkpoint: int
    kind: str = "time_out"


class AbortAtSender(NamedTuple):
    """The sending task aborts the checkpoint."""

    checkpoint: int
    kind: str = "abort"


class Transfer(NamedTuple):
    """The network carries one item from the sender to the receiver, if one may leave."""

    kind: str = "transfer"


class Take(NamedTuple):
    """The receiving gate reads one item, if there is one."""

    kind: str = "take"


class ResumeSender(NamedTuple):
    """The receiving gate resumes the channel after an aligned barrier."""

    kind: str = "resume"


class BeginPersisting(NamedTuple):
    """The receiving task begins an unaligned snapshot."""

    checkpoint: int
    kind: str = "start_persisting"


class EndPersisting(NamedTuple):
    """The receiving task completes or aborts a snapshot."""

    checkpoint: int
    kind: str = "stop_persisting"


class MakeUrgent(NamedTuple):
    """The receiving gate prioritises the announced barrier."""

    checkpoint: int
    kind: str = "prioritise"


class RestoreChannel(NamedTuple):
    """A new attempt starts with the records that a checkpoint stores for this channel."""

    input: tuple[int, ...]
    """The records that the receiver stored, oldest first."""
    output: tuple[int, ...]
    """The records that the sender stored, oldest first."""
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
    """The sender's part of the checkpoint is lost for good."""

    checkpoint: int
    kind: str = "lose_output"


class StoreInput(NamedTuple):
    """These records are in flight at the receiver, and part of the checkpoint."""

    checkpoint: int
    records: tuple[int, ...]
    kind: str = "store_input"


class DeclineStart(NamedTuple):
    """The snapshot cannot begin at this channel."""

    checkpoint: int
    reason: str
    kind: str = "decline"
