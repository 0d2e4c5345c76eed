"""In-flight records of a polled gate in mode `unaligned` or `alternating`. Rules UNAL-23 and UNAL-24.

A record that is read on a channel whose barrier the running snapshot still awaits belongs before that
barrier: it is processed and persisted. Every other record is only processed. What comes on a blocked
channel waits in the network, whatever it is: the sender stopped after its aligned barrier and sends
nothing, no announcement and no unaligned barrier either. When an event releases channels, what waited is
handed on within that event, after its own effects, in the order of arrival over all channels, as long as
the item's channel stays open to it.

The network obeys the gate's words: a channel is held from its `block` to its `resume`. That is what the
gate takes for blocked, but for a late injection, which resumes every open channel, blocked ones too.
"""

from typing import NamedTuple

from model.events import Advance, Effects, Step
from model.gate import alternating
from model.gate.aligned import with_flag
from model.gate.events import Block, Cancel, EndOfPartition, Process, Record, Resume
from model.gate.profiles import NEWEST, Profile
from model.gate.unaligned import UnalignedGate, new_gate, persisting
from model.gate.unaligned_events import Announce, Inject, OptionedBarrier, Persist

Item = Record | OptionedBarrier | Announce | Cancel | EndOfPartition


class Passage(NamedTuple):
    """A gate and what the network holds back for it."""

    gate: UnalignedGate
    waiting: tuple[Item, ...]
    """Items that arrived on held channels, oldest first."""
    held: tuple[bool, ...]
    """The channel was told to block, and not to go on since."""


def new_passage(
    channels: int,
    counts_as_aligned: bool,
    profile: Profile = NEWEST,
    *,
    alternating: bool = False,
    timeout: int = 0,
) -> Passage:
    """An empty network before a gate that has seen nothing."""
    gate = new_gate(channels, counts_as_aligned, profile, alternating=alternating, timeout=timeout)
    return Passage(gate, (), (False,) * channels)


def has_ended(passage: Passage, channel: int) -> bool:
    """The channel's end has arrived, at the gate or in the network: nothing may follow it."""
    return passage.gate.closed[channel] or any(
        type(item) is EndOfPartition and item.channel == channel for item in passage.waiting
    )


def on_arrival(passage: Passage, item: Item) -> Step[Passage]:
    """An item arrives at the network; the gate reads it now or when its channel is released."""
    if passage.held[item.channel]:
        return Step(passage._replace(waiting=(*passage.waiting, item)), (), ("UNAL-24",))
    return handed_on(passage, at_gate(passage.gate, item))


def on_call(passage: Passage, call: Inject | Advance) -> Step[Passage]:
    """The coordinator triggers the task, or time passes: that waits for no channel."""
    if type(call) is Inject:
        return handed_on(passage, alternating.on_inject(passage.gate, *call[:-1]))
    assert type(call) is Advance
    return handed_on(passage, alternating.on_advance(passage.gate, call.ms))


def handed_on(passage: Passage, step: Step[UnalignedGate]) -> Step[Passage]:
    """The effects of an event, followed by those of all that it lets through."""
    gate, effects, rules = step
    waiting = passage.waiting
    held = obeyed(passage.held, effects)
    position = next_released(gate, waiting, held)
    while position is not None:
        handed = at_gate(gate, waiting[position])
        gate = handed.state
        held = obeyed(held, handed.effects)
        effects = (*effects, *handed.effects)
        rules = (*rules, *handed.rules, "UNAL-24")
        waiting = (*waiting[:position], *waiting[position + 1 :])
        position = next_released(gate, waiting, held)
    return Step(Passage(gate, waiting, held), effects, rules)


def obeyed(held: tuple[bool, ...], effects: Effects) -> tuple[bool, ...]:
    """The channels that the network holds after these words of the gate."""
    for effect in effects:
        if type(effect) is Block:
            held = with_flag(held, effect.channel, True)
        if type(effect) is Resume:
            held = with_flag(held, effect.channel, False)
    return held


def next_released(gate: UnalignedGate, waiting: tuple[Item, ...], held: tuple[bool, ...]) -> int | None:
    """The position of the oldest item whose channel is not held; a failed gate reads nothing."""
    if gate.failed:
        return None
    for position, item in enumerate(waiting):
        if not held[item.channel]:
            return position
    return None


def at_gate(gate: UnalignedGate, item: Item) -> Step[UnalignedGate]:
    """The gate reads one item; a record goes straight to the operator."""
    if type(item) is OptionedBarrier:
        return alternating.on_barrier(gate, *item[:-1])
    if type(item) is Announce:
        return alternating.on_announce(gate, *item[:-1])
    if type(item) is Cancel:
        return alternating.on_cancel(gate, item.channel, item.checkpoint)
    if type(item) is EndOfPartition:
        return alternating.on_end_of_partition(gate, item.channel)
    assert type(item) is Record
    effects: Effects = (Process(item.channel, item.value),)
    if persisting(gate)[item.channel]:
        effects = (Persist(item.channel, item.value),)
    return Step(gate, effects, ("UNAL-23",))
