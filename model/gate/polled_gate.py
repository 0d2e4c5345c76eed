"""A gate that a task polls: items of a blocked channel wait in the network. Rule ALIGN-17.

The network holds back the items that arrive on a blocked channel. If an event resumes channels, the gate
reads the waiting items within that event, after the event's own effects. It reads them in order of arrival,
across all channels. An item continues to wait if an earlier item has blocked its channel again.
"""

from typing import NamedTuple

from model.events import Step
from model.gate import aligned
from model.gate.aligned import Gate
from model.gate.events import Barrier, Cancel, EndOfPartition, Process, Record
from model.gate.generations import aligned_steps
from model.gate.profiles import NEWEST, Profile

Item = Record | Barrier | Cancel | EndOfPartition


class Inbox(NamedTuple):
    """A gate and the items that the network holds back for it."""

    gate: Gate
    waiting: tuple[Item, ...]
    """Items that arrived on blocked channels, oldest first."""


def new_inbox(channels: int, counts_as_aligned: bool, profile: Profile = NEWEST) -> Inbox:
    """A gate in its initial state with no item waiting."""
    return Inbox(aligned.new_gate(channels, counts_as_aligned, profile), ())


def has_ended(inbox: Inbox, channel: int) -> bool:
    """Whether the end of the channel has arrived at the gate or in the network. No item may follow it."""
    return inbox.gate.closed[channel] or any(
        type(item) is EndOfPartition and item.channel == channel for item in inbox.waiting
    )


def on_arrival(inbox: Inbox, item: Item) -> Step[Inbox]:
    """An item arrives at the network. The gate reads it now, or when its channel is resumed."""
    if inbox.gate.blocked[item.channel]:
        return Step(Inbox(inbox.gate, (*inbox.waiting, item)), (), ("ALIGN-17",))
    return read_released(inbox.waiting, at_gate(inbox.gate, item))


def on_inject(inbox: Inbox, checkpoint: int) -> Step[Inbox]:
    """The coordinator triggers the task itself. The network does not delay this event (ALIGN-24)."""
    return read_released(inbox.waiting, aligned_steps(inbox.gate).on_inject(inbox.gate, checkpoint))


def read_released(waiting: tuple[Item, ...], done: Step[Gate]) -> Step[Inbox]:
    """The step `done` of the gate, followed by its steps for the waiting items of resumed channels."""
    gate, effects, rules = done
    position = next_released(gate, waiting)
    while position is not None:
        read = at_gate(gate, waiting[position])
        gate = read.state
        effects = (*effects, *read.effects)
        rules = (*rules, *read.rules, "ALIGN-17")
        waiting = (*waiting[:position], *waiting[position + 1 :])
        position = next_released(gate, waiting)
    return Step(Inbox(gate, waiting), effects, rules)


def next_released(gate: Gate, waiting: tuple[Item, ...]) -> int | None:
    """The position of the oldest item whose channel is not blocked, or None."""
    for position, item in enumerate(waiting):
        if not gate.blocked[item.channel]:
            return position
    return None


def at_gate(gate: Gate, item: Item) -> Step[Gate]:
    """The gate reads one item. The operator processes a record at once."""
    steps = aligned_steps(gate)
    if type(item) is Barrier:
        return steps.on_barrier(gate, item.channel, item.checkpoint)
    if type(item) is Cancel:
        return steps.on_cancel(gate, item.channel, item.checkpoint)
    if type(item) is EndOfPartition:
        return steps.on_end_of_partition(gate, item.channel)
    assert type(item) is Record
    return Step(gate, (Process(item.channel, item.value),), ("ALIGN-17",))


class Watched(NamedTuple):
    """A polled gate and a record of the last item of each channel. The property of ALIGN-25 needs the record.

    No step of the gate depends on the record.
    """

    gate: Gate
    last: tuple[int, ...]
    """By channel: the id of the last barrier or cancellation that the gate has read. 0 before the first."""
    at_barrier: tuple[bool, ...]
    """By channel: the last item that the gate has read is the barrier with the id in `last`."""


def new_watched(channels: int, counts_as_aligned: bool, profile: Profile = NEWEST) -> Watched:
    """A new gate that has read nothing."""
    gate = aligned.new_gate(channels, counts_as_aligned, profile)
    return Watched(gate, (0,) * channels, (False,) * channels)


def on_watched_inject(watched: Watched, checkpoint: int) -> Step[Watched]:
    """The coordinator triggers the task. The gate reads no item."""
    gate, effects, rules = aligned_steps(watched.gate).on_inject(watched.gate, checkpoint)
    return Step(watched._replace(gate=gate), effects, rules)


def on_watched_item(watched: Watched, item: Item) -> Step[Watched]:
    """The gate reads the item, which becomes the channel's last one. A blocked channel delivers nothing."""
    if watched.gate.blocked[item.channel]:
        return Step(watched, (), ())  # the network holds the item back (ALIGN-17)
    gate, effects, rules = at_gate(watched.gate, item)
    last, at_barrier, channel = watched.last, watched.at_barrier, item.channel
    if type(item) is Barrier or type(item) is Cancel:
        last = (*last[:channel], item.checkpoint, *last[channel + 1 :])
    if type(item) is Barrier or type(item) is Cancel or type(item) is Record:
        at_barrier = (*at_barrier[:channel], type(item) is Barrier, *at_barrier[channel + 1 :])
    return Step(Watched(gate, last, at_barrier), effects, rules)
