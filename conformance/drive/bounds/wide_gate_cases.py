"""Gates of many channels: one channel of a small case stands for a whole group of a wide gate.

If the small case has a barrier, an announcement or an end on this channel, then each channel of the group
delivers it, one after the other. A record or a cancellation comes on one channel of the group. So a case that
completes at two channels also completes at a gate of 129. An implementation that stores its channels as bits
of a 32, 64 or 128 bit integer confuses two channels, and fails. The model gives the expected answers.

Boundary cases run at every size in SIZES and LARGE, complete cases at all of these but the largest.
"""

from collections.abc import Iterator, Sequence
from random import Random

from conformance.adapters.protocol import Wire

WIDTHS = (33, 65, 129)
"""One channel more than 32, 64 and 128 bits can hold; gates of these sizes get the case of each rule."""
SIZES = (5, 6, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129)
"""Sizes that run in every mode, profile and level. Other parts of the suite drive 1 to 4 channels."""
LARGE = (1000, 32_768)
"""The sizes of gates in every mode; the last one is the greatest that the protocol has."""
_BITS = (8, 16, 32, 64, 128, 256, 512, 16_384)
_OF_ALL = frozenset({"barrier", "announce", "receive_barrier", "end_of_partition"})


def widened(events: Sequence[Wire], channels: int, wide: int, *, first: bool) -> list[Wire]:
    """Converts a case of `channels` channels to `wide` ones: its first or last channel becomes the group."""
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


def boundary_case(channels: int) -> list[Wire]:
    """A short case on the first and last channels and those around powers of two: three checkpoints."""
    near = (one for bits in _BITS for one in (bits - 1, bits) if one < channels)
    some = sorted({0, min(1, channels - 1), *near, max(0, channels - 2), channels - 1})
    last = some[-1]
    return [
        *(_barrier(channel, 1) for channel in reversed(some)),
        {"kind": "cancel", "channel": last, "checkpoint": 1},
        *(_barrier(channel, 2) for channel in some),
        {"kind": "end_of_partition", "channel": last},
        *(_barrier(channel, 3) for channel in some if channel != last),
        _barrier(some[0], 3),
    ]


def complete_case(channels: int, rng: Random) -> list[Wire]:
    """Every channel delivers its barrier, in a random order.

    In gates of at most 129 channels, all channels but one then end, and that one delivers a second barrier.
    """
    order = list(range(channels))
    rng.shuffle(order)
    events = [_barrier(channel, 1) for channel in order]
    if channels > SIZES[-1]:
        return events
    rng.shuffle(order)
    events += ({"kind": "end_of_partition", "channel": channel} for channel in order[1:])
    return [*events, _barrier(order[0], 2)]


def _barrier(channel: int, checkpoint: int) -> Wire:
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}
