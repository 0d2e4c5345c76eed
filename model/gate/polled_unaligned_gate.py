"""In-flight records of a polled gate in mode `unaligned` or `alternating`. Rules UNAL-23 and UNAL-24.

While a snapshot awaits the barrier of a channel, the records of this channel come before that barrier. The
task processes such a record and persists it. It processes any other record without persisting it. The network
*holds* a channel from the effect `block` to the effect `resume`: every item of a held channel waits, also an
announcement or an unaligned barrier. In Flink the sender has stopped after its aligned barrier.

If an event resumes channels, the gate reads the waiting items within that event, after the event's own
effects. It reads them in order of arrival, across all channels. An item continues to wait if an earlier item
has blocked its channel again.

The held channels are the channels that the gate has blocked, with one exception: a late injection resumes
every open channel, also a channel that the gate keeps blocked.
"""

from typing import NamedTuple

from model.events import Advance, Effects, Step
from model.gate.aligned import with_flag
from model.gate.events import (
    Announce,
    Block,
    Cancel,
    EndOfPartition,
    Inject,
    OptionedBarrier,
    Persist,
    Process,
    Record,
    Resume,
)
from model.gate.profiles import Profile
from model.gate.unaligned import UnalignedGate, new_gate, persisting
from model.gate.unaligned_generations import unaligned_steps

Item = Record | OptionedBarrier | Announce | Cancel | EndOfPartition


class Passage(NamedTuple):
    """A gate and the items that the network holds back for it."""

    gate: UnalignedGate
    waiting: tuple[Item, ...]
    """Items that arrived on held channels, oldest first."""
    held: tuple[bool, ...]
    """The gate has blocked the channel and has not resumed it since."""


def new_passage(
    channels: int,
    counts_as_aligned: bool,
    profile: Profile,
    *,
    alternating: bool,
    timeout: int,
) -> Passage:
    """A gate in its initial state with no item waiting."""
    gate = new_gate(channels, counts_as_aligned, profile, alternating=alternating, timeout=timeout)
    return Passage(gate, (), (False,) * channels)


def has_ended(passage: Passage, channel: int) -> bool:
    """Whether the end of the channel has arrived at the gate or in the network. No item may follow it."""
    return passage.gate.closed[channel] or any(
        type(item) is EndOfPartition and item.channel == channel for item in passage.waiting
    )


def on_arrival(passage: Passage, item: Item) -> Step[Passage]:
    """An item arrives at the network. The gate reads it now, or when its channel is resumed."""
    if passage.held[item.channel]:
        return Step(passage._replace(waiting=(*passage.waiting, item)), (), ("UNAL-24",))
    return read_released(passage, at_gate(passage.gate, item))


def on_call(passage: Passage, call: Inject | Advance) -> Step[Passage]:
    """The coordinator triggers the task, or time passes. The network delays neither of these events."""
    if type(call) is Inject:
        return read_released(passage, unaligned_steps(passage.gate).on_inject(passage.gate, *call[:-1]))
    assert type(call) is Advance
    return read_released(passage, unaligned_steps(passage.gate).on_advance(passage.gate, call.ms))


def read_released(passage: Passage, step: Step[UnalignedGate]) -> Step[Passage]:
    """The step of the gate, followed by its steps for the waiting items of resumed channels."""
    gate, effects, rules = step
    waiting = passage.waiting
    held = held_after(passage.held, effects)
    position = next_released(gate, waiting, held)
    while position is not None:
        read = at_gate(gate, waiting[position])
        gate = read.state
        held = held_after(held, read.effects)
        effects = (*effects, *read.effects)
        rules = (*rules, *read.rules, "UNAL-24")
        waiting = (*waiting[:position], *waiting[position + 1 :])
        position = next_released(gate, waiting, held)
    return Step(Passage(gate, waiting, held), effects, rules)


def held_after(held: tuple[bool, ...], effects: Effects) -> tuple[bool, ...]:
    """The channels that the network holds after these effects of the gate."""
    for effect in effects:
        if type(effect) is Block:
            held = with_flag(held, effect.channel, True)
        if type(effect) is Resume:
            held = with_flag(held, effect.channel, False)
    return held


def next_released(gate: UnalignedGate, waiting: tuple[Item, ...], held: tuple[bool, ...]) -> int | None:
    """The position of the oldest item whose channel is not held, or None. A failed gate reads nothing."""
    if gate.failed:
        return None
    for position, item in enumerate(waiting):
        if not held[item.channel]:
            return position
    return None


def at_gate(gate: UnalignedGate, item: Item) -> Step[UnalignedGate]:
    """The gate reads one item. The operator processes a record at once."""
    if type(item) is OptionedBarrier:
        return unaligned_steps(gate).on_barrier(gate, *item[:-1])
    if type(item) is Announce:
        return unaligned_steps(gate).on_announce(gate, *item[:-1])
    if type(item) is Cancel:
        return unaligned_steps(gate).on_cancel(gate, item.channel, item.checkpoint)
    if type(item) is EndOfPartition:
        return unaligned_steps(gate).on_end_of_partition(gate, item.channel)
    assert type(item) is Record
    effects: Effects = (Process(item.channel, item.value),)
    if persisting(gate)[item.channel]:
        effects = (Persist(item.channel, item.value),)
    return Step(gate, effects, ("UNAL-23",))
