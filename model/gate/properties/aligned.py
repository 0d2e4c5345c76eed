"""ALIGN-01 to ALIGN-16, ALIGN-18 to ALIGN-21, ALIGN-24 and SUB-01, stated over one gate.

An id is *spent* if it was triggered, aborted or skipped: it is below the current id, or it is the current id
while no checkpoint is pending. A spent id can never be triggered or aborted again (ALIGN-18). Therefore the
properties need no history of triggers.
"""

from model.event_frames import Frame
from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, SUBSUMED, Effects, Fail
from model.gate.aligned import Gate
from model.gate.events import Abort, Barrier, Block, Cancel, EndOfPartition, Injection, Resume, Trigger
from model.gate.generations import REPEATED_BARRIER
from model.gate.polled_gate import Item
from model.gate.properties.terms import awaits
from model.registry import Registry

GATE = Registry("gate")
GATE.frames({
    Barrier: Frame(
        "ALIGN-02",
        "current pending blocked repeats failed",
        "resume? trigger? | fail | (resume* abort | abort resume*)? block resume* trigger? resume*",
    ),
    Cancel: Frame("ALIGN-09", "current pending blocked repeats", "(resume* abort abort?)?"),
    EndOfPartition: Frame(
        "ALIGN-13",
        "pending blocked closed repeats",
        "(resume* abort | abort resume* | trigger resume* | resume* trigger)?",
    ),
    Injection: Frame("ALIGN-24", "current pending blocked repeats", "resume* (abort? trigger resume*)?"),
})  # fmt: skip


@GATE.initial("ALIGN-01")
def align_01_at_first(gate: Gate) -> bool:
    """A new gate is idle, its current id is -1, and no channel is blocked or closed."""
    has_counted = gate.pending or gate.repeats != 0 or gate.failed
    return gate.current == NONE and not has_counted and not any(gate.blocked) and not any(gate.closed)


@GATE.step("ALIGN-01")
def align_01(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A newer barrier at an idle gate makes its id current and blocks its channel."""
    if type(event) is not Barrier or before.pending or event.checkpoint <= before.current or _alone(before):
        return True
    if not effects or effects[0] != Block(event.channel) or after.current != event.checkpoint:
        return False
    return _triggers(effects) or (after.pending and after.blocked == _only(before, event.channel))


@GATE.step("ALIGN-02")
def align_02(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A barrier of the pending id blocks its channel, aborts nothing and resumes nothing."""
    if type(event) is not Barrier or not before.pending or event.checkpoint != before.current:
        return True
    if after.failed:
        return _repeats(before, event)  # ALIGN-20
    if not effects or effects[0] != Block(event.channel) or after.current != before.current:
        return False
    if _triggers(effects):
        return not _aborts(effects)
    return len(effects) == 1 and after.pending and after.blocked == _also(before, event.channel)


@GATE.step("ALIGN-03")
def align_03(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A newer barrier in an alignment resumes channels, aborts the older id, and begins its checkpoint."""
    if type(event) is not Barrier or not before.pending or event.checkpoint <= before.current:
        return True
    expected = (*_given_up(before, SUBSUMED), Block(event.channel))
    if effects[: len(expected)] != expected or after.current != event.checkpoint:
        return False
    return _triggers(effects) or (after.pending and after.blocked == _only(before, event.channel))


@GATE.step("ALIGN-04")
def align_04(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A late barrier resumes its channel (from 1.11 on) and changes nothing else."""
    if type(event) is not Barrier or not _spent(before, event.checkpoint):
        return True
    answer = (Resume(event.channel),) if before.profile.resumes_late else ()
    return effects == answer and after == before


@GATE.step("ALIGN-05")
def align_05(before: Gate, event: Item | Injection, effects: Effects, after: Gate) -> bool:
    """A trigger occurs in the event that aligns the last awaited channel, and in no other."""
    if _repeats(before, event) or before.repeats > 0 or type(event) is Injection:
        return True  # ALIGN-20, ALIGN-21, ALIGN-24
    triggered = tuple(effect.checkpoint for effect in effects if type(effect) is Trigger)
    aligned = before.blocked
    checkpoint = before.current
    if type(event) is Barrier and not _spent(before, event.checkpoint):
        aligned = _only(before, event.channel)
        if before.pending and event.checkpoint == before.current:
            aligned = _also(before, event.channel)
        checkpoint = event.checkpoint
    elif not (type(event) is EndOfPartition and before.pending and before.counts_as_aligned):
        return not triggered
    if all(has or ended for has, ended in zip(aligned, after.closed, strict=True)):
        return triggered == (checkpoint,) and not after.pending
    return not triggered and after.pending


@GATE.step("ALIGN-06")
def align_06(before: Gate, event: Item | Injection, effects: Effects, after: Gate) -> bool:
    """A trigger comes directly before the resumes of all blocked channels. Up to 1.12 it comes after."""
    if not _triggers(effects) or _alone(before) or type(event) is Injection:
        return True  # ALIGN-07, ALIGN-24
    position = next(place for place, effect in enumerate(effects) if type(effect) is Trigger)
    held = before.blocked
    if type(event) is Barrier:
        held = _only(before, event.channel)
        if before.pending and event.checkpoint == before.current:
            held = _also(before, event.channel)
    elif type(event) is EndOfPartition:
        held = tuple(has and channel != event.channel for channel, has in enumerate(before.blocked))
    if not before.profile.triggers_first:
        start = position - len(_resumes(held))
        released = effects[start:position] == _resumes(held) and position == len(effects) - 1
    else:
        released = effects[position + 1 :] == _resumes(held)
    return released and not any(after.blocked)


@GATE.step("ALIGN-07")
def align_07(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """If only one channel is open, a newer barrier triggers within its event."""
    if type(event) is not Barrier or event.checkpoint <= before.current:
        return True
    if not all(ended for channel, ended in enumerate(before.closed) if channel != event.channel):
        return True
    if _alone(before):  # the gate never blocks its channel
        resumed = (Resume(event.channel),) if before.profile.resumes_late else ()
        return effects == (*resumed, Trigger(event.checkpoint)) and _idle(after)
    return Trigger(event.checkpoint) in effects


@GATE.step("ALIGN-08")
def align_08(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A newer barrier may skip ids. Its id becomes current, and no effect names a skipped id."""
    if type(event) is not Barrier or event.checkpoint <= before.current:
        return True
    named = tuple(effect.checkpoint for effect in effects if type(effect) is Trigger or type(effect) is Abort)
    return after.current == event.checkpoint and all(
        checkpoint == before.current or checkpoint == event.checkpoint for checkpoint in named
    )


@GATE.step("ALIGN-09")
def align_09(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A cancellation of the pending id resumes all channels and aborts the id once. The id is then spent."""
    if type(event) is not Cancel or not before.pending or event.checkpoint != before.current:
        return True
    expected = (*_resumes(before.blocked), Abort(before.current, ON_CANCELLATION_BARRIER))
    return effects == expected and after.current == before.current and _idle(after)


@GATE.step("ALIGN-10")
def align_10(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A newer cancellation at an idle gate aborts its id, which is then spent."""
    if type(event) is not Cancel or before.pending or event.checkpoint <= before.current:
        return True
    expected = (Abort(event.checkpoint, ON_CANCELLATION_BARRIER),)
    return effects == expected and after.current == event.checkpoint and _idle(after)


@GATE.step("ALIGN-11")
def align_11(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A newer cancellation during an alignment aborts only the newer id, once (up to 1.8 twice)."""
    if type(event) is not Cancel or not before.pending or event.checkpoint <= before.current:
        return True
    subsumed = (Abort(event.checkpoint, SUBSUMED),) if before.profile.cancels_twice else ()
    abort = Abort(event.checkpoint, ON_CANCELLATION_BARRIER)
    expected = (*_resumes(before.blocked), *subsumed, abort)
    return effects == expected and after.current == event.checkpoint and _idle(after)


@GATE.step("ALIGN-12")
def align_12(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """An obsolete cancellation changes nothing."""
    if type(event) is not Cancel or not _spent(before, event.checkpoint):
        return True
    return not effects and after == before


@GATE.step("ALIGN-13")
def align_13(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """An end of partition at an idle gate closes the channel and changes nothing else."""
    if type(event) is not EndOfPartition or before.pending:
        return True
    return not effects and after == before._replace(closed=_closed_by(before, event))


@GATE.step("ALIGN-14")
def align_14(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """Without checkpoints after tasks finish, an end resumes all channels and aborts the pending id."""
    if type(event) is not EndOfPartition or not before.pending or before.counts_as_aligned:
        return True
    expected = _given_up(before, INPUT_END_OF_STREAM)
    ended = after.closed == _closed_by(before, event) and after.current == before.current
    return effects == expected and ended and _idle(after)


@GATE.step("ALIGN-15")
def align_15(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """With checkpoints after tasks finish, an ended channel counts as aligned, and its end aborts nothing."""
    if type(event) is not EndOfPartition or not before.pending or not before.counts_as_aligned:
        return True
    if after.closed != _closed_by(before, event) or after.current != before.current or _aborts(effects):
        return False
    rest = tuple(has and channel != event.channel for channel, has in enumerate(before.blocked))
    return _triggers(effects) or (not effects and after.pending and after.blocked == rest)


@GATE.step("ALIGN-16")
def align_16(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """A repeated barrier of the pending id on a blocked channel does not change the state."""
    if before.profile.repeats_fail or before.profile.repeats_count or not _repeats(before, event):
        return True
    return effects == (Block(event.channel),) and after == before


@GATE.step("ALIGN-20")
def align_20(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """Up to 1.12 a repeated barrier fails the task, and no other event fails it."""
    if before.profile.repeats_fail and _repeats(before, event):
        return effects == (Fail(REPEATED_BARRIER),) and after == before._replace(failed=True)
    return not any(type(effect) is Fail for effect in effects) and after.failed == before.failed


@GATE.step("ALIGN-21")
def align_21(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """In 1.13 a repeated barrier counts in place of a missing barrier, so the trigger may be too early."""
    if not before.profile.repeats_count or type(event) is not Barrier:
        return after.repeats == 0 or after.repeats == before.repeats
    if not before.pending or event.checkpoint != before.current:
        return after.repeats == 0 or after == before
    counted = before.repeats + 1 if before.blocked[event.channel] else before.repeats
    awaited = sum(1 for has, ended in zip(_also(before, event.channel), before.closed, strict=True)
                  if not (has or ended))  # fmt: skip
    if counted < awaited:
        return not _triggers(effects) and after.repeats == counted
    return Trigger(before.current) in effects and after.repeats == 0


@GATE.step("ALIGN-24")
def align_24(before: Gate, event: Item | Injection, effects: Effects, after: Gate) -> bool:
    """A checkpoint triggered on the task itself completes at once. Each open channel counts in turn."""
    if type(event) is not Injection:
        return True
    if all(before.closed):
        return not effects and after == before
    all_open = tuple(Resume(channel) for channel, ended in enumerate(before.closed) if not ended)
    if _spent(before, event.checkpoint):
        return effects == all_open and after == before
    overtakes = before.pending and event.checkpoint > before.current
    subsumed = _given_up(before, SUBSUMED) if overtakes else ()
    held = _resumes(before.blocked) if event.checkpoint == before.current else ()
    late = tuple(
        Resume(channel)
        for channel, has in enumerate(before.blocked)
        if has and held and not any(_awaited(before)[channel:])
    )
    answered = effects == (*subsumed, Trigger(event.checkpoint), *held, *late)
    return answered and _idle(after) and after.current == event.checkpoint and after.closed == before.closed


@GATE.step("ALIGN-18")
def align_18(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """An id that ends in a step was not spent before and is spent after it. Ids end in ascending order."""
    highest = before.current - 1 if before.pending else before.current
    ends = tuple(effect for effect in effects if type(effect) is Trigger or type(effect) is Abort)
    for end in ends:
        if end.checkpoint <= highest and not (before.profile.cancels_twice and type(event) is Cancel):
            return False
        highest = end.checkpoint
    return after.current > highest or (after.current == highest and not after.pending)


@GATE.state("ALIGN-19")
def align_19(gate: Gate) -> bool:
    """If a channel is blocked, an alignment is pending. A pending alignment awaits an open channel."""
    if not gate.pending:
        return gate.current >= -1 and not any(gate.blocked) and gate.repeats == 0
    if any(has and ended for has, ended in zip(gate.blocked, gate.closed, strict=True)):
        return False
    if not any(gate.blocked) and not (gate.counts_as_aligned and any(gate.closed)):
        return False  # the channel of the first barrier is blocked, or has ended and counts as aligned
    return gate.current >= 0 and gate.repeats >= 0 and awaits(gate.blocked, gate.closed, gate.repeats)


@GATE.state("ALIGN-23")
def switches_agree(gate: Gate) -> bool:
    """Related switches of a profile agree. For example, a gate stores items exactly if no sender stops."""
    profile = gate.profile
    stores = profile.stores_blocked == (not profile.resumes_late) == (not profile.has_unaligned)
    in_1_11 = profile.type_decides == profile.network_starts == (not profile.has_announcements)
    return stores and in_1_11 and profile.ends_count == (not profile.tracker_awaits_ended)


@GATE.step("SUB-01")
def sub_01(before: Gate, event: Item, effects: Effects, after: Gate) -> bool:
    """If a newer checkpoint begins during an alignment, the older one is subsumed once, and no other is."""
    if before.profile.cancels_twice and type(event) is Cancel:
        return True  # ALIGN-11
    subsumed = tuple(effect for effect in effects if type(effect) is Abort and effect.reason == SUBSUMED)
    if not subsumed:
        return not (before.pending and after.pending and after.current != before.current)
    return len(subsumed) == 1 and subsumed[0].checkpoint == before.current and after.current > before.current


def _spent(gate: Gate, checkpoint: int) -> bool:
    return checkpoint < gate.current or (checkpoint == gate.current and not gate.pending)


def _triggers(effects: Effects) -> bool:
    return any(type(effect) is Trigger for effect in effects)


def _aborts(effects: Effects) -> bool:
    return any(type(effect) is Abort for effect in effects)


def _resumes(blocked: tuple[bool, ...]) -> Effects:
    return tuple(Resume(channel) for channel, has in enumerate(blocked) if has)


def _given_up(gate: Gate, reason: str) -> Effects:
    abort = Abort(gate.current, reason)
    if gate.profile.releases_first:
        return (*_resumes(gate.blocked), abort)
    return (abort, *_resumes(gate.blocked))


def _awaited(gate: Gate) -> tuple[bool, ...]:
    return tuple(not (has or ended) for has, ended in zip(gate.blocked, gate.closed, strict=True))


def _alone(gate: Gate) -> bool:
    """The gate has a single channel, and its generation does not block a single channel (ALIGN-07)."""
    return gate.profile.passes_alone and len(gate.blocked) == 1


def _repeats(gate: Gate, event: Item | Injection) -> bool:
    """Whether the event is a barrier of the pending checkpoint that its channel has already delivered."""
    return type(event) is Barrier and event.checkpoint == gate.current and gate.blocked[event.channel]


def _only(gate: Gate, channel: int) -> tuple[bool, ...]:
    return tuple(position == channel for position in range(len(gate.blocked)))


def _also(gate: Gate, channel: int) -> tuple[bool, ...]:
    return tuple(has or position == channel for position, has in enumerate(gate.blocked))


def _closed_by(gate: Gate, event: EndOfPartition) -> tuple[bool, ...]:
    return tuple(ended or position == event.channel for position, ended in enumerate(gate.closed))


def _idle(gate: Gate) -> bool:
    return not gate.pending and not any(gate.blocked)
