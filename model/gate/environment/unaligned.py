"""Closed models of a gate in the modes unaligned and alternating, with options and time.

Channels deliver barriers, announcements and cancellations with ids that never fall. Time passes in equal
steps. spec/gate/UnalignedEnvironment.tla specifies the same environment for the gate without the network.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment, forgetting
from model.events import Advance, Event
from model.gate.alignment import ALIGNED, FORCED_ALIGNED, TIMED, UNALIGNED, Options
from model.gate.events import Announce, Cancel, EndOfPartition, Inject, OptionedBarrier, Record
from model.gate.polled_unaligned_gate import Passage, has_ended
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.unaligned import UnalignedGate, new_gate
from model.steps import step_of

PLAIN = (Options(ALIGNED, False, 0), Options(UNALIGNED, False, 0), Options(TIMED, False, 0))
"""Options of checkpoints that may continue unaligned."""
RARE = (Options(FORCED_ALIGNED, False, 0), Options(TIMED, True, 0))
"""Options of a forced-aligned barrier and of a savepoint. They cannot continue unaligned."""


class GateBounds(NamedTuple):
    """The size of a closed model."""

    channels: int
    ids: int
    until: int
    """The last point in time, in ms."""
    timeout: int
    alternating: bool
    counts_as_aligned: bool
    options: Sequence[Options] = PLAIN
    announced: bool = True
    """Channels may announce barriers, and the coordinator may trigger the task."""
    profile: Profile = NEWEST
    tick: int = 1
    """Milliseconds by which one event advances time."""
    announces: Sequence[int] = (TIMED,)
    """The alignments of announced barriers."""
    one_type: bool = False
    """A checkpoint has the same type on all channels: it is a savepoint if and only if its id is even."""


def closed_unaligned(bounds: GateBounds) -> ClosedModel:
    """The closed model of a gate at level `handler`. The gate reads every item at once, even if blocked."""

    def offers(gate: UnalignedGate) -> Iterator[tuple[str, Event]]:
        if gate.failed:
            return
        for channel in range(bounds.channels):
            if not gate.closed[channel]:
                yield from _on_channel(bounds, channel)
        yield from _on_task(bounds, gate)

    return ClosedModel(
        _name("gate", bounds),
        "unaligned",
        new_gate(
            bounds.channels,
            bounds.counts_as_aligned,
            bounds.profile,
            alternating=bounds.alternating,
            timeout=bounds.timeout,
        ),
        (0,) * bounds.channels,
        offers,
        _never_back,
        step_of("unaligned"),
    )


def closed_first_decides(channels: int, ids: int, *, alternating: bool, profile: Profile) -> ClosedModel:
    """Gates of 1.11 and 1.12, with the environment of FirstDecidesModel.tla.

    The first barrier decides whether its checkpoint aligns. There are no time-outs. No step depends on the
    other options of the first barrier, so the closed model does not distinguish states by them.
    """
    options = (Options(ALIGNED, False, 0), Options(ALIGNED, True, 0), Options(UNALIGNED, False, 0))
    bounds = GateBounds(
        channels, ids, 0, 0, alternating, False, options, announced=False, profile=profile, one_type=True
    )
    return forgetting(closed_unaligned(bounds), "first")


def closed_passage(bounds: GateBounds, waiting: int) -> ClosedModel:
    """A polled gate. At most `waiting` items wait in the network."""
    inner = closed_unaligned(bounds)

    def offers(passage: Passage) -> Iterator[tuple[str, Event]]:
        if passage.gate.failed:
            return
        full = len(passage.waiting) >= waiting
        for channel in range(bounds.channels):
            if has_ended(passage, channel) or (full and passage.held[channel]):
                continue
            yield from _on_channel(bounds, channel)
            yield "Record", Record(channel, len(passage.waiting))
        yield from _on_task(bounds, passage.gate)

    return inner._replace(
        name=f"polled {inner.name}, at most {waiting} waiting",
        component="passage",
        state=Passage(inner.state, (), (False,) * bounds.channels),
        offers=offers,
        step=step_of("passage"),
    )


def _on_channel(bounds: GateBounds, channel: int) -> Iterator[tuple[str, Event]]:
    for checkpoint in range(1, bounds.ids + 1):
        for options in bounds.options:
            if bounds.one_type and options.savepoint != (checkpoint % 2 == 0):
                continue
            yield "Barrier", OptionedBarrier(channel, checkpoint, *options)
            if bounds.announced and options.alignment in bounds.announces:
                yield "Announce", Announce(channel, checkpoint, *options)
        yield "Cancel", Cancel(channel, checkpoint)
    yield "EndOfPartition", EndOfPartition(channel)


def _on_task(bounds: GateBounds, gate: UnalignedGate) -> Iterator[tuple[str, Event]]:
    if gate.now < bounds.until:
        yield "Advance", Advance(bounds.tick)
    if bounds.announced and bounds.profile.ends_count:
        for checkpoint in range(1, bounds.ids + 1):
            for options in bounds.options:
                yield "Inject", Inject(checkpoint, *options)


def _never_back(last: Environment, event: Event) -> Environment | None:
    """The ids of one channel do not fall."""
    if type(event) is OptionedBarrier or type(event) is Announce or type(event) is Cancel:
        if event.checkpoint < last[event.channel]:
            return None
        return (*last[: event.channel], event.checkpoint, *last[event.channel + 1 :])
    return last


def _name(what: str, bounds: GateBounds) -> str:
    mode = "alternating" if bounds.alternating else "unaligned"
    ends = "ends count" if bounds.counts_as_aligned else "ends abort"
    older = "" if bounds.profile is NEWEST else f", {bounds.profile.name}"
    return (
        f"{mode} {what} of {bounds.channels} channels, ids to {bounds.ids}, {len(bounds.options)} kinds of "
        f"barriers, time to {bounds.until}, {ends}{older}"
    )


def closed_overtaking_models() -> tuple[ClosedModel, ...]:
    """The closed models that the suite explores. Every rule fires in one. The suite tours the small ones."""
    everything = (*PLAIN, *RARE)
    older = PROFILES["flink-1.13"]
    typed = (*PLAIN[:2], Options(ALIGNED, True, 0))
    toured = (
        closed_unaligned(GateBounds(2, 2, 0, 1, False, True, everything)),
        closed_unaligned(GateBounds(2, 2, 0, 1, False, False)),
        closed_unaligned(GateBounds(1, 2, 3, 1, True, True, everything)),
        closed_unaligned(GateBounds(2, 1, 3, 1, True, True, everything)),
        closed_passage(GateBounds(2, 2, 0, 1, True, True, PLAIN[:2], announced=False), 1),
        closed_unaligned(GateBounds(2, 2, 0, 0, True, False, typed, False, PROFILES["flink-1.11"])),
        closed_unaligned(GateBounds(1, 2, 0, 0, True, False, typed, False, PROFILES["flink-1.11"])),
        closed_unaligned(GateBounds(2, 2, 0, 0, True, False, PLAIN[:2], False, PROFILES["flink-1.12"])),
    )
    explored = (
        closed_unaligned(GateBounds(2, 2, 2, 1, True, True)),
        closed_unaligned(GateBounds(2, 2, 2, 1, True, False)),
        closed_unaligned(GateBounds(3, 1, 2, 1, True, True, announced=False)),
        closed_unaligned(GateBounds(2, 1, 3, 1, True, False, everything, profile=older)),
        closed_passage(GateBounds(2, 1, 2, 1, True, True), 2),
    )
    return (*toured, *(closed._replace(toured=False) for closed in explored))
