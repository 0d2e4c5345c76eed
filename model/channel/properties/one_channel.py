"""UNAL-32 to UNAL-36 over one channel."""

from itertools import pairwise

from model.channel.channel import ARRIVED, AWAITED, IDLE, Channel
from model.channel.events import (
    AbortAtSender,
    BeginPersisting,
    DeclineStart,
    Emit,
    EndPersisting,
    GiveBarrier,
    GiveNotice,
    GiveRecord,
    LoseOutput,
    MakeUrgent,
    RestoreChannel,
    ResumeSender,
    SendBarrier,
    StoreInput,
    StoreOutput,
    Take,
    TimeOut,
    Transfer,
)
from model.channel.generations import channel_steps
from model.channel.items import Datum, Item, Mark, Notice
from model.channel.properties.terms import (
    around,
    arrives,
    declines,
    is_urgent,
    leaves,
    overtaking,
    started,
    values_in,
)
from model.event_frames import Frame
from model.events import NONE, TASK_NOT_READY, Effect, Effects, Event
from model.gate.alignment import TIMED, UNALIGNED
from model.registry import Registry

CHANNEL = Registry("channel")
CHANNEL.frames({
    Emit: Frame("UNAL-32", "output"),
    SendBarrier: Frame("UNAL-32", "output promised", "(store_output | lose_output)?"),
    TimeOut: Frame("UNAL-33", "output promised", "store_output?"),
    AbortAtSender: Frame("UNAL-33", "promised", "lose_output?"),
    Transfer: Frame(
        "UNAL-35",
        "output blocked promised input phase seen last before",
        "(store_output | store_input)?",
    ),
    Take: Frame("UNAL-35", "input restored before", "(record | barrier | announce)?"),
    ResumeSender: Frame("UNAL-35", "blocked"),
    BeginPersisting: Frame("UNAL-34", "phase seen last before", "(store_input | decline)?"),
    EndPersisting: Frame("UNAL-34", "phase seen last before"),
    MakeUrgent: Frame("UNAL-35", "input"),
    RestoreChannel: Frame("UNAL-36", "output blocked promised input restored phase seen last before"),
})  # fmt: skip


@CHANNEL.initial("UNAL-32")
def unal_32_at_first(channel: Channel) -> bool:
    """A new channel is empty and not blocked, and no checkpoint has begun at either end."""
    return channel == Channel((), False, NONE, (), 0, IDLE, NONE, NONE, 0, channel.profile)


@CHANNEL.step("UNAL-32")
def unal_32(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """An unaligned barrier overtakes all items that are not urgent. The sender stores their records."""
    if type(event) is Emit:
        return after.output == (*before.output, Datum(event.value))
    if type(event) is not SendBarrier:
        return True
    barrier = Mark(event.checkpoint, event.alignment)
    if event.alignment != UNALIGNED:
        return after.output == (*before.output, barrier)
    stored = StoreOutput(event.checkpoint, values_in(before.output))
    return after.output == overtaking(before.output, barrier) and effects == (stored,)


@CHANNEL.step("UNAL-33")
def unal_33(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The output part of a timed barrier is stored at its time-out or when it leaves, or it is lost."""
    owed = before.promised
    parts = tuple(effect for effect in effects if type(effect) is StoreOutput or type(effect) is LoseOutput)
    if type(event) is SendBarrier and event.alignment == TIMED and before.profile.times_out_at_sender:
        return after.promised == event.checkpoint and parts == (() if owed == NONE else (LoseOutput(owed),))
    if type(event) is SendBarrier:
        return after.promised == owed and (event.alignment == UNALIGNED or not parts)  # UNAL-32
    if type(event) is RestoreChannel:
        return after.promised == NONE and not parts
    if type(event) is TimeOut and event.checkpoint == owed and owed != NONE:
        ahead, behind = around(before.output, owed)
        hurried = overtaking((*ahead, *behind), Mark(owed, UNALIGNED))
        stored = parts == (StoreOutput(owed, values_in(ahead)),)
        return stored and after.output == hurried and after.promised == NONE
    if type(event) is AbortAtSender and event.checkpoint == owed and owed != NONE:
        return parts == (LoseOutput(owed),) and after.promised == NONE
    if leaves(before, event) and before.output[0] == Mark(owed, TIMED):
        return parts == (StoreOutput(owed, ()),) and after.promised == NONE
    return not parts and after.promised == owed and (type(event) is not TimeOut or after == before)


@CHANNEL.state("UNAL-33")
def unal_33_owed(state: Channel) -> bool:
    """The barrier of checkpoint `promised` waits at the sender. Up to 1.15 `promised` is -1."""
    return state.promised == NONE or (
        state.profile.times_out_at_sender
        and any(item == Mark(state.promised, TIMED) for item in state.output)
    )


@CHANNEL.step("UNAL-34")
def unal_34(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The receiver stores the records before the barrier: first the unread ones, then those that arrive.

    A snapshot does not begin after the barrier of a newer checkpoint has arrived.
    """
    if type(event) is BeginPersisting:
        return effects == started(before, event.checkpoint)
    stored = tuple(effect for effect in effects if type(effect) is StoreInput)
    if leaves(before, event) and type(before.output[0]) is Datum and before.phase == AWAITED:
        return stored == (StoreInput(before.seen, (before.output[0].value,)),)
    return not stored


@CHANNEL.step("UNAL-34")
def unal_34_phase(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The phase follows the newest checkpoint: AWAITED, ARRIVED after its barrier, IDLE after its end."""
    known = (before.phase, before.seen)
    if (
        type(event) is BeginPersisting
        and event.checkpoint > before.seen
        and not declines(before, event.checkpoint)
    ):
        known = (AWAITED, event.checkpoint)
    elif type(event) is EndPersisting and (event.checkpoint >= before.seen or before.restored > 0):
        known = (IDLE, event.checkpoint)
    elif arrives(before, event):
        known = (ARRIVED, before.output[0][0])
    elif type(event) is RestoreChannel:
        known = (IDLE, NONE)
    return (after.phase, after.seen) == known


@CHANNEL.step("UNAL-34")
def unal_34_counted(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The newest arrived barrier is stored as `last`, until its checkpoint ends or a newer one starts."""
    known = (before.last, before.before)
    if arrives(before, event) and before.output[0][0] > before.last:
        known = (before.output[0][0], len(values_in(before.input)))
    elif (
        (
            type(event) is BeginPersisting
            and event.checkpoint > before.last
            and not declines(before, event.checkpoint)
        )
        or (type(event) is EndPersisting and event.checkpoint == before.last)
        or type(event) is RestoreChannel
    ):
        known = (NONE, 0)
    elif type(event) is Take and before.before > 0 and type(before.input[0]) is Datum:
        known = (before.last, before.before - 1)
    return (after.last, after.before) == known


@CHANNEL.state("UNAL-34")
def unal_34_places(state: Channel) -> bool:
    """`before` is at most the number of unread records. It is 0 without an arrived barrier."""
    if state.before > len(values_in(state.input)) or state.before < 0:
        return False
    return state.last != NONE or state.before == 0


@CHANNEL.state("UNAL-34")
def unal_34_known(state: Channel) -> bool:
    """Ids of barriers are not negative, other ids may also be -1, and the phase is one of the three."""
    ids = (item[0] for item in (*state.output, *state.input) if type(item) is not Datum)
    known = state.seen >= NONE and state.last >= NONE and state.promised >= NONE
    return known and IDLE <= state.phase <= ARRIVED and all(checkpoint >= 0 for checkpoint in ids)


@CHANNEL.step("UNAL-35")
def unal_35(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The gate reads urgent items first. The records keep their order, and the gate reads each one once."""
    if type(event) is Take:
        if not before.input:
            return not effects and after == before
        return effects == (_given(before.input[0]),) and after.input == before.input[1:]
    if type(event) is MakeUrgent:
        ahead, behind = around(before.input, event.checkpoint)
        return after.input == overtaking((*ahead, *behind), Mark(event.checkpoint, UNALIGNED))
    if type(event) is not Transfer:
        return True
    if not leaves(before, event):
        return not effects and after == before
    item = before.output[0]
    if is_urgent(item):
        unread = overtaking(before.input, item)
    elif type(item) is Mark and item.alignment == TIMED:
        unread = (*overtaking(before.input, Notice(item.checkpoint)), item)
    else:
        unread = (*before.input, item)
    return after.output == before.output[1:] and after.input == unread


@CHANNEL.step("UNAL-35")
def unal_35_waits(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The sender stops behind a barrier in order, until the gate resumes it."""
    if type(event) is ResumeSender or type(event) is RestoreChannel:
        return not after.blocked
    stops = leaves(before, event) and type(before.output[0]) is Mark and not is_urgent(before.output[0])
    return after.blocked == (before.blocked or stops)


@CHANNEL.state("UNAL-35")
def unal_35_may_prioritise(state: Channel) -> bool:
    """The gate may prioritise an announced barrier that waits, if no newer one has arrived (1.13+)."""
    return all(
        channel_steps(state).may_prioritise(state, item.checkpoint)
        == (
            state.profile.counts_in_order
            and item.alignment == TIMED
            and (state.phase == ARRIVED and state.last == item.checkpoint)
            and not any(unread == Notice(item.checkpoint) for unread in state.input if type(unread) is Notice)
        )
        for item in state.input
        if type(item) is Mark and item.alignment == TIMED
    )


@CHANNEL.state("UNAL-35")
def unal_35_urgent_first(state: Channel) -> bool:
    """At both ends, all urgent items are before all others."""
    return all(
        is_urgent(left) or not is_urgent(right)
        for queue in (state.output, state.input)
        for left, right in pairwise(queue)
    )


@CHANNEL.step("UNAL-36")
def unal_36(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The gate reads the restored input part, then the output part. Until then no snapshot begins."""
    if type(event) is RestoreChannel:
        return (
            after.input == tuple(Datum(value) for value in event.input)
            and after.output == tuple(Datum(value) for value in event.output)
            and after.restored == len(event.input)
        )
    if before.restored == 0:
        return after.restored == 0
    if type(event) is Transfer:
        return not effects and after == before
    if type(event) is BeginPersisting:
        return effects == (DeclineStart(event.checkpoint, TASK_NOT_READY),) and after == before
    return after.restored == before.restored - (1 if type(event) is Take else 0)


@CHANNEL.state("UNAL-36")
def unal_36_only_restored(state: Channel) -> bool:
    """While restored records are unread, the input has no other items."""
    return state.restored == 0 or (
        len(state.input) == state.restored and all(type(item) is Datum for item in state.input)
    )


def _given(item: Item) -> Effect:
    if type(item) is Datum:
        return GiveRecord(item.value)
    if type(item) is Mark:
        return GiveBarrier(item.checkpoint, item.alignment)
    return GiveNotice(item[0])
