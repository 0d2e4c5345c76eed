# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `gate`. One task's input gate."""

from typing import NamedTuple

from model.shared_events import Abort, Advance, Fail, Trigger

__all__ = [
    "EVENTS",
    "Abort",
    "Advance",
    "Announce",
    "Barrier",
    "Block",
    "Cancel",
    "EndOfPartition",
    "Fail",
    "Inject",
    "Injection",
    "OptionedBarrier",
    "Persist",
    "Prioritise",
    "Process",
    "ReceiveBarrier",
    "Record",
    "Resume",
    "RunMail",
    "StartPersisting",
    "StopPersisting",
    "Trigger",
    "TriggerUnaligned",
]


class Record(NamedTuple):
    """A record arrives on a channel."""

    channel: int
    value: int
    kind: str = "record"


class Barrier(NamedTuple):
    """Barrier `checkpoint` arrives on a channel."""

    channel: int
    checkpoint: int
    kind: str = "barrier"


class OptionedBarrier(NamedTuple):
    """Barrier `checkpoint` arrives on a channel. With `alignment`, `savepoint`, `timestamp`."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "barrier"


class Cancel(NamedTuple):
    """A cancellation marker of `checkpoint` arrives on a channel."""

    channel: int
    checkpoint: int
    kind: str = "cancel"


class EndOfPartition(NamedTuple):
    """A channel has delivered its last item."""

    channel: int
    kind: str = "end_of_partition"


class Announce(NamedTuple):
    """The announcement of a barrier arrives ahead of the barrier."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "announce"


class ReceiveBarrier(NamedTuple):
    """The network thread receives a barrier; the task reads it later."""

    channel: int
    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "receive_barrier"


class RunMail(NamedTuple):
    """The task thread runs the actions that the network thread has queued for it."""

    kind: str = "mail"


class Injection(NamedTuple):
    """The task itself is triggered, because every predecessor has finished."""

    checkpoint: int
    kind: str = "inject"


class Inject(NamedTuple):
    """The task itself is triggered, because every predecessor has finished. With `alignment`, `savepoint`,
    `timestamp`.
    """

    checkpoint: int
    alignment: int
    savepoint: bool
    timestamp: int
    kind: str = "inject"


class Process(NamedTuple):
    """The record reaches the operator."""

    channel: int
    value: int
    kind: str = "process"


class Block(NamedTuple):
    """The channel is not read until it is resumed."""

    channel: int
    kind: str = "block"


class Resume(NamedTuple):
    """The sender, which stopped at its barrier, continues. After an alignment the channel is read again."""

    channel: int
    kind: str = "resume"


class TriggerUnaligned(NamedTuple):
    """The subtask takes its snapshot now. With `unaligned`."""

    checkpoint: int
    unaligned: bool = True
    kind: str = "trigger"


class StartPersisting(NamedTuple):
    """From here on, records that barriers overtake belong to the checkpoint."""

    checkpoint: int
    kind: str = "start_persisting"


class StopPersisting(NamedTuple):
    """No further record belongs to the checkpoint."""

    checkpoint: int
    kind: str = "stop_persisting"


class Persist(NamedTuple):
    """The record reaches the operator, and is stored as in-flight data of the checkpoint."""

    channel: int
    value: int
    kind: str = "persist"


class Prioritise(NamedTuple):
    """The announced barrier of the channel overtakes the records before it."""

    channel: int
    kind: str = "prioritise"


EVENTS: tuple[type, ...] = (
    Record,
    Barrier,
    OptionedBarrier,
    Cancel,
    EndOfPartition,
    Announce,
    ReceiveBarrier,
    RunMail,
    Injection,
    Inject,
    Advance,
)
