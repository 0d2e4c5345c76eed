"""UNAL-34 and UNAL-37, and all rules of one channel, stated over a channel between two tasks."""

from collections.abc import Callable
from functools import wraps

from model.channel.channel import AWAITED, IDLE
from model.channel.events import (
    AbortAtSender,
    BeginPersisting,
    DeclineStart,
    Emit,
    EndPersisting,
    GiveBarrier,
    GiveRecord,
    LoseOutput,
    MakeUrgent,
    SendBarrier,
    StoreInput,
    StoreOutput,
    Take,
    TimeOut,
    Transfer,
)
from model.channel.exchange import (
    DONE,
    GIVEN_UP,
    NOT_STARTED,
    OPEN,
    Exchange,
    Recover,
    StoredCheckpoint,
    is_complete,
    next_barrier,
)
from model.channel.items import Datum, Mark
from model.channel.properties.one_channel import CHANNEL
from model.channel.properties.terms import declines, is_urgent, started, values_in
from model.event_frames import Frame
from model.events import NONE, Effects, Event
from model.registry import Property, Registry

_OF_RECEIVER = "channel.phase channel.seen channel.last channel.before begun checkpoints"

EXCHANGE = Registry("exchange")
EXCHANGE.frames({
    Emit: Frame("UNAL-32", "channel.output sent"),
    SendBarrier: Frame(
        "UNAL-32", "channel.output channel.promised checkpoints", "(store_output | lose_output)?"
    ),
    TimeOut: Frame("UNAL-33", "channel.output channel.promised checkpoints", "store_output"),
    AbortAtSender: Frame("UNAL-33", "channel.promised checkpoints", "lose_output"),
    Transfer: Frame("UNAL-35", "channel checkpoints", "(store_output | store_input)?"),
    Take: Frame(
        "UNAL-34",
        f"channel.input channel.restored channel.blocked read {_OF_RECEIVER}",
        "record | announce"
        "| barrier (stop_persisting? (start_persisting (store_input | decline)?)? stop_persisting)?",
    ),
    BeginPersisting: Frame(
        "UNAL-34", _OF_RECEIVER, "stop_persisting? start_persisting (store_input | decline)?"
    ),
    EndPersisting: Frame("UNAL-34", _OF_RECEIVER, "stop_persisting"),
    MakeUrgent: Frame("UNAL-35", "channel.input"),
    Recover: Frame("UNAL-36", "channel sent read begun checkpoints"),
})  # fmt: skip


def _of_exchange(rule: Property) -> Callable[..., bool]:
    """The predicate that states a rule of one channel over an exchange.

    It is true for steps in which the receiver begins or ends a snapshot: `unal_34_ends` covers these.
    """

    def over_state(state: Exchange) -> bool:
        return rule.holds(state.channel)

    def over_step(before: Exchange, event: Event, effects: Effects, after: Exchange) -> bool:
        return of_gate(before, event) or rule.holds(before.channel, event, effects, after.channel)

    holds = wraps(rule.holds)(over_step if rule.over_steps else over_state)
    holds.__name__ = f"{rule.name} between two tasks"
    return holds


for known in CHANNEL.properties:
    if not known.over_starts:
        (EXCHANGE.step if known.over_steps else EXCHANGE.state)(known.rule)(_of_exchange(known))


@EXCHANGE.step("UNAL-34")
def unal_34_ends(before: Exchange, event: Event, effects: Effects, after: Exchange) -> bool:
    """A newer snapshot of the receiver ends the older one. Its own barrier ends it for this channel.

    The sender continues when the gate has read every barrier in order.
    """
    if not of_gate(before, event) or type(event) is Recover:
        return True
    was, starts, read = before.channel, starting(before, event), completing(before, event)
    emitted: Effects = (GiveBarrier(*was.input[0][:-1]),) if type(event) is Take else ()
    ends: tuple[int, ...] = (before.begun,) if is_cut(before, event) else ()
    emitted = (*emitted, *(EndPersisting(end) for end in ends))
    if starts != NONE:
        emitted = (*emitted, BeginPersisting(starts), *started(was, starts))
    if read != NONE:
        emitted, ends = (*emitted, EndPersisting(read)), (*ends, read)
    begins = starts != NONE and not declines(was, starts)
    phase, seen, place = was.phase, was.seen, (was.last, was.before)
    for end in ends:
        if end >= was.seen or was.restored > 0:
            phase, seen = IDLE, end
    if begins and starts > was.seen and read == NONE:
        phase, seen = AWAITED, starts
    if was.last in ends or (begins and was.last < starts):
        place = (NONE, 0)
    unread = was.input[1:] if type(event) is Take else was.input
    stays = type(event) is not Take or any(type(item) is Mark and not is_urgent(item) for item in unread)
    return effects == emitted and after.channel == was._replace(
        input=unread, blocked=was.blocked and stays, phase=phase, seen=seen, last=place[0], before=place[1]
    )


@EXCHANGE.state("UNAL-34")
def unal_34_counts(state: Exchange) -> bool:
    """`before` is the number of unread records before the newest barrier, while this barrier is in order."""
    queue = state.channel.input
    return all(
        state.channel.before == len(values_in(queue[:place]))
        for place, item in enumerate(queue)
        if type(item) is Mark and item.checkpoint == state.channel.last and not is_urgent(item)
    )


@EXCHANGE.step("UNAL-37")
def unal_37_recovers(before: Exchange, event: Event, effects: Effects, after: Exchange) -> bool:
    """A new attempt starts with the stored records and counts. Later checkpoints are discarded."""
    if type(event) is not Recover:
        return True
    from_start = StoredCheckpoint(sent=0, output=(), owed=False, read=0, input=(), receiver=DONE)
    entry = (from_start, *before.checkpoints)[event.checkpoint]
    fresh = before.channel._replace(
        output=tuple(Datum(value) for value in entry.output),
        blocked=False,
        promised=NONE,
        input=tuple(Datum(value) for value in entry.input),
        restored=len(entry.input),
        phase=IDLE,
        seen=NONE,
        last=NONE,
        before=0,
    )
    kept = tuple(
        known if number <= event.checkpoint else NOT_STARTED
        for number, known in enumerate(before.checkpoints, 1)
    )
    return after == Exchange(fresh, entry.sent, entry.read, event.checkpoint, kept)


@EXCHANGE.state("UNAL-37")
def unal_37(state: Exchange) -> bool:
    """A complete checkpoint stores, in order, all records between the receiver's and the sender's count."""
    return all(
        (*entry.input, *entry.output) == tuple(range(entry.read + 1, entry.sent + 1))
        for entry in state.checkpoints
        if _has_all(entry)
    )


@EXCHANGE.state("UNAL-37")
def unal_37_complete(state: Exchange) -> bool:
    """A checkpoint with both snapshots and all in-flight records is complete. Ids are sent in order."""
    unsent = [number for number, entry in enumerate(state.checkpoints, 1) if entry.sent == NONE]
    return next_barrier(state) == (*unsent, len(state.checkpoints) + 1)[0] and all(
        is_complete(entry) == _has_all(entry) for entry in state.checkpoints
    )


@EXCHANGE.state("UNAL-37")
def unal_37_later(state: Exchange) -> bool:
    """Nothing is stored of a checkpoint whose snapshots have not begun."""
    return all(
        (entry.sent != NONE or (entry.output == () and entry.owed is False))
        and (number <= state.begun or (entry.read == NONE and entry.input == ()))
        for number, entry in enumerate(state.checkpoints, 1)
    )


@EXCHANGE.step("UNAL-37")
def unal_37_once(before: Exchange, event: Event, effects: Effects, after: Exchange) -> bool:
    """The receiver reads the records in order, each one once, also after a restore."""
    values = tuple(effect.value for effect in effects if type(effect) is GiveRecord)
    return type(event) is Recover or (
        values == tuple(range(before.read + 1, after.read + 1))
        and after.sent == before.sent + (1 if type(event) is Emit else 0)
    )


@EXCHANGE.step("UNAL-37")
def unal_37_stored(before: Exchange, event: Event, effects: Effects, after: Exchange) -> bool:
    """A step changes stored checkpoints only by the snapshots and by the effects of the channel."""
    if type(event) is Recover:
        return True
    newest = starting_or_aligned(before, event)
    return after.begun == (before.begun if newest == NONE else newest) and all(
        entry == _stored(before, event, effects, number, after.channel.promised)
        for number, entry in enumerate(after.checkpoints, 1)
    )


def _stored(before: Exchange, event: Event, effects: Effects, number: int, promised: int) -> StoredCheckpoint:
    """The stored data of checkpoint `number` after the event."""
    entry = before.checkpoints[number - 1]
    if type(event) is SendBarrier and event.checkpoint == number:
        entry = entry._replace(sent=before.sent, owed=promised == number)
    if starting_or_aligned(before, event) == number:
        entry = entry._replace(read=before.read)
    if completing(before, event) == number:
        entry = entry._replace(receiver=DONE)
    if is_cut(before, event) and before.begun == number:
        entry = entry._replace(receiver=GIVEN_UP)
    for effect in effects:
        if type(effect) is StoreOutput and effect.checkpoint == number:
            entry = entry._replace(output=effect.records, owed=False)
        elif type(effect) is StoreInput and effect.checkpoint == number:
            entry = entry._replace(input=entry.input + effect.records)
        elif (type(effect) is LoseOutput or type(effect) is DeclineStart) and effect.checkpoint == number:
            entry = entry._replace(receiver=GIVEN_UP)
    return entry


# ---------------------------------------------------------------- terms


def of_gate(before: Exchange, event: Event) -> bool:
    """Whether the receiver begins or ends a snapshot in this step, or the job recovers."""
    if type(event) is Take:
        return type(before.channel.input[0]) is Mark
    return type(event) is BeginPersisting or type(event) is EndPersisting or type(event) is Recover


def completing(before: Exchange, event: Event) -> int:
    """The checkpoint whose barrier the receiver reads, if the checkpoint has not ended. Else -1."""
    if type(event) is Take:
        item = before.channel.input[0]
        if type(item) is Mark and item.checkpoint >= before.begun:
            return item.checkpoint if _is_open(before, item.checkpoint) else NONE
    return NONE


def starting_or_aligned(before: Exchange, event: Event) -> int:
    """The checkpoint that the receiver begins in this step. Else -1."""
    if type(event) is BeginPersisting:
        return event.checkpoint
    read = completing(before, event)
    return read if read > before.begun else NONE


def starting(before: Exchange, event: Event) -> int:
    """The checkpoint for which the channel starts to store records. Else -1, also at a barrier in order."""
    if type(event) is Take and not is_urgent(before.channel.input[0]):
        return NONE
    return starting_or_aligned(before, event)


def is_cut(before: Exchange, event: Event) -> bool:
    """Whether the newest snapshot of the receiver ends before it has read this channel's barrier."""
    ends = type(event) is EndPersisting or starting_or_aligned(before, event) != NONE
    return ends and before.begun > 0 and _is_open(before, before.begun)


def _is_open(before: Exchange, checkpoint: int) -> bool:
    return before.checkpoints[checkpoint - 1].receiver == OPEN


def _has_all(entry: StoredCheckpoint) -> bool:
    return entry.receiver == DONE and entry.sent != NONE and not entry.owed
