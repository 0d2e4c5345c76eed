"""What the properties of unaligned checkpoints ask of a gate, an event and its effects."""

from typing import NamedTuple

from model.events import NONE, SUBSUMED, Effects
from model.gate.events import Abort, Resume, Trigger
from model.gate.unaligned import UnalignedGate
from model.gate.unaligned_events import (
    ALIGNED,
    FORCED_ALIGNED,
    TIMED,
    UNALIGNED,
    Announce,
    OptionedBarrier,
    Options,
    Prioritise,
    StartPersisting,
    StopPersisting,
    TriggerUnaligned,
)

Flags = tuple[bool, ...]


class Words(NamedTuple):
    """A barrier or announcement of a pending or newer id, as its own checkpoint finds the gate."""

    channel: int
    checkpoint: int
    alignment: int
    overtaking: bool
    """The phase that the event finds."""
    stops: bool
    """The sender stops after it: a barrier that does not overtake."""
    begun: bool
    arrived: Flags
    """With a barrier's own channel."""
    blocked: Flags
    since: int
    """When the gate first heard of it."""
    last: bool
    """No channel is awaited after it."""
    announced: Flags
    """Without the channel of an aligned barrier, which is read now."""
    tail: Effects
    """The effects without those that end an older checkpoint."""


def words_of(before: UnalignedGate, event: OptionedBarrier | Announce, effects: Effects) -> Words:
    """How the event's own checkpoint finds the gate."""
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
    return Words(
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
    """The id can be begun no more."""
    return checkpoint < gate.current or (checkpoint == gate.current and not gate.pending)


def overtakes(gate: UnalignedGate, event: OptionedBarrier | Announce) -> bool:
    """The barrier overtakes of itself: by its type where that decides, else by what it asks for."""
    return not event.savepoint if gate.profile.type_decides else event.alignment == UNALIGNED


def begins_overtaking(gate: UnalignedGate, event: OptionedBarrier | Announce) -> bool:
    """A checkpoint that begins with this barrier begins by overtaking."""
    return not gate.alternating or (gate.profile.first_decides and overtakes(gate, event))


def is_whole(gate: UnalignedGate) -> bool:
    """It is pending, and all its barriers have overtaken."""
    kept = gate.profile.whole_stays_pending and gate.pending and gate.overtaking
    return bool(kept and not awaits(gate.arrived, gate.closed))


def subsumed(gate: UnalignedGate, event: OptionedBarrier | Announce) -> Effects:
    """What a newer barrier or announcement says of the pending checkpoint, before anything of its own."""
    if not gate.pending:
        return ()
    changes = gate.profile.first_decides and begins_overtaking(gate, event) != gate.overtaking
    if is_whole(gate) and not changes:
        return ()
    aborted = (Abort(gate.current, SUBSUMED),)
    if changes or gate.profile.releases_first:
        return (*let_go(gate, gate.current), *aborted)
    return (*aborted, *let_go(gate, gate.current))


def started(gate: UnalignedGate, checkpoint: int, alignment: int) -> Effects:
    """What the first barrier that overtakes says."""
    if gate.profile.first_decides and alignment != UNALIGNED:
        return (StartPersisting(checkpoint), Trigger(checkpoint))
    return (StartPersisting(checkpoint), TriggerUnaligned(checkpoint))


def completed(gate: UnalignedGate, checkpoint: int, blocked: Flags) -> Effects:
    """What the last barrier of an alignment says after its own block."""
    if gate.profile.triggers_first:
        return (Trigger(checkpoint), *resumes(blocked))
    return (*resumes(blocked), Trigger(checkpoint))


def is_lone(gate: UnalignedGate) -> bool:
    """It has one channel in all, which never waits for itself."""
    return gate.profile.passes_alone and len(gate.closed) == 1


def let_go(gate: UnalignedGate, checkpoint: int) -> Effects:
    """What ends the pending checkpoint, beside its abort."""
    runs = gate.overtaking and (gate.begun or gate.profile.first_decides)
    stopped = (StopPersisting(checkpoint),) if runs and gate.profile.tells_stop else ()
    return (*stopped, *resumes(gate.blocked))


def resumes(flags: Flags) -> Effects:
    """A resume of each, in channel order."""
    return tuple(Resume(place) for place, has in enumerate(flags) if has)


def prioritises(flags: Flags) -> Effects:
    """A request to overtake for each, in channel order."""
    return tuple(Prioritise(place) for place, has in enumerate(flags) if has)


def also(flags: Flags, channel: int) -> Flags:
    """The same with `channel`."""
    return tuple(has or place == channel for place, has in enumerate(flags))


def awaits(arrived: Flags, closed: Flags, repeats: int = 0) -> bool:
    """More open channels have not delivered than repeated barriers were counted in their stead."""
    if type(repeats) is not int or repeats:
        missing = sum(1 for has, ended in zip(arrived, closed, strict=True) if not (has or ended))
        return missing > repeats
    return not all(has or ended for has, ended in zip(arrived, closed, strict=True))


def triggers(effects: Effects) -> int:
    """How many snapshots are triggered."""
    return sum(1 for effect in effects if type(effect) is Trigger or type(effect) is TriggerUnaligned)


def aborts(effects: Effects) -> int:
    """How many checkpoints are aborted."""
    return sum(1 for effect in effects if type(effect) is Abort)


def is_idle(gate: UnalignedGate) -> bool:
    """Nothing is pending and nothing is left of what was."""
    busy = gate.pending or gate.begun or any(gate.arrived) or any(gate.blocked) or any(gate.announced)
    rests = gate.overtaking != gate.alternating or gate.profile.first_decides
    return bool(not busy and rests and gate.timer == NONE)


def fits_unaligned(gate: UnalignedGate, options: Options) -> bool:
    """A checkpoint with these options may go on unaligned."""
    if gate.profile.savepoints_overtake:
        return options.alignment != FORCED_ALIGNED
    plain = options.alignment == ALIGNED or options.alignment == TIMED or options.alignment == UNALIGNED
    return plain and not options.savepoint


def lasts_too_long(gate: UnalignedGate, options: Options, since: int) -> bool:
    """A timed alignment has lasted longer than it may; `since` the gate knows of its checkpoint."""
    if gate.profile.times_from_first:
        return options.alignment == TIMED and gate.timeout > 0 and gate.now - since > gate.timeout
    return options.alignment == TIMED and gate.timeout > 0 and gate.now - options.timestamp > gate.timeout
