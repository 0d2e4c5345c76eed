"""UNAL-01 to UNAL-14 and UNAL-22: the steps of barriers, announcements, cancellations and ends.

A step for a pending or newer id has two parts. The first part ends the pending checkpoint, if a newer
checkpoint subsumes it (UNAL-04). The second part is the step for the event itself. `BarrierView.tail` holds
the effects of the second part. `BarrierView.overtaking` is the phase of the event's checkpoint. A newer
checkpoint begins in the phase of an idle gate.
"""

from model.event_frames import Frame
from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, Advance, Effects, Event, Fail
from model.gate.alignment import NO_OPTIONS, UNALIGNED, Options
from model.gate.events import (
    Abort,
    Announce,
    Block,
    Cancel,
    EndOfPartition,
    Inject,
    OptionedBarrier,
    Resume,
    StartPersisting,
    StopPersisting,
    Trigger,
)
from model.gate.properties.terms import (
    BarrierView,
    aborts,
    also,
    awaits,
    completed,
    fits_unaligned,
    is_idle,
    is_lone,
    is_spent,
    lasts_too_long,
    overtakes,
    persists,
    prioritises,
    resumes,
    started,
    stop_and_resume,
    subsumed,
    triggers,
    view_of,
)
from model.gate.unaligned import NOT_CONVERTIBLE, UnalignedGate
from model.registry import Registry

UNALIGNED_GATE = Registry("unaligned")
_PHASE = "pending begun overtaking arrived blocked announced first since repeats timer"
_ENDED = "(stop_persisting? resume* abort | abort resume*)"
_STARTED = "prioritise* (start_persisting trigger)?"
UNALIGNED_GATE.frames(
    {
        OptionedBarrier: Frame(
            "UNAL-10",
            f"current {_PHASE} failed",
            f"{_ENDED}? (resume? trigger? | block? {_STARTED} (stop_persisting resume*)? | "
            "block? prioritise* fail | block (trigger resume* | resume* trigger))",
        ),
        Announce: Frame("UNAL-13", f"current {_PHASE}", f"{_ENDED}? prioritise?"),
        Inject: Frame(
            "UNAL-22",
            f"current {_PHASE} failed",
            f"{_ENDED}? (prioritise* fail | trigger? resume* | {_STARTED} stop_persisting resume*)",
        ),
        Cancel: Frame("UNAL-06", f"current {_PHASE}", f"{_ENDED}?"),
        EndOfPartition: Frame(
            "UNAL-09",
            f"closed {_PHASE} failed",
            f"{_ENDED} | prioritise* fail | {_STARTED} | stop_persisting? resume* trigger? resume*",
        ),
        Advance: Frame("UNAL-17", "overtaking announced now timer failed", f"prioritise* fail | {_STARTED}"),
    }
)


@UNALIGNED_GATE.initial("UNAL-01")
def unal_01_at_first(gate: UnalignedGate) -> bool:
    """A new gate is idle at time 0, and its current id is -1. In mode unaligned, barriers overtake."""
    flags = (gate.arrived, gate.blocked, gate.announced, gate.closed)
    has_begun = gate.pending or gate.begun or gate.failed or gate.first != NO_OPTIONS
    is_at_zero = gate.now == 0 and gate.since == 0 and gate.repeats == 0 and gate.timer == NONE
    begins = gate.current == NONE and gate.overtaking != gate.alternating
    return begins and is_at_zero and not has_begun and not any(any(of_channel) for of_channel in flags)


@UNALIGNED_GATE.step("UNAL-01")
def unal_01(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The first barrier that overtakes starts persisting and triggers an unaligned snapshot at once."""
    view = _of_barrier(before, event, effects)
    if view is None or not view.overtaking or view.begun or after.failed:
        return True
    rest = view.tail[1:] if view.stops else view.tail
    expected = started(before, view.checkpoint, view.alignment)
    return rest[:2] == expected and triggers(effects) == 1 and after.current == view.checkpoint


@UNALIGNED_GATE.step("UNAL-02")
def unal_02(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A further overtaking barrier triggers nothing. Unless it is the last, it only blocks its channel."""
    view = _of_barrier(before, event, effects)
    if view is None or not view.overtaking or not view.begun or after.failed:
        return True
    if not view.last:
        quiet = (Block(view.channel),) if view.stops else ()
        return effects == quiet and after.pending and after.arrived == view.arrived
    return triggers(effects) == 0 and aborts(effects) == 0


@UNALIGNED_GATE.step("UNAL-03")
def unal_03(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The last overtaking barrier ends the checkpoint: persisting stops, and blocked channels resume."""
    view = _of_barrier(before, event, effects)
    if view is None or not view.overtaking or after.failed:
        return True
    stops = tuple(effect for effect in view.tail if type(effect) is StopPersisting)
    if not view.last or not before.profile.reports_stop:
        return not stops and after.pending
    held = also(view.blocked, view.channel) if view.stops else view.blocked
    expected = (StopPersisting(view.checkpoint), *resumes(held))
    return view.tail[-len(expected) :] == expected and len(stops) == 1 and is_idle(after)


@UNALIGNED_GATE.step("UNAL-03")
def unal_03_reports(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """Persisting that was under way or has started is still under way, or the gate reports its end.

    It may report the end also if nothing is persisted. In 1.11 persisting ends without an effect.
    """
    stopped = sum(1 for effect in effects if type(effect) is StopPersisting)
    if not before.profile.reports_stop:
        return stopped == 0
    started = sum(1 for effect in effects if type(effect) is StartPersisting)
    goes_on = 1 if persists(after) else 0
    under_way = 1 if persists(before) else 0
    return after.failed or stopped + goes_on >= started + under_way


@UNALIGNED_GATE.step("UNAL-04")
def unal_04(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A newer barrier or announcement first ends the pending checkpoint, then begins its own."""
    if type(event) is not OptionedBarrier and type(event) is not Announce:
        return True
    if type(event) is Announce and before.profile.first_decides:
        return not effects and after == before  # these generations ignore announcements
    ended = tuple(effect for effect in effects if type(effect) is Abort)
    if event.checkpoint <= before.current or not before.pending:
        return not ended
    expected = subsumed(before, event)
    once = len(ended) == (1 if expected else 0)
    return effects[: len(expected)] == expected and once and after.current == event.checkpoint


@UNALIGNED_GATE.step("UNAL-05")
def unal_05(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A late barrier resumes its sender, if the sender has stopped. A late announcement does nothing."""
    if type(event) is Announce and is_spent(before, event.checkpoint):
        return not effects and after == before
    if type(event) is not OptionedBarrier or not is_spent(before, event.checkpoint):
        return True
    never = before.profile.first_decides and not before.alternating
    expected = () if never or overtakes(before, event) else (Resume(event.channel),)
    return effects == expected and after == before


@UNALIGNED_GATE.step("UNAL-06")
def unal_06(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A cancellation aborts a newer id, or a pending id with a counted channel, once."""
    if type(event) is not Cancel or _cancels_nothing(before, event):
        return True
    expected = (*stop_and_resume(before, event.checkpoint), Abort(event.checkpoint, ON_CANCELLATION_BARRIER))
    return effects == expected and after.current == event.checkpoint and is_idle(after)


@UNALIGNED_GATE.step("UNAL-07")
def unal_07(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A cancellation of an older or spent id, or of an id with only an announcement, has no effect."""
    if type(event) is not Cancel or not _cancels_nothing(before, event):
        return True
    return not effects and after == before


def _cancels_nothing(before: UnalignedGate, event: Cancel) -> bool:
    older = event.checkpoint < before.current
    return older or (event.checkpoint == before.current and not any(before.arrived))


@UNALIGNED_GATE.step("UNAL-08")
def unal_08(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """Without checkpoints after tasks finish, an end aborts the pending checkpoint, even if not begun."""
    if type(event) is not EndOfPartition or not before.pending or before.counts_as_aligned:
        return True
    aborted = (Abort(before.current, INPUT_END_OF_STREAM),)
    expected = (*stop_and_resume(before, before.current), *aborted)
    if not before.profile.releases_first:
        expected = (*aborted, *stop_and_resume(before, before.current))
    return effects == expected and is_idle(after) and after.closed == also(before.closed, event.channel)


@UNALIGNED_GATE.step("UNAL-09")
def unal_09(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """With checkpoints after tasks finish, an ended channel counts as aligned.

    If it was the last awaited channel, the checkpoint ends. The gate triggers the snapshot only once.
    """
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
    """An aligned barrier blocks its channel until the checkpoint ends. No other barrier blocks.

    The channel stays blocked also after other barriers overtake.
    """
    blocks = tuple(effect for effect in effects if type(effect) is Block)
    view = _of_barrier(before, event, effects)
    if view is None:
        return not blocks
    if not view.stops or is_lone(before) or (after.failed and before.profile.first_decides):
        return not blocks and (not after.pending or after.blocked == view.blocked)
    if blocks != (Block(view.channel),) or view.tail[:1] != blocks:
        return False
    return not after.pending or after.blocked == also(view.blocked, view.channel)


@UNALIGNED_GATE.step("UNAL-11")
def unal_11(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The last aligned barrier completes the alignment, also after the time-out: trigger, then resume."""
    view = _of_barrier(before, event, effects)
    if view is None or view.overtaking or not view.stops or _disagrees(before, after):
        return True
    if not view.last:
        return all(type(effect) is not Trigger for effect in effects)
    if is_lone(before):
        return view.tail == (Resume(view.channel), Trigger(view.checkpoint)) and is_idle(after)
    held = also(view.blocked, view.channel)
    return view.tail[1:] == completed(before, view.checkpoint, held) and is_idle(after)


@UNALIGNED_GATE.step("UNAL-12")
def unal_12(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An unaligned barrier ends an aligned phase: the gate prioritises announced barriers, then triggers."""
    view = _of_barrier(before, event, effects)
    if view is None or view.overtaking or view.alignment != UNALIGNED or before.profile.first_decides:
        return True
    expected: Effects = (*prioritises(view.announced), *started(before, view.checkpoint, view.alignment))
    if view.last:
        return view.tail == (*expected, StopPersisting(view.checkpoint), *resumes(view.blocked))
    return view.tail == expected and after.begun and after.overtaking and not any(after.announced)


@UNALIGNED_GATE.step("UNAL-13")
def unal_13(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An announcement begins its checkpoint, and the gate stores it. No channel is blocked or counts."""
    if type(event) is not Announce or is_spent(before, event.checkpoint) or before.profile.first_decides:
        return True
    view = view_of(before, event, effects)
    same = (after.arrived, after.blocked) == (view.arrived, view.blocked)
    if not (after.pending and after.current == event.checkpoint and same and after.begun == view.begun):
        return False
    return view.overtaking or (not view.tail and after.announced == also(view.announced, event.channel))


@UNALIGNED_GATE.step("UNAL-14")
def unal_14(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """While barriers overtake, the gate prioritises an announced barrier at once."""
    if type(event) is not Announce or is_spent(before, event.checkpoint) or before.profile.first_decides:
        return True
    view = view_of(before, event, effects)
    return not view.overtaking or view.tail == prioritises(also((False,) * len(before.closed), event.channel))


@UNALIGNED_GATE.step("UNAL-22")
def unal_22(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An injection counts every open channel and stops no sender, so the checkpoint completes at once."""
    if type(event) is not Inject:
        return True
    opened = tuple(place for place, ended in enumerate(before.closed) if not ended)
    aligned = event.alignment != UNALIGNED
    if is_spent(before, event.checkpoint) or not opened:
        return effects == (tuple(map(Resume, opened)) if aligned else ()) and after == before
    newer = event.checkpoint > before.current
    barrier = OptionedBarrier(opened[0], *event[:-1])
    view = view_of(before, barrier, effects)
    options = Options(event.alignment, event.savepoint, event.timestamp)
    expected: Effects = subsumed(before, barrier) if newer else ()
    aligns = not view.overtaking and aligned
    if aligns and (view.last or not lasts_too_long(before, options, view.since)):
        expected = (*expected, Trigger(event.checkpoint))
    else:
        if not view.overtaking:
            expected = (*expected, *prioritises(view.announced))
        if not (view.overtaking and view.begun):
            if not fits_unaligned(before, options):
                return effects == (*expected, Fail(NOT_CONVERTIBLE)) and after.failed
            expected = (*expected, *started(before, event.checkpoint, UNALIGNED))
        expected = (*expected, StopPersisting(event.checkpoint))
    last = max(place for place in opened if newer or not before.arrived[place])
    late = tuple(Resume(place) for place in opened if place > last and aligned)
    return effects == (*expected, *resumes(view.blocked), *late) and is_idle(after)


def _disagrees(before: UnalignedGate, after: UnalignedGate) -> bool:
    """The gate refused the barrier, because it contradicts the first one of its checkpoint (UNAL-27)."""
    return before.profile.first_decides and after.failed


def _of_barrier(before: UnalignedGate, event: Event, effects: Effects) -> BarrierView | None:
    """The view of a barrier that is not late. None for any other event."""
    if type(event) is not OptionedBarrier or is_spent(before, event.checkpoint):
        return None
    return view_of(before, event, effects)
