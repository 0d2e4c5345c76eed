"""UNAL-01 to UNAL-14 and UNAL-22: what barriers, announcements, cancellations and ends do.

Every step on a pending or newer id reads as: first the pending checkpoint that a newer one ends, if there
is one (UNAL-04), then the event itself. `tail_of` is the second half. The *phase* of an event is that of
its own checkpoint: a newer one begins in the gate's resting phase.
"""

from model.events import INPUT_END_OF_STREAM, ON_CANCELLATION_BARRIER, Effects, Event
from model.gate.events import Abort, Block, Cancel, EndOfPartition, Resume, Trigger
from model.gate.properties.terms import (
    Words,
    aborts,
    also,
    awaits,
    completed,
    is_idle,
    is_lone,
    is_spent,
    let_go,
    overtakes,
    prioritises,
    resumes,
    started,
    subsumed,
    triggers,
    words_of,
)
from model.gate.unaligned import UnalignedGate
from model.gate.unaligned_events import UNALIGNED, Announce, Inject, OptionedBarrier, StopPersisting
from model.registry import Registry

UNALIGNED_GATE = Registry("unaligned")


@UNALIGNED_GATE.step("UNAL-01")
def unal_01(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The first barrier that overtakes starts the persisting and triggers at once, unaligned."""
    told = _of_barrier(before, event, effects)
    if told is None or not told.overtaking or told.begun or after.failed:
        return True
    rest = told.tail[1:] if told.stops else told.tail
    expected = started(before, told.checkpoint, told.alignment)
    return rest[:2] == expected and triggers(effects) == 1 and after.current == told.checkpoint


@UNALIGNED_GATE.step("UNAL-02")
def unal_02(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A further barrier while they overtake triggers nothing, and says nothing until the last one."""
    told = _of_barrier(before, event, effects)
    if told is None or not told.overtaking or not told.begun or after.failed:
        return True
    if not told.last:
        quiet = (Block(told.channel),) if told.stops else ()
        return effects == quiet and after.pending and after.arrived == told.arrived
    return triggers(effects) == 0 and aborts(effects) == 0


@UNALIGNED_GATE.step("UNAL-03")
def unal_03(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The last barrier that overtakes ends it: persisting stops, every blocked channel goes on."""
    told = _of_barrier(before, event, effects)
    if told is None or not told.overtaking or after.failed:
        return True
    stops = tuple(effect for effect in told.tail if type(effect) is StopPersisting)
    if not told.last or not before.profile.tells_stop:
        return not stops and after.pending
    held = also(told.blocked, told.channel) if told.stops else told.blocked
    expected = (StopPersisting(told.checkpoint), *resumes(held))
    return told.tail[-len(expected) :] == expected and len(stops) == 1 and is_idle(after)


@UNALIGNED_GATE.step("UNAL-04")
def unal_04(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A newer barrier or announcement ends the pending checkpoint first, and only then begins its own."""
    if type(event) is not OptionedBarrier and type(event) is not Announce:
        return True
    if type(event) is Announce and before.profile.first_decides:
        return not effects and after == before  # nobody listens
    ended = tuple(effect for effect in effects if type(effect) is Abort)
    if event.checkpoint <= before.current or not before.pending:
        return not ended
    expected = subsumed(before, event)
    once = len(ended) == (1 if expected else 0)
    return effects[: len(expected)] == expected and once and after.current == event.checkpoint


@UNALIGNED_GATE.step("UNAL-05")
def unal_05(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A late barrier resumes its sender if that stopped; a late announcement does nothing."""
    if type(event) is Announce and is_spent(before, event.checkpoint):
        return not effects and after == before
    if type(event) is not OptionedBarrier or not is_spent(before, event.checkpoint):
        return True
    never = before.profile.first_decides and not before.alternating
    expected = () if never or overtakes(before, event) else (Resume(event.channel),)
    return effects == expected and after == before


@UNALIGNED_GATE.step("UNAL-06")
def unal_06(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A cancellation of a newer id, or of one that has counted something, ends all with one abort of it."""
    if type(event) is not Cancel or _cancels_nothing(before, event):
        return True
    expected = (*let_go(before, event.checkpoint), Abort(event.checkpoint, ON_CANCELLATION_BARRIER))
    return effects == expected and after.current == event.checkpoint and is_idle(after)


@UNALIGNED_GATE.step("UNAL-07")
def unal_07(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A cancellation of an older or spent id, or of one that is only announced, does nothing."""
    if type(event) is not Cancel or not _cancels_nothing(before, event):
        return True
    return not effects and after == before


def _cancels_nothing(before: UnalignedGate, event: Cancel) -> bool:
    older = event.checkpoint < before.current
    return older or (event.checkpoint == before.current and not any(before.arrived))


@UNALIGNED_GATE.step("UNAL-08")
def unal_08(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """Without checkpoints after tasks finish an end aborts what is pending, announced or begun."""
    if type(event) is not EndOfPartition or not before.pending or before.counts_as_aligned:
        return True
    aborted = (Abort(before.current, INPUT_END_OF_STREAM),)
    expected = (*let_go(before, before.current), *aborted)
    if not before.profile.releases_first:
        expected = (*aborted, *let_go(before, before.current))
    return effects == expected and is_idle(after) and after.closed == also(before.closed, event.channel)


@UNALIGNED_GATE.step("UNAL-09")
def unal_09(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """With them an ended channel counts: it may be the last one, and then nothing is triggered twice."""
    if type(event) is not EndOfPartition or after.failed:
        return True
    if not before.pending:
        return not effects and after == before._replace(closed=after.closed) and after.closed[event.channel]
    if not before.counts_as_aligned:
        return True
    if awaits(also(before.arrived, event.channel), after.closed):
        return after.pending and aborts(effects) == 0 and after.arrived == also(before.arrived, event.channel)
    held = resumes(tuple(has and place != event.channel for place, has in enumerate(before.blocked)))
    expected: Effects = ()
    if before.begun and before.overtaking:
        expected = (StopPersisting(before.current), *held)
    elif before.begun:
        expected = (Trigger(before.current), *held)
    return effects == expected and is_idle(after)


@UNALIGNED_GATE.step("UNAL-10")
def unal_10(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An aligned barrier blocks its channel until the end, also once others overtake; no other does."""
    blocks = tuple(effect for effect in effects if type(effect) is Block)
    told = _of_barrier(before, event, effects)
    if told is None:
        return not blocks
    if not told.stops or is_lone(before) or (after.failed and before.profile.first_decides):
        return not blocks and (not after.pending or after.blocked == told.blocked)
    if blocks != (Block(told.channel),) or told.tail[:1] != blocks:
        return False
    return not after.pending or after.blocked == also(told.blocked, told.channel)


@UNALIGNED_GATE.step("UNAL-11")
def unal_11(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The last aligned barrier completes aligned, however late it is: trigger first, then let go."""
    told = _of_barrier(before, event, effects)
    if told is None or told.overtaking or not told.stops or _disagrees(before, after):
        return True
    if not told.last:
        return all(type(effect) is not Trigger for effect in effects)
    if is_lone(before):
        return told.tail == (Resume(told.channel), Trigger(told.checkpoint)) and is_idle(after)
    held = also(told.blocked, told.channel)
    return told.tail[1:] == completed(before, told.checkpoint, held) and is_idle(after)


@UNALIGNED_GATE.step("UNAL-12")
def unal_12(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An unaligned barrier in an alignment gives it up: announced ones overtake, the snapshot starts."""
    told = _of_barrier(before, event, effects)
    if told is None or told.overtaking or told.alignment != UNALIGNED or before.profile.first_decides:
        return True
    expected: Effects = (
        *prioritises(told.announced),
        *started(before, told.checkpoint, told.alignment),
    )
    if told.last:
        return told.tail == (*expected, StopPersisting(told.checkpoint), *resumes(told.blocked))
    return told.tail == expected and after.begun and after.overtaking and not any(after.announced)


@UNALIGNED_GATE.step("UNAL-13")
def unal_13(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An announcement begins its checkpoint and is noted; it blocks nothing and counts for nothing."""
    if type(event) is not Announce or is_spent(before, event.checkpoint) or before.profile.first_decides:
        return True
    told = words_of(before, event, effects)
    same = (after.arrived, after.blocked) == (told.arrived, told.blocked)
    if not (after.pending and after.current == event.checkpoint and same and after.begun == told.begun):
        return False
    return told.overtaking or (not told.tail and after.announced == also(told.announced, event.channel))


@UNALIGNED_GATE.step("UNAL-14")
def unal_14(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """While barriers overtake, an announced one is asked to at once."""
    if type(event) is not Announce or is_spent(before, event.checkpoint) or before.profile.first_decides:
        return True
    told = words_of(before, event, effects)
    return not told.overtaking or told.tail == prioritises(also((False,) * len(before.closed), event.channel))


@UNALIGNED_GATE.step("UNAL-22")
def unal_22(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A triggered task counts every open channel, stops no sender, and so ends within the event."""
    if type(event) is not Inject or after.failed:
        return True
    if is_spent(before, event.checkpoint):
        open_now = tuple(not ended for ended in before.closed)
        late = () if event.alignment == UNALIGNED else resumes(open_now)
        return effects == late and after == before
    if all(before.closed):
        return not effects and after == before
    under_way = event.checkpoint == before.current and before.begun and before.overtaking
    if any(type(effect) is Block for effect in effects):
        return False
    return triggers(effects) == (0 if under_way else 1) and is_idle(after)


def _disagrees(before: UnalignedGate, after: UnalignedGate) -> bool:
    """The barrier was refused because of the first one of its checkpoint (UNAL-27)."""
    return before.profile.first_decides and after.failed


def _of_barrier(before: UnalignedGate, event: Event, effects: Effects) -> Words | None:
    """The words of a barrier that is not late."""
    if type(event) is not OptionedBarrier or is_spent(before, event.checkpoint):
        return None
    return words_of(before, event, effects)
