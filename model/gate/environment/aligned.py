"""Closed models of the aligned gate: alone, and with the items that wait in the network (polled)."""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event
from model.gate import aligned, polled_gate
from model.gate.aligned import Gate
from model.gate.events import Barrier, Cancel, EndOfPartition, Injection, Record
from model.gate.polled_gate import Watched, new_watched
from model.gate.profiles import NEWEST, Profile
from model.steps import step_of


def closed_gate(
    channels: int,
    ids: int,
    *,
    counts_as_aligned: bool,
    polled: bool,
    profile: Profile = NEWEST,
    injects: bool = False,
) -> ClosedModel:
    """A gate whose channels deliver barriers and cancellations with ids from 1 to `ids`.

    The ids of one channel never fall.

    `injects`: the coordinator may also trigger the task itself, at any time and with any id.
    """

    def offers(gate: Gate) -> Iterator[tuple[str, Event]]:
        if injects:
            for checkpoint in range(1, ids + 1):
                yield "Inject", Injection(checkpoint)
        for channel in range(channels):
            if gate.failed or gate.closed[channel] or (polled and gate.blocked[channel]):
                continue
            for checkpoint in range(1, ids + 1):
                yield "Barrier", Barrier(channel, checkpoint)
                yield "Cancel", Cancel(channel, checkpoint)
            yield "EndOfPartition", EndOfPartition(channel)

    def allows(last: Environment, event: Event) -> Environment | None:
        if type(event) is Barrier or type(event) is Cancel:
            channel, checkpoint = event.channel, event.checkpoint
            if checkpoint < last[channel]:
                return None
            return (*last[:channel], checkpoint, *last[channel + 1 :])
        return last

    level = "polled" if polled else "handler"
    ends = "ends count" if counts_as_aligned else "ends abort"
    older = "" if profile is NEWEST else f", {profile.name}"
    injected = ", injected" if injects else ""
    return ClosedModel(
        f"gate of {channels} channels, ids to {ids}, {level}, {ends}{older}{injected}",
        "gate",
        aligned.new_gate(channels, counts_as_aligned, profile),
        (0,) * channels,
        offers,
        allows,
        step_of("gate"),
    )


def closed_network(channels: int, ids: int, waiting: int) -> ClosedModel:
    """A polled gate. At most `waiting` items wait in the network."""
    inner = closed_gate(channels, ids, counts_as_aligned=True, polled=False)

    def offers(inbox: polled_gate.Inbox) -> Iterator[tuple[str, Event]]:
        for action, event in inner.offers(inbox.gate):
            channel = event[0]
            assert type(channel) is int
            held = inbox.gate.blocked[channel]
            if not polled_gate.has_ended(inbox, channel) and not (held and len(inbox.waiting) >= waiting):
                yield action, event
        for channel in range(channels):
            held = inbox.gate.blocked[channel] and len(inbox.waiting) >= waiting
            if not polled_gate.has_ended(inbox, channel) and not held:
                yield "Record", Record(channel, len(inbox.waiting))

    return ClosedModel(
        f"polled gate of {channels} channels, ids to {ids}, at most {waiting} waiting",
        "network",
        polled_gate.new_inbox(channels, True),
        (0,) * channels,
        offers,
        inner.allows,
        step_of("network"),
    )


def closed_history(channels: int, ids: int) -> ClosedModel:
    """A polled gate that records the items that it reads. A blocked channel delivers nothing."""
    inner = closed_gate(channels, ids, counts_as_aligned=True, polled=True)

    def offers(watched: Watched) -> Iterator[tuple[str, Event]]:
        yield from inner.offers(watched.gate)
        for channel in range(channels):
            if not watched.gate.closed[channel] and not watched.gate.blocked[channel]:
                yield "Record", Record(channel, 0)

    return ClosedModel(
        f"gate of {channels} channels, ids to {ids}, with what it has read",
        "history",
        new_watched(channels, True),
        (0,) * channels,
        offers,
        inner.allows,
        step_of("history"),
    )
