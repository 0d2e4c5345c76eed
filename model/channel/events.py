# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `channel`. One channel, from its sender to its receiver."""

from typing import NamedTuple


class Emit(NamedTuple):
    """The sender emits a record."""

    value: int
    kind: str = "emit"


class SendBarrier(NamedTuple):
    """The sender emits a barrier."""

    checkpoint: int
    alignment: int = 0
    kind: str = "send_barrier"


class TimeOut(NamedTuple):
    """The time-out of a barrier that waits at the sender has passed."""

    checkpoint: int
    kind: str = "time_out"


class AbortAtSender(NamedTuple):
    """The sender's task has aborted the checkpoint."""

    checkpoint: int
    kind: str = "abort"


class Transfer(NamedTuple):
    """The first item of the sender's queue moves to the receiver."""

    kind: str = "transfer"


class Take(NamedTuple):
    """The receiver's gate reads the first item."""

    kind: str = "take"


class ResumeSender(NamedTuple):
    """The receiver's gate allows the sender to continue."""

    kind: str = "resume"


class BeginPersisting(NamedTuple):
    """The receiver's task begins its snapshot: from now on the receiver stores what the checkpoint's barrier
    overtakes.
    """

    checkpoint: int
    kind: str = "start_persisting"


class EndPersisting(NamedTuple):
    """The receiver stores no further record for the checkpoint or an older one."""

    checkpoint: int
    kind: str = "stop_persisting"


class MakeUrgent(NamedTuple):
    """The receiver moves the announced barrier to the front."""

    checkpoint: int
    kind: str = "prioritise"


class RestoreChannel(NamedTuple):
    """Both ends get back their stored in-flight records."""

    input: tuple[int, ...] = ()
    output: tuple[int, ...] = ()
    kind: str = "restore"


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
    """The gate is notified of a barrier that is still behind other items."""

    checkpoint: int
    kind: str = "announce"


class StoreOutput(NamedTuple):
    """The sender stores these records of its queue with the checkpoint."""

    checkpoint: int
    records: tuple[int, ...] = ()
    kind: str = "store_output"


class LoseOutput(NamedTuple):
    """The sender stores none of its records for the checkpoint, whose part it owed."""

    checkpoint: int
    kind: str = "lose_output"


class StoreInput(NamedTuple):
    """The receiver stores these records of its queue with the checkpoint."""

    checkpoint: int
    records: tuple[int, ...] = ()
    kind: str = "store_input"


class DeclineStart(NamedTuple):
    """The receiver declines to start storing for the checkpoint."""

    checkpoint: int
    reason: str
    kind: str = "decline"


EVENTS: tuple[type, ...] = (
    Emit,
    SendBarrier,
    TimeOut,
    AbortAtSender,
    Transfer,
    Take,
    ResumeSender,
    BeginPersisting,
    EndPersisting,
    MakeUrgent,
    RestoreChannel,
)
