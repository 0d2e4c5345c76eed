"""The items of a channel's queues. `kind` is the name in the adapter protocol."""

from typing import NamedTuple


class Datum(NamedTuple):
    """A record. No step depends on its value."""

    value: int
    kind: str = "record"


class Mark(NamedTuple):
    """A barrier."""

    checkpoint: int
    alignment: int
    """The alignment, one of the constants of `model.gate.alignment`. UNALIGNED is urgent."""
    kind: str = "barrier"


class Notice(NamedTuple):
    """The announcement of a barrier that waits behind records. An announcement is urgent."""

    checkpoint: int
    kind: str = "announce"


Item = Datum | Mark | Notice
