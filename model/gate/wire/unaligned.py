"""The modes unaligned and alternating on the wire, at both levels."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import NamedTuple

from model import fields
from model.events import Advance, Step
from model.fields import Wire, WireError
from model.gate import polled_unaligned_gate
from model.gate.events import Cancel, EndOfPartition, Record
from model.gate.polled_unaligned_gate import Passage
from model.gate.profiles import Profile
from model.gate.unaligned import persisting
from model.gate.unaligned_events import (
    ALIGNED,
    FORCED_ALIGNED,
    TIMED,
    UNALIGNED,
    Announce,
    Inject,
    OptionedBarrier,
    Options,
)
from model.gate.wire.mode import Mode

ALIGNMENTS: Mapping[str, int] = {
    "aligned": ALIGNED,
    "unaligned": UNALIGNED,
    "forced-aligned": FORCED_ALIGNED,
    "timeout": TIMED,
}
"""The alignments by their name on the wire."""


class Overtaking(NamedTuple):
    """A gate of mode unaligned at one of the two levels; at handler level no item waits."""

    passage: Passage
    polled: bool


class Alternating(NamedTuple):
    """A gate of mode alternating at one of the two levels."""

    passage: Passage
    polled: bool


Session = Overtaking | Alternating


def new(
    made: type[Session], config: Wire, channels: int, profile: Profile, after_finish: bool, polled: bool
) -> Session:
    """A gate in its initial state at time 0; both modes read `alignment_timeout_ms`.

    Raises WireError if the generation has no unaligned checkpoints.
    """
    if not profile.has_unaligned:
        raise WireError(f"profile {profile.name} has no unaligned checkpoints; they came with flink-1.11")
    timeout = fields.integer(config, "alignment_timeout_ms", at_least=0, default=0)
    passage = polled_unaligned_gate.new_passage(
        channels, after_finish, profile, alternating=made is Alternating, timeout=timeout
    )
    return made(passage, polled)


def step(session: Session, event: Wire) -> Step[Session]:
    """The step of one item, of an injection, or of time. Raises WireError if the event is not legal."""
    passage = session.passage
    kind = fields.kind_of(event, _KINDS)
    if passage.gate.failed:
        raise WireError(f"the gate has failed; make a new one: {dict(event)}")
    if kind == "announce" and not passage.gate.profile.has_announcements:
        raise WireError(f"profile {passage.gate.profile.name} has no announcements; send the barrier")
    if kind == "advance":
        call: Advance | Inject = Advance(fields.integer(event, "ms", at_least=0))
        return _stepped(session, _called(session, call))
    if kind == "inject":
        if not passage.gate.profile.ends_count:
            raise WireError(f"profile {passage.gate.profile.name} triggers no task whose predecessors ended")
        call = Inject(fields.checkpoint(event), *options(event, passage.gate.now))
        return _stepped(session, _called(session, call))
    channel = fields.index(event, "channel", len(passage.gate.closed))
    if polled_unaligned_gate.has_ended(passage, channel):
        raise WireError(f"channel {channel} has ended; send nothing on it any more: {dict(event)}")
    item: polled_unaligned_gate.Item
    if kind == "barrier":
        item = OptionedBarrier(channel, fields.checkpoint(event), *options(event, passage.gate.now))
    elif kind == "announce":
        item = Announce(channel, fields.checkpoint(event), *options(event, passage.gate.now))
    elif kind == "cancel":
        item = Cancel(channel, fields.checkpoint(event))
    elif kind == "end_of_partition":
        item = EndOfPartition(channel)
    elif session.polled:
        item = Record(channel, fields.field(event, "value"))
    else:
        raise WireError("a gate at handler level takes no records; use level 'polled'")
    if session.polled:
        return _stepped(session, polled_unaligned_gate.on_arrival(passage, item))
    gate, effects, rules = polled_unaligned_gate.at_gate(passage.gate, item)
    return _stepped(session, Step(passage._replace(gate=gate), effects, rules))


_KINDS = ("record", "barrier", "announce", "inject", "cancel", "end_of_partition", "advance")


def _called(session: Session, call: Advance | Inject) -> Step[Passage]:
    return polled_unaligned_gate.on_call(session.passage, call)


def _stepped(session: Session, step: Step[Passage]) -> Step[Session]:
    return Step(session._replace(passage=step.state), step.effects, step.rules)


def options(event: Wire, now: int) -> Options:
    """The options of an event. Defaults: aligned, no savepoint, triggered now. Raises WireError."""
    alignment = ALIGNMENTS[fields.choice(event, "alignment", tuple(ALIGNMENTS), default="aligned")]
    savepoint = fields.boolean(event, "savepoint", default=False)
    if savepoint and alignment == UNALIGNED:
        raise WireError(f"a savepoint is never unaligned: {dict(event)}")
    return Options(alignment, savepoint, fields.integer(event, "timestamp", at_least=0, default=now))


def observe(session: Session) -> dict[str, object]:
    """The observable state: `current`, `pending`, `blocked`, `closed`, `arrived`, `persisting`."""
    gate = session.passage.gate
    return {
        "current": gate.current,
        "pending": gate.pending,
        "blocked": channels_of(gate.blocked),
        "closed": channels_of(gate.closed),
        "arrived": channels_of(gate.arrived),
        "persisting": channels_of(persisting(gate)),
    }


def channels_of(flags: tuple[bool, ...]) -> list[int]:
    """The channels whose flag is set, ascending."""
    return [channel for channel, flag in enumerate(flags) if flag]


def key(session: Session) -> Hashable:
    """The state; its text while items wait, because Python takes record values 1 and true for equal."""
    return repr(session) if session.passage.waiting else session


UNALIGNED_MODE = Mode(Overtaking, partial(new, Overtaking), step, observe, key)
ALTERNATING_MODE = Mode(Alternating, partial(new, Alternating), step, observe, key)
