"""UNAL-32 to UNAL-36 over one channel, UNAL-37 over a channel between two tasks."""

from itertools import pairwise

from model.channel.channel import ARRIVED, AWAITED, Channel, Queue, is_urgent, records_in
from model.channel.events import (
    AbortAtSender,
    BeginPersisting,
    DeclineStart,
    EndPersisting,
    GiveBarrier,
    GiveNotice,
    GiveRecord,
    LoseOutput,
    MakeUrgent,
    RestoreChannel,
    SendBarrier,
    StoreInput,
    StoreOutput,
    Take,
    TimeOut,
    Transfer,
)
from model.channel.exchange import Exchange, is_complete
from model.channel.items import Datum, Mark, Notice
from model.events import CHECKPOINT_SUBSUMED, NONE, TASK_NOT_READY, Effects, Event
from model.gate.alignment import TIMED, UNALIGNED
from model.registry import Registry

CHANNEL = Registry("channel")
EXCHANGE = Registry("exchange")


@CHANNEL.step("UNAL-32")
def unal_32(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """An unaligned barrier stands behind urgent items only; the sender stores what it overtakes, in order."""
    if type(event) is not SendBarrier or event.alignment != UNALIGNED:
        return True
    urgent = tuple(item for item in before.output if is_urgent(item))
    others = before.output[len(urgent) :]
    values = tuple(item.value for item in others if type(item) is Datum)
    barrier = Mark(event.checkpoint, UNALIGNED)
    return after.output == (*urgent, barrier, *others) and effects == (StoreOutput(event.checkpoint, values),)


@CHANNEL.step("UNAL-33")
def unal_33(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The output part of a timed barrier is stored once: at its time-out or when it leaves; or it is lost."""
    parts = tuple(effect for effect in effects if type(effect) is StoreOutput or type(effect) is LoseOutput)
    owed = before.promised
    if type(event) is SendBarrier and event.alignment == TIMED:
        if not before.profile.times_out_at_sender:
            return not parts and after.promised == owed
        lost = () if owed == NONE else (LoseOutput(owed),)
        return parts == lost and after.promised == event.checkpoint
    if type(event) is TimeOut and event.checkpoint == owed:
        place = _waiting(before.output, owed)
        passed = records_in(before.output[:place])
        ahead = tuple(item for item in after.output if is_urgent(item))
        return parts == (StoreOutput(owed, passed),) and ahead[-1:] == (Mark(owed, UNALIGNED),)
    if type(event) is AbortAtSender and event.checkpoint == owed:
        return parts == (LoseOutput(owed),) and after.output == before.output
    if type(event) is Transfer and before.output and len(after.output) < len(before.output):
        leaves = before.output[0]
        if type(leaves) is Mark and leaves.alignment == TIMED and leaves.checkpoint == owed:
            return parts == (StoreOutput(owed, ()),) and after.promised == NONE
        return not parts and after.promised == owed
    if type(event) is SendBarrier or type(event) is RestoreChannel:
        return True  # UNAL-32, UNAL-36
    return not parts and after.promised == owed


@CHANNEL.state("UNAL-33")
def unal_33_owed(state: Channel) -> bool:
    """The barrier of the promised checkpoint waits at the sender; older releases promise none."""
    if state.promised == NONE:
        return True
    return state.profile.times_out_at_sender and _waiting(state.output, state.promised) < len(state.output)


@CHANNEL.step("UNAL-34")
def unal_34(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The receiver stores the records before the barrier: unread ones at the start, then arriving ones."""
    stored = tuple(effect for effect in effects if type(effect) is StoreInput)
    if type(event) is Transfer and len(after.input) > len(before.input):
        item = before.output[0]
        awaited = before.phase == AWAITED and type(item) is Datum
        if type(item) is Datum and awaited:
            return stored == (StoreInput(before.seen, (item.value,)),)
        counts_now = before.profile.counts_in_order or is_urgent(item)
        newer = type(item) is Mark and item.checkpoint > before.seen and counts_now
        return not stored and (not newer or after.phase == ARRIVED)
    if type(event) is BeginPersisting and not any(type(effect) is DeclineStart for effect in effects):
        unread = records_in(before.input)
        known = before.last == event.checkpoint
        part = unread[: before.before] if known else unread
        expected = (StoreInput(event.checkpoint, part),) if part else ()
        persists = event.checkpoint <= before.seen or after.phase == AWAITED
        return stored == expected and after.seen >= event.checkpoint and persists
    if type(event) is EndPersisting:
        return not stored and (event.checkpoint < before.seen or after.phase != AWAITED)
    return not stored


@CHANNEL.step("UNAL-34")
def unal_34_declined(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """A snapshot does not begin behind the barrier of a newer one."""
    if type(event) is not BeginPersisting or before.restored > 0:
        return True
    newer = before.last > event.checkpoint or (before.phase == ARRIVED and before.seen > event.checkpoint)
    declined = (DeclineStart(event.checkpoint, CHECKPOINT_SUBSUMED),)
    return (effects == declined and after == before) if newer else DeclineStart not in _types(effects)


@CHANNEL.state("UNAL-34")
def unal_34_places(state: Channel) -> bool:
    """The stored place lies in the input; it is that of a barrier that has arrived."""
    if state.before > len(records_in(state.input)) or state.before < 0:
        return False
    return state.last != NONE or state.before == 0


@CHANNEL.step("UNAL-35")
def unal_35(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The gate reads urgent items first; records keep their order, and each is read once."""
    if type(event) is Take:
        if not before.input:
            return not effects and after == before
        first = before.input[0]
        given: Effects
        if type(first) is Datum:
            given = (GiveRecord(first.value),)
        elif type(first) is Mark:
            given = (GiveBarrier(first.checkpoint, first.alignment),)
        else:
            assert type(first) is Notice
            given = (GiveNotice(first.checkpoint),)
        return effects == given and after.input == before.input[1:]
    if type(event) is Transfer and len(after.output) < len(before.output):
        item = before.output[0]
        if type(item) is Datum:
            return after.input == (*before.input, item)
        assert type(item) is Mark
        notices = 1 if item.alignment == TIMED else 0
        placed = len(after.input) == len(before.input) + 1 + notices
        return placed and records_in(after.input) == records_in(before.input)
    if type(event) is MakeUrgent:
        ahead = tuple(item for item in after.input if is_urgent(item))
        return ahead[-1] == Mark(event.checkpoint, UNALIGNED) and (
            records_in(after.input) == records_in(before.input)
        )
    return True


@CHANNEL.state("UNAL-35")
def unal_35_urgent_first(state: Channel) -> bool:
    """At both ends, all urgent items stand before all others."""
    return _is_sorted(state.output) and _is_sorted(state.input)


@CHANNEL.step("UNAL-36")
def unal_36(before: Channel, event: Event, effects: Effects, after: Channel) -> bool:
    """The gate reads restored input, then restored output, then new records; no snapshot begins earlier."""
    if type(event) is RestoreChannel:
        return (
            records_in(after.input) == event.input
            and records_in(after.output) == event.output
            and len(after.input) == after.restored == len(event.input)
            and not effects
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
    """While restored records wait, no other item has arrived."""
    return state.restored == 0 or (
        len(state.input) == state.restored and all(type(item) is Datum for item in state.input)
    )


@EXCHANGE.state("UNAL-37")
def unal_37(state: Exchange) -> bool:
    """A complete checkpoint stores, in order, every record between those read and those written."""
    return all(
        (*entry.input, *entry.output) == tuple(range(entry.read + 1, entry.sent + 1))
        for entry in state.checkpoints
        if is_complete(entry)
    )


@EXCHANGE.step("UNAL-37")
def unal_37_once(before: Exchange, event: Event, effects: Effects, after: Exchange) -> bool:
    """The receiver reads every record once and in order, whatever was restored."""
    return all(effect.value == before.read + 1 for effect in effects if type(effect) is GiveRecord)


def _is_sorted(queue: Queue) -> bool:
    return all(is_urgent(left) or not is_urgent(right) for left, right in pairwise(queue))


def _waiting(queue: Queue, checkpoint: int) -> int:
    """The position of the barrier; the length of the queue if it does not wait there."""
    for place, item in enumerate(queue):
        if type(item) is Mark and item.alignment == TIMED and item.checkpoint == checkpoint:
            return place
    return len(queue)


def _types(effects: Effects) -> tuple[type, ...]:
    return tuple(type(effect) for effect in effects)
