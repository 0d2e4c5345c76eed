"""The items of a channel's queues."""

from typing import NamedTuple


class Datum(NamedTuple):
    """A record; the protocol does not read its value."""

    value: int


class Mark(NamedTuple):
    """A barrier."""

    checkpoint: int
    alignment: int
    """One of the constants of `model.gate.alignment`; UNALIGNED is urgent."""


class Notice(NamedTuple):
    """The announcement of a barrier that waits behind records; urgent."""

    checkpoint: int


Item = Datum | Mark | Notice
