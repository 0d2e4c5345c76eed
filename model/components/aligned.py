"""The mode exactly-once behind the words of the wire, at both levels."""

from collections.abc import Hashable
from typing import NamedTuple

from model import network
from model.components import words
from model.components.mode import Mode
from model.components.words import Wire, WireError
from model.events import Barrier, Cancel, EndOfPartition, Record, Step
from model.network import Inbox
from model.profiles import Profile


class Aligned(NamedTuple):
    """A gate at one of the two levels; at handler level nothing ever waits."""

    inbox: Inbox
    polled: bool


def new(config: Wire, channels: int, profile: Profile, after_finish: bool, polled: bool) -> Aligned:
    """A gate that has seen nothing."""
    return Aligned(network.new_inbox(channels, after_finish, profile), polled)


def step(session: Aligned, event: Wire) -> Step[Aligned]:
    """One item arrives."""
    inbox = session.inbox
    kind = words.kind_of(event, ("record", "barrier", "cancel", "end_of_partition"))
    channel = words.index(event, "channel", len(inbox.gate.blocked))
    if inbox.gate.failed:
        raise WireError(f"the gate has failed; make a new one: {dict(event)}")
    if network.has_ended(inbox, channel):
        raise WireError(f"channel {channel} has ended; send nothing on it any more: {dict(event)}")
    item: network.Item
    if kind == "barrier":
        item = Barrier(channel, words.checkpoint(event))
    elif kind == "cancel":
        item = Cancel(channel, words.checkpoint(event))
    elif kind == "end_of_partition":
        item = EndOfPartition(channel)
    elif session.polled:
        item = Record(channel, words.field(event, "value"))
    else:
        raise WireError("a gate at handler level takes no records; use level 'polled'")
    if session.polled:
        after, effects, rules = network.on_arrival(inbox, item)
    else:
        gate, effects, rules = network.at_gate(inbox.gate, item)
        after = Inbox(gate, ())
    return Step(Aligned(after, session.polled), effects, rules)


def observe(session: Aligned) -> dict[str, object]:
    """`current`, `pending`, `blocked`, `closed`."""
    gate = session.inbox.gate
    return {
        "current": gate.current,
        "pending": gate.pending,
        "blocked": [channel for channel, flag in enumerate(gate.blocked) if flag],
        "closed": [channel for channel, flag in enumerate(gate.closed) if flag],
    }


def key(session: Aligned) -> Hashable:
    """The state; with waiting records, whose values are the sender's (1 and true differ), its text."""
    return repr(session) if session.inbox.waiting else session


MODE = Mode(Aligned, new, step, observe, key)
