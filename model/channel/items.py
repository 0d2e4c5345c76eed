"""The items of a channel's queues, with their words on the wire as `kind`: items of two classes differ."""

from typing import NamedTuple


class Datum(NamedTuple):
    """A record; the protocol does not read its value."""

    value: int
    kind: str = "record"


class Mark(NamedTuple):
    """A barrier."""

    checkpoint: int
    alignment: int
    """How it aligns, one of the constants of `model.gate.alignment`; UNALIGNED is urgent."""
    kind: str = "barrier"


class Notice(NamedTuple):
    """The announcement of a barrier that waits behind records; urgent."""

    checkpoint: int
    kind: str = "announce"


Item = Datum | Mark | Notice
