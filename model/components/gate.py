"""The gate behind the words of the wire, at both levels."""

from collections.abc import Hashable
from typing import NamedTuple

from model import network
from model.components import words
from model.components.words import Wire, WireError
from model.events import Barrier, Cancel, EndOfPartition, Record, Step
from model.network import Inbox


class GateSession(NamedTuple):
    """A gate at one of the two levels; at handler level nothing ever waits."""

    inbox: Inbox
    polled: bool


def new_gate(config: Wire) -> GateSession:
    """`channels`, `mode`, `profile`, `checkpoints_after_tasks_finish`, `level`."""
    channels = words.integer(config, "channels", at_least=1)
    words.choice(config, "mode", ("exactly-once",), default="exactly-once")
    words.choice(config, "profile", ("flink-1.14",), default="flink-1.14")
    level = words.choice(config, "level", ("polled", "handler"), default="polled")
    after_finish = words.boolean(config, "checkpoints_after_tasks_finish", default=True)
    return GateSession(network.new_inbox(channels, after_finish), level == "polled")


def step_gate(session: GateSession, event: Wire) -> Step[GateSession]:
    """One item arrives."""
    inbox = session.inbox
    kind = words.kind_of(event, ("record", "barrier", "cancel", "end_of_partition"))
    channel = words.index(event, "channel", len(inbox.gate.blocked))
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
    return Step(GateSession(after, session.polled), effects, rules)


def observe_gate(session: GateSession) -> dict[str, object]:
    """`current`, `pending`, `blocked`, `closed`."""
    gate = session.inbox.gate
    return {
        "current": gate.current,
        "pending": gate.pending,
        "blocked": [channel for channel, flag in enumerate(gate.blocked) if flag],
        "closed": [channel for channel, flag in enumerate(gate.closed) if flag],
    }


def key_of_gate(session: GateSession) -> Hashable:
    """The state; with waiting records, whose values are the sender's (1 and true differ), its text."""
    return repr(session) if session.inbox.waiting else session
