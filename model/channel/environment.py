"""Closed models of one channel: alone, with every event at any time, and between two tasks.

spec/channel/ChannelModel.tla specifies the channel between two tasks.
"""

from collections.abc import Iterator
from itertools import product

from model.channel import channel, exchange
from model.channel.channel import CHANNEL_PROFILES, NEWEST_CHANNEL, Channel, ChannelProfile
from model.channel.events import (
    AbortAtSender,
    BeginPersisting,
    Emit,
    EndPersisting,
    MakeUrgent,
    RestoreChannel,
    ResumeSender,
    SendBarrier,
    Take,
    TimeOut,
    Transfer,
)
from model.channel.exchange import OPEN, Exchange, Recover
from model.channel.generations import channel_steps
from model.checker.closed_model import ClosedModel, Environment
from model.events import NONE, Event
from model.gate.alignment import ALIGNED, TIMED, UNALIGNED
from model.steps import step_of

ALIGNMENTS = (ALIGNED, UNALIGNED, TIMED)


def closed_channel(ids: int, capacity: int, profile: ChannelProfile = NEWEST_CHANNEL) -> ClosedModel:
    """A channel with at most `capacity` items at each end, and every legal event. Ids come in any order."""

    def offers(state: Channel) -> Iterator[tuple[str, Event]]:
        if len(state.output) < capacity:
            yield "Emit", Emit(0)
            for checkpoint, alignment in product(range(1, ids + 1), ALIGNMENTS):
                yield "SendBarrier", SendBarrier(checkpoint, alignment)
        if len(state.input) < capacity:
            yield "Transfer", Transfer()
        yield "Take", Take()
        if state.blocked:
            yield "Resume", ResumeSender()
        yield "Restore", RestoreChannel((0,), (0,))
        for checkpoint in range(1, ids + 1):
            yield "TimeOut", TimeOut(checkpoint)
            yield "Abort", AbortAtSender(checkpoint)
            yield "Start", BeginPersisting(checkpoint)
            yield "Stop", EndPersisting(checkpoint)
            if channel_steps(state).may_prioritise(state, checkpoint):
                yield "Prioritise", MakeUrgent(checkpoint)

    def allows(environment: Environment, event: Event) -> Environment:
        return environment

    return ClosedModel(
        f"channel, ids to {ids}, {capacity} items at either end, {profile.name}",
        "channel",
        channel.new_channel(profile),
        (),
        offers,
        allows,
        step_of("channel"),
    )


def closed_exchange(
    records: int,
    ids: int,
    failures: int,
    profile: ChannelProfile = NEWEST_CHANNEL,
    alignments: tuple[int, ...] = ALIGNMENTS,
) -> ClosedModel:
    """A channel with `records` records and `ids` checkpoints. The job fails at most `failures` times."""
    only = "" if alignments == ALIGNMENTS else ", all barriers overtake"

    def offers(state: Exchange) -> Iterator[tuple[str, Event]]:
        if state.sent < records:
            yield "Emit", Emit(state.sent + 1)
        checkpoint = exchange.next_barrier(state)
        if checkpoint <= ids:
            for alignment in alignments:
                yield "SendBarrier", SendBarrier(checkpoint, alignment)
        if state.channel.promised != NONE:
            yield "TimeOut", TimeOut(state.channel.promised)
            yield "Abort", AbortAtSender(state.channel.promised)
        if may_transfer(state.channel):
            yield "Transfer", Transfer()
        if state.channel.input:
            yield "Take", Take()
        yield from _of_receiver(state, ids)
        for complete in range(ids + 1):
            if complete == 0 or exchange.is_complete(state.checkpoints[complete - 1]):
                yield "Recover", Recover(complete)

    def allows(failed: Environment, event: Event) -> Environment | None:
        if type(event) is not Recover:
            return failed
        return (failed[0] + 1,) if failed[0] < failures else None

    return ClosedModel(
        f"exchange of {records} records, ids to {ids}, {failures} failures, {profile.name}" + only,
        "exchange",
        exchange.new_exchange(ids, profile),
        (0,),
        offers,
        allows,
        step_of("exchange"),
        toured=False,
    )


def _of_receiver(state: Exchange, ids: int) -> Iterator[tuple[str, Event]]:
    """The events of the receiver: a snapshot begins (at another channel) or is aborted, or it prioritises."""
    for later in range(state.begun + 1, ids + 1):
        yield "BeginBefore", BeginPersisting(later)
    if state.begun > 0 and state.checkpoints[state.begun - 1].receiver == OPEN:
        yield "GivesUp", EndPersisting(state.begun)
    for later in range(1, ids + 1):
        if channel_steps(state.channel).may_prioritise(state.channel, later) and later >= state.begun:
            yield "Prioritise", MakeUrgent(later)


def may_transfer(state: Channel) -> bool:
    """Whether an item can move from the sender to the receiver."""
    return state.restored == 0 and channel_steps(state).may_leave(state)


def closed_channel_models() -> tuple[ClosedModel, ...]:
    """The closed models of channels that the suite explores."""
    return (
        closed_channel(2, 1),
        closed_channel(1, 2)._replace(toured=False),  # many paths to the same few steps
        *(closed_channel(1, 1, profile) for profile in CHANNEL_PROFILES.values()),
        closed_exchange(3, 1, 1),
        closed_exchange(1, 2, 0),
        closed_exchange(0, 2, 1, alignments=(UNALIGNED,)),
    )
