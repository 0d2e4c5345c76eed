"""A gate that stores the items of a blocked channel: Flink up to 1.10. Rules ALIGN-17, ALIGN-22, ALIGN-23.

Up to Flink 1.10 the network cannot hold back the items of one channel. The gate takes every item and stores
the items of blocked channels. If an event resumes channels, the gate replays the stored items within that
event. A replayed item may begin a new alignment, and the gate then stores later items of the replay again. If
channels resume during a replay, the gate first replays the items stored since then, and afterwards continues
the first replay. If an alignment would store more than a limit, the gate aborts it.
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
"""Size in bytes that counts toward the limit for each stored item, of any size: one network page."""


class Buffer(NamedTuple):
    """A gate and its stored items."""

    gate: Gate
    stored: tuple[Item, ...]
    """Items of blocked channels, oldest first."""
    rolled: tuple[tuple[Item, ...], ...]
    """Sequences of items that the gate replays, the current sequence first. Empty between two events."""
    limit: int
    """Maximum number of bytes of items stored or in replay. -1 for no limit. Never changes."""


def new_buffer(channels: int, counts_as_aligned: bool, profile: Profile, limit: int = UNLIMITED) -> Buffer:
    """A gate in its initial state, without stored items."""
    return Buffer(aligned.new_gate(channels, counts_as_aligned, profile), (), (), limit)


def has_ended(buffer: Buffer, channel: int) -> bool:
    """Whether the gate has read or stored the end of the channel. No item may follow the end."""
    return buffer.gate.closed[channel] or any(
        type(item) is EndOfPartition and item.channel == channel for item in buffer.stored
    )


def on_arrival(buffer: Buffer, item: Item) -> Step[Buffer]:
    """An item arrives. Within this event the gate also replays all stored items of resumed channels."""
    buffer, effects, rules = take(buffer, item)
    while buffer.rolled:
        sequence, *others = buffer.rolled
        rest = ((*sequence[1:],), *others) if len(sequence) > 1 else tuple(others)
        read = take(buffer._replace(rolled=rest), sequence[0])
        buffer = read.state
        effects = (*effects, *read.effects)
        rules = (*rules, *read.rules, "ALIGN-23")
    return Step(buffer, effects, rules)


def take(buffer: Buffer, item: Item) -> Step[Buffer]:
    """The gate takes a new or replayed item: it stores an item of a blocked channel, and reads any other."""
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
    """Whether the items stored or in replay exceed the limit."""
    items = len(buffer.stored) + sum(len(sequence) for sequence in buffer.rolled)
    return 0 <= buffer.limit < items * PAGE_BYTES


def roll_over(buffer: Buffer) -> Buffer:
    """The stored items become the next sequence to replay."""
    if not buffer.stored:
        return buffer
    return buffer._replace(stored=(), rolled=(buffer.stored, *buffer.rolled))
