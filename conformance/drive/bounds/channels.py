"""Gates of many channels: one channel of a small case stands for a whole group of a wide gate.

What a channel of the group delivers (barriers, announcements, its end) each of the others delivers too, one
after the other; records and cancellations come on one of them. So a case of two channels completes at a gate
of 129 as it does at one of two, and an implementation that keeps its channels in a number of 32, 64 or 128
bits takes one of them for another. The expected answers are the model's own.
"""

from collections.abc import Iterator, Sequence

from conformance.adapters.protocol import Wire

WIDTHS = (33, 65, 129)
"""One channel more than 32, 64 and 128 bits can hold."""
_OF_ALL = frozenset({"barrier", "announce", "receive_barrier", "end_of_partition"})


def widened(events: Sequence[Wire], channels: int, wide: int, *, first: bool) -> list[Wire]:
    """A case of a gate of `channels` for one of `wide`; the group is its first channel or its last."""
    return [event for one in events for event in _widened(one, channels, wide, first=first)]


def _widened(event: Wire, channels: int, wide: int, *, first: bool) -> Iterator[Wire]:
    channel = event.get("channel")
    more = wide - channels
    if type(channel) is not int or channel < 0:
        yield event
    elif channel >= channels:
        yield {**event, "channel": channel + more}
    elif channel != (0 if first else channels - 1):
        yield {**event, "channel": channel + more} if first else event
    elif event["kind"] in _OF_ALL:
        yield from ({**event, "channel": channel + one} for one in range(more + 1))
    else:
        yield {**event, "channel": channel + more}
