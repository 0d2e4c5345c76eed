"""What the properties of unaligned checkpoints ask of a gate, an event and its effects."""

from typing import NamedTuple

from model.barriers import (
    ALIGNED,
    FORCED_ALIGNED,
    TIMED,
    UNALIGNED,
    Announce,
    OptionedBarrier,
    Options,
    Prioritise,
    StopPersisting,
    TriggerUnaligned,
)
from model.events import NONE, Abort, Effects, Resume, Trigger
from model.unaligned import UnalignedGate

Flags = tuple[bool, ...]


class Words(NamedTuple):
    """A barrier or announcement of a pending or newer id, as its own checkpoint finds the gate."""

    channel: int
    checkpoint: int
    alignment: int
    overtaking: bool
    """The phase that the event finds."""
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
        begun, overtaking = False, not before.alternating
        arrived = blocked = announced = none
        repeats, since = 0, before.now
        if before.pending:
            tail = effects[len(let_go(before, before.current)) + 1 :]
    if type(event) is OptionedBarrier:
        if before.profile.repeats_count and arrived[event.channel]:
            repeats = repeats + 1
        arrived = also(arrived, event.channel)
        if event.alignment != UNALIGNED:
            announced = tuple(has and place != event.channel for place, has in enumerate(announced))
    return Words(
        event.channel,
        event.checkpoint,
        event.alignment,
        overtaking,
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


def let_go(gate: UnalignedGate, checkpoint: int) -> Effects:
    """What ends the pending checkpoint, before its abort."""
    stopped = (StopPersisting(checkpoint),) if gate.begun and gate.overtaking else ()
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
    return not busy and gate.overtaking != gate.alternating and gate.timer == NONE


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
