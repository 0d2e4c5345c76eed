"""Terms that the properties of unaligned checkpoints use about a gate, an event and its effects."""

from typing import NamedTuple

from model.events import NONE, SUBSUMED, Effects
from model.gate.alignment import ALIGNED, FORCED_ALIGNED, TIMED, UNALIGNED, Options
from model.gate.events import (
    Abort,
    Announce,
    OptionedBarrier,
    Prioritise,
    Resume,
    StartPersisting,
    StopPersisting,
    Trigger,
    TriggerUnaligned,
)
from model.gate.unaligned import UnalignedGate

Flags = tuple[bool, ...]


class BarrierView(NamedTuple):
    """A barrier or announcement of a pending or newer id, with the gate's state for that checkpoint."""

    channel: int
    checkpoint: int
    alignment: int
    overtaking: bool
    """Barriers overtake in the phase of the gate, immediately before the event."""
    stops: bool
    """The event is a barrier that does not overtake, so its sender stops after it."""
    begun: bool
    arrived: Flags
    """By channel: it has delivered the barrier. If the event is a barrier, its channel is included."""
    blocked: Flags
    since: int
    """When the checkpoint began at this gate, in ms."""
    last: bool
    """The gate awaits no channel after this event."""
    announced: Flags
    """By channel: the pending barrier is announced. If the event is an aligned barrier, not its channel."""
    tail: Effects
    """The effects without the effects that end an older checkpoint."""


def view_of(before: UnalignedGate, event: OptionedBarrier | Announce, effects: Effects) -> BarrierView:
    """The view of the event. For a newer id, it shows the gate as the new checkpoint begins."""
    none = (False,) * len(before.closed)
    begun, overtaking = before.begun, before.overtaking
    arrived, blocked, announced = before.arrived, before.blocked, before.announced
    repeats, since = before.repeats, before.since
    tail = effects
    if event.checkpoint > before.current:
        begun, overtaking = False, begins_overtaking(before, event)
        arrived = blocked = announced = none
        repeats, since = 0, before.now
        tail = effects[len(subsumed(before, event)) :]
    if type(event) is OptionedBarrier:
        counts = before.profile.repeats_count or before.profile.overtaking_counts_repeats
        if counts and arrived[event.channel]:
            repeats = repeats + 1
        arrived = also(arrived, event.channel)
        if event.alignment != UNALIGNED:
            announced = tuple(has and place != event.channel for place, has in enumerate(announced))
    return BarrierView(
        event.channel,
        event.checkpoint,
        event.alignment,
        overtaking,
        event.alignment != UNALIGNED if not before.profile.first_decides else not overtaking,
        begun,
        arrived,
        blocked,
        since,
        not awaits(arrived, before.closed, repeats),
        announced,
        tail,
    )


def is_spent(gate: UnalignedGate, checkpoint: int) -> bool:
    """The id has ended or was skipped, so it cannot begin again."""
    return checkpoint < gate.current or (checkpoint == gate.current and not gate.pending)


def overtakes(gate: UnalignedGate, event: OptionedBarrier | Announce) -> bool:
    """The barrier overtakes. If the type decides (1.11), this depends on its type, else on its options."""
    return not event.savepoint if gate.profile.type_decides else event.alignment == UNALIGNED


def begins_overtaking(gate: UnalignedGate, event: OptionedBarrier | Announce) -> bool:
    """If this event begins a checkpoint, its barriers overtake from the beginning."""
    return not gate.alternating or (gate.profile.first_decides and overtakes(gate, event))


def is_whole(gate: UnalignedGate) -> bool:
    """All barriers of the pending checkpoint have overtaken, and it stays pending (only in 1.11)."""
    kept = gate.profile.whole_stays_pending and gate.pending and gate.overtaking
    return bool(kept and not awaits(gate.arrived, gate.closed))


def persists(gate: UnalignedGate) -> bool:
    """The gate has read a barrier that overtakes, and awaits another one: it persists in-flight input."""
    runs = gate.pending and gate.begun and gate.overtaking
    return bool(runs and awaits(gate.arrived, gate.closed, gate.repeats))


def subsumed(gate: UnalignedGate, event: OptionedBarrier | Announce) -> Effects:
    """The effects that end the pending checkpoint, before the effects of a newer barrier or announcement."""
    if not gate.pending:
        return ()
    changes = gate.profile.first_decides and begins_overtaking(gate, event) != gate.overtaking
    if is_whole(gate) and not changes:
        return ()
    aborted = (Abort(gate.current, SUBSUMED),)
    if changes or gate.profile.releases_first:
        return (*stop_and_resume(gate, gate.current), *aborted)
    return (*aborted, *stop_and_resume(gate, gate.current))


def started(gate: UnalignedGate, checkpoint: int, alignment: int) -> Effects:
    """The effects of the first barrier that overtakes."""
    if gate.profile.first_decides and alignment != UNALIGNED:
        return (StartPersisting(checkpoint), Trigger(checkpoint))
    return (StartPersisting(checkpoint), TriggerUnaligned(checkpoint))


def completed(gate: UnalignedGate, checkpoint: int, blocked: Flags) -> Effects:
    """The effects of the last barrier of an alignment, after the effect that blocks its channel."""
    if gate.profile.triggers_first:
        return (Trigger(checkpoint), *resumes(blocked))
    return (*resumes(blocked), Trigger(checkpoint))


def is_lone(gate: UnalignedGate) -> bool:
    """The gate has a single channel, and its generation does not block a single channel."""
    return gate.profile.passes_alone and len(gate.closed) == 1


def stop_and_resume(gate: UnalignedGate, checkpoint: int) -> Effects:
    """The effects that end the pending checkpoint, without the abort."""
    runs = gate.overtaking and (gate.begun or gate.profile.first_decides)
    stopped = (StopPersisting(checkpoint),) if runs and gate.profile.reports_stop else ()
    return (*stopped, *resumes(gate.blocked))


def resumes(flags: Flags) -> Effects:
    """The effects that resume the flagged channels, in channel order."""
    return tuple(Resume(place) for place, has in enumerate(flags) if has)


def prioritises(flags: Flags) -> Effects:
    """The effects that prioritise the barriers of the flagged channels, in channel order."""
    return tuple(Prioritise(place) for place, has in enumerate(flags) if has)


def also(flags: Flags, channel: int) -> Flags:
    """The same flags with `channel` set."""
    return tuple(has or place == channel for place, has in enumerate(flags))


def awaits(arrived: Flags, closed: Flags, repeats: int = 0) -> bool:
    """The open channels without the barrier are more than the repeated barriers that count for them."""
    if type(repeats) is not int or repeats:
        missing = sum(1 for has, ended in zip(arrived, closed, strict=True) if not (has or ended))
        return missing > repeats
    return not all(has or ended for has, ended in zip(arrived, closed, strict=True))


def triggers(effects: Effects) -> int:
    """Number of triggers among the effects."""
    return sum(1 for effect in effects if type(effect) is Trigger or type(effect) is TriggerUnaligned)


def aborts(effects: Effects) -> int:
    """Number of aborts among the effects."""
    return sum(1 for effect in effects if type(effect) is Abort)


def is_idle(gate: UnalignedGate) -> bool:
    """No checkpoint is pending, and no state of an ended checkpoint is left."""
    busy = gate.pending or gate.begun or any(gate.arrived) or any(gate.blocked) or any(gate.announced)
    rests = gate.overtaking != gate.alternating or gate.profile.first_decides
    return bool(not busy and rests and gate.timer == NONE)


def fits_unaligned(gate: UnalignedGate, options: Options) -> bool:
    """A checkpoint with these options may continue unaligned."""
    if gate.profile.savepoints_overtake:
        return options.alignment != FORCED_ALIGNED
    plain = options.alignment == ALIGNED or options.alignment == TIMED or options.alignment == UNALIGNED
    return plain and not options.savepoint


def lasts_too_long(gate: UnalignedGate, options: Options, since: int) -> bool:
    """A timed alignment has lasted longer than the time-out. `since`: its beginning at this gate."""
    if gate.profile.times_from_first:
        return options.alignment == TIMED and gate.timeout > 0 and gate.now - since > gate.timeout
    return options.alignment == TIMED and gate.timeout > 0 and gate.now - options.timestamp > gate.timeout
