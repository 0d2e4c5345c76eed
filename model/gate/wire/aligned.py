"""The mode exactly-once on the wire, at both levels.

The items of a blocked channel wait in the network or, up to Flink 1.10, in the gate's own store.
"""

from collections.abc import Hashable
from typing import NamedTuple

from model import fields
from model.events import Step
from model.fields import Wire, WireError
from model.gate import buffering, polled_gate
from model.gate.buffering import UNLIMITED, Buffer
from model.gate.events import Barrier, Cancel, EndOfPartition, Record
from model.gate.polled_gate import Inbox
from model.gate.profiles import Profile
from model.gate.wire.mode import Mode


class Aligned(NamedTuple):
    """A gate at one of the two levels; at handler level no item waits."""

    inbox: Inbox | Buffer
    polled: bool


def new(config: Wire, channels: int, profile: Profile, after_finish: bool, polled: bool) -> Aligned:
    """A gate in its initial state; `alignment_limit_bytes` (-1: none) only where the gate itself stores.

    Raises WireError if the limit is 0, or if the profile stores nothing at the gate.
    """
    limit = fields.integer(config, "alignment_limit_bytes", at_least=UNLIMITED, default=UNLIMITED)
    if limit == 0:
        raise WireError("alignment_limit_bytes: expected -1 (none) or an int from 1 on, got 0")
    if limit != UNLIMITED and not profile.stores_blocked:
        raise WireError(
            f"alignment_limit_bytes: {profile.name} stores nothing at the gate; leave it out, or ask for "
            "the profile flink-1.7 or flink-1.9"
        )
    if polled and profile.stores_blocked:
        return Aligned(buffering.new_buffer(channels, after_finish, profile, limit), polled)
    return Aligned(polled_gate.new_inbox(channels, after_finish, profile), polled)


def step(session: Aligned, event: Wire) -> Step[Aligned]:
    """The step of one item. Raises WireError if the item is not legal in this state."""
    inbox = session.inbox
    kind = fields.kind_of(event, ("record", "barrier", "cancel", "end_of_partition", "inject"))
    if kind == "inject":
        return _injected(session, fields.checkpoint(event))
    channel = fields.index(event, "channel", len(inbox.gate.blocked))
    if inbox.gate.failed:
        raise WireError(f"the gate has failed; make a new one: {dict(event)}")
    ended = (
        buffering.has_ended(inbox, channel)
        if isinstance(inbox, Buffer)
        else (polled_gate.has_ended(inbox, channel))
    )
    if ended:
        raise WireError(f"channel {channel} has ended; send nothing on it any more: {dict(event)}")
    item: polled_gate.Item
    if kind == "barrier":
        item = Barrier(channel, fields.checkpoint(event))
    elif kind == "cancel":
        item = Cancel(channel, fields.checkpoint(event))
    elif kind == "end_of_partition":
        item = EndOfPartition(channel)
    elif session.polled:
        item = Record(channel, fields.field(event, "value"))
    else:
        raise WireError("a gate at handler level takes no records; use level 'polled'")
    after: Inbox | Buffer
    if isinstance(inbox, Buffer):
        after, effects, rules = buffering.on_arrival(inbox, item)
    elif session.polled:
        after, effects, rules = polled_gate.on_arrival(inbox, item)
    else:
        gate, effects, rules = polled_gate.at_gate(inbox.gate, item)
        after = Inbox(gate, ())
    return Step(Aligned(after, session.polled), effects, rules)


def _injected(session: Aligned, checkpoint: int) -> Step[Aligned]:
    inbox = session.inbox
    profile = inbox.gate.profile
    if isinstance(inbox, Buffer) or not profile.ends_count:
        raise WireError(f"no task of {profile.name} is triggered itself; ask for the newest profile")
    after, effects, rules = polled_gate.on_inject(inbox, checkpoint)
    return Step(Aligned(after, session.polled), effects, rules)


def observe(session: Aligned) -> dict[str, object]:
    """The observable state: `current`, `pending`, `blocked`, `closed`."""
    gate = session.inbox.gate
    return {
        "current": gate.current,
        "pending": gate.pending,
        "blocked": [channel for channel, flag in enumerate(gate.blocked) if flag],
        "closed": [channel for channel, flag in enumerate(gate.closed) if flag],
    }


def key(session: Aligned) -> Hashable:
    """The state; its text while items wait, because Python takes record values 1 and true for equal."""
    inbox = session.inbox
    held = inbox.stored if isinstance(inbox, Buffer) else inbox.waiting
    return repr(session) if held else session


MODE = Mode(Aligned, new, step, observe, key)
