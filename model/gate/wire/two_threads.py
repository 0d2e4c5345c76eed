"""Mode unaligned of Flink 1.11 on the wire: two threads at one gate, at both levels.

The gate never blocks a channel, so no item waits, and the levels differ only in records.
"""

from collections.abc import Hashable
from typing import NamedTuple

from model import fields
from model.events import Step
from model.fields import Wire, WireError
from model.gate import polled_unaligned_gate, two_threads
from model.gate.events import Record
from model.gate.profiles import Profile
from model.gate.two_threads import Threads
from model.gate.unaligned import persisting
from model.gate.wire.mode import Mode
from model.gate.wire.unaligned import channels_of, options


class Threaded(NamedTuple):
    """A gate that two threads share, at one of the two levels."""

    threads: Threads
    polled: bool


def new(config: Wire, channels: int, profile: Profile, after_finish: bool, polled: bool) -> Threaded:
    """A gate in its initial state; `alignment_timeout_ms` is accepted and has no effect here."""
    timeout = fields.integer(config, "alignment_timeout_ms", at_least=0, default=0)
    return Threaded(two_threads.new_threads(channels, after_finish, profile, timeout), polled)


def step(session: Threaded, event: Wire) -> Step[Threaded]:
    """The step of one item, of the network thread, or of the mail.

    Raises WireError if the event is not legal.
    """
    gate = session.threads.gate
    kind = fields.kind_of(event, _KINDS)
    if kind == "mail":
        return _stepped(session, two_threads.on_mail(session.threads))
    if kind == "advance":
        return _stepped(
            session, two_threads.on_advance(session.threads, fields.integer(event, "ms", at_least=0))
        )
    if kind == "announce":
        raise WireError(f"profile {gate.profile.name} has no announcements; send the barrier")
    if kind == "inject":
        raise WireError(f"profile {gate.profile.name} triggers no task whose predecessors ended")
    channel = fields.index(event, "channel", len(gate.closed))
    if gate.closed[channel]:
        raise WireError(f"channel {channel} has ended; send nothing on it any more: {dict(event)}")
    if kind == "cancel":
        step = two_threads.on_cancel(session.threads, channel, fields.checkpoint(event))
    elif kind == "end_of_partition":
        step = two_threads.on_end_of_partition(session.threads, channel)
    elif kind == "record":
        return _record(session, channel, event)
    else:
        checkpoint, requested = fields.checkpoint(event), options(event, gate.now)
        if kind == "receive_barrier" and requested.savepoint:
            raise WireError(f"the network tells of no savepoint's barrier: {dict(event)}")
        takes = two_threads.on_barrier if kind == "barrier" else two_threads.on_receive
        step = takes(session.threads, channel, checkpoint, *requested)
    return _stepped(session, step)


_KINDS = (
    "record", "barrier", "receive_barrier", "mail", "announce", "inject", "cancel", "end_of_partition",
    "advance",
)  # fmt: skip


def _record(session: Threaded, channel: int, event: Wire) -> Step[Threaded]:
    if not session.polled:
        raise WireError("a gate at handler level takes no records; use level 'polled'")
    gate, effects, rules = polled_unaligned_gate.at_gate(
        session.threads.gate, Record(channel, fields.field(event, "value"))
    )
    return Step(session._replace(threads=session.threads._replace(gate=gate)), effects, rules)


def _stepped(session: Threaded, step: Step[Threads]) -> Step[Threaded]:
    return Step(session._replace(threads=step.state), step.effects, step.rules)


def observe(session: Threaded) -> dict[str, object]:
    """`current` and `pending` of the task's reads, `closed`, and the other fields of the shared gate."""
    gate = session.threads.gate
    return {
        "current": session.threads.read,
        "pending": session.threads.reading,
        "blocked": [],
        "closed": channels_of(gate.closed),
        "arrived": channels_of(gate.arrived),
        "persisting": channels_of(persisting(gate)),
    }


def key(session: Threaded) -> Hashable:
    """The state: it holds no record value."""
    return session


MODE = Mode(Threaded, new, step, observe, key)
