"""A gate that stores what comes on a blocked channel: Flink up to 1.10. Rules ALIGN-17, ALIGN-22, ALIGN-23.

Before the network could hold a channel back, the gate took everything and kept aside what belonged
behind a barrier. When an event lets channels go, what was stored is rolled over: it is replayed within
that event, before anything new. A replayed item whose channel is blocked again is stored again; if
that alignment ends before the replay does, what was stored last is replayed first, and the rest of
the older sequence after it. An alignment that would store more than a limit is given up.
"""

from typing import NamedTuple

from model.events import ALIGNMENT_LIMIT_EXCEEDED, Step
from model.gate import aligned
from model.gate.aligned import Gate
from model.gate.events import Abort, EndOfPartition
from model.gate.polled_gate import Item, at_gate
from model.gate.profiles import Profile

UNLIMITED = -1
PAGE_BYTES = 32_768
"""What each stored item counts for, whatever its own size: a page of the network."""


class Buffer(NamedTuple):
    """A gate and its store."""

    gate: Gate
    stored: tuple[Item, ...]
    """What came on blocked channels since the last release, oldest first."""
    rolled: tuple[tuple[Item, ...], ...]
    """Sequences that are being replayed, the next one first; between two events there are none."""
    limit: int
    """So many bytes may be stored and not yet replayed; -1 for no limit. Never changes."""


def new_buffer(channels: int, counts_as_aligned: bool, profile: Profile, limit: int = UNLIMITED) -> Buffer:
    """An empty store before a gate that has seen nothing."""
    return Buffer(aligned.new_gate(channels, counts_as_aligned, profile), (), (), limit)


def has_ended(buffer: Buffer, channel: int) -> bool:
    """The channel's end has arrived, at the gate or in the store: nothing may follow it."""
    return buffer.gate.closed[channel] or any(
        type(item) is EndOfPartition and item.channel == channel for item in buffer.stored
    )


def on_arrival(buffer: Buffer, item: Item) -> Step[Buffer]:
    """An item arrives; whatever it lets go is replayed before anything new is taken."""
    buffer, effects, rules = take(buffer, item)
    while buffer.rolled:
        sequence, *others = buffer.rolled
        rest = ((*sequence[1:],), *others) if len(sequence) > 1 else tuple(others)
        handed = take(buffer._replace(rolled=rest), sequence[0])
        buffer = handed.state
        effects = (*effects, *handed.effects)
        rules = (*rules, *handed.rules, "ALIGN-23")
    return Step(buffer, effects, rules)


def take(buffer: Buffer, item: Item) -> Step[Buffer]:
    """One item, new or replayed: stored if its channel is blocked, else handed to the gate."""
    gate = buffer.gate
    if gate.blocked[item.channel]:
        buffer = buffer._replace(stored=(*buffer.stored, item))
        if not is_full(buffer):
            return Step(buffer, (), ("ALIGN-17",))
        given_up = (*aligned.resume_all(gate), Abort(gate.current, ALIGNMENT_LIMIT_EXCEEDED))
        return Step(roll_over(buffer._replace(gate=aligned.idle(gate))), given_up, ("ALIGN-22",))
    after, effects, rules = at_gate(gate, item)
    buffer = buffer._replace(gate=after)
    if any(had and not has for had, has in zip(gate.blocked, after.blocked, strict=True)):
        buffer = roll_over(buffer)
    return Step(buffer, effects, rules)


def is_full(buffer: Buffer) -> bool:
    """More is stored, or waits to be replayed, than the limit allows."""
    items = len(buffer.stored) + sum(len(sequence) for sequence in buffer.rolled)
    return 0 <= buffer.limit < items * PAGE_BYTES


def roll_over(buffer: Buffer) -> Buffer:
    """What is stored becomes the next sequence to be replayed."""
    if not buffer.stored:
        return buffer
    return buffer._replace(stored=(), rolled=(buffer.stored, *buffer.rolled))
