"""One channel of unaligned checkpoints, from the sender's queue to the receiver's. Rules UNAL-32 to UNAL-36.

An unaligned barrier goes past all records that wait, first at the sender, then at the receiver. What it
passes is *in flight*: it belongs before the barrier, but neither task's snapshot has it. So both ends store
it: the sender what the barrier passes in its queue, the receiver what had come, or comes, before the
barrier does. A restore begins with the receiver's part, goes on with the sender's, and only then comes what
is sent anew; so every record before the barrier is processed once (UNAL-37, `model.channel.exchange`).

A barrier with a time-out goes in order at first. If the time is out while it still waits at the sender, it
goes past what stands before it there; if while it waits at the receiver, the gate asks for it.

What is left out: buffers and credits, and the markers with which Flink ends a restored part. Source: Apache
Flink, PipelinedSubpartition, RemoteInputChannel, ChannelStatePersister and RecoveredInputChannel.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from model.channel.events import (
    Datum,
    DeclineStart,
    GiveBarrier,
    GiveNotice,
    GiveRecord,
    Item,
    LoseOutput,
    Mark,
    Notice,
    StoreInput,
    StoreOutput,
)
from model.events import CHECKPOINT_SUBSUMED, NONE, TASK_NOT_READY, Effects, Rules, Step
from model.gate.unaligned_events import TIMED, UNALIGNED

Queue = tuple[Item, ...]
"""Urgent items first, in the order in which they came; then all others in theirs."""

IDLE = 0
"""The receiver stores nothing; barriers up to the newest one seen are old."""
AWAITED = 1
"""The receiver stores every record that comes: the barrier of its snapshot has not."""
ARRIVED = 2
"""The barrier has come, and what follows it belongs to the next checkpoint."""


class ChannelProfile(NamedTuple):
    """How releases differ."""

    name: str
    hears_in_order: bool
    """A barrier that waits in order counts as come, and the gate may ask for it (1.13+)."""
    times_out_at_sender: bool
    """A barrier with a time-out that still waits at the sender goes past what stands before it (1.16+)."""
    passes_block: bool
    """What is urgent leaves the sender behind an aligned barrier too (2.3+)."""


CHANNEL_PROFILES: Mapping[str, ChannelProfile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            ChannelProfile("flink-1.12", hears_in_order=False, times_out_at_sender=False, passes_block=False),
            ChannelProfile("flink-1.13", hears_in_order=True, times_out_at_sender=False, passes_block=False),
            ChannelProfile("flink-1.16", hears_in_order=True, times_out_at_sender=True, passes_block=False),
            ChannelProfile("flink-2.3", hears_in_order=True, times_out_at_sender=True, passes_block=True),
        )
    }
)
"""By name, each for itself and what follows up to the next."""
NEWEST_CHANNEL = CHANNEL_PROFILES["flink-2.3"]


class Channel(NamedTuple):
    """Both ends; the network between them holds nothing."""

    output: Queue
    """At the sender."""
    blocked: bool
    """An aligned barrier has left: at most what is urgent follows, until the receiver goes on."""
    promised: int
    """The checkpoint whose part the sender owes: its barrier may still overtake; -1 for none."""
    input: Queue
    """At the receiver."""
    restored: int
    """How many records of a restored checkpoint the receiver has yet to read."""
    phase: int
    """IDLE, AWAITED or ARRIVED."""
    seen: int
    """The newest checkpoint of which the phase speaks; -1 at first."""
    last: int
    """The newest barrier that came and whose place in the input is remembered; -1 for none."""
    before: int
    """How many records of the input came before barrier `last`."""
    profile: ChannelProfile


def new_channel(profile: ChannelProfile = NEWEST_CHANNEL) -> Channel:
    """An empty channel that has seen nothing."""
    return Channel((), False, NONE, (), 0, IDLE, NONE, NONE, 0, profile)


# ---------------------------------------------------------------- queues


def is_urgent(item: Item) -> bool:
    """It goes past everything that is not."""
    return type(item) is Notice or (type(item) is Mark and item.alignment == UNALIGNED)


def urgent_ahead(queue: Queue) -> int:
    """How many urgent items stand at the head."""
    count = 0
    for item in queue:
        if not is_urgent(item):
            break
        count += 1
    return count


def with_urgent(queue: Queue, item: Item) -> Queue:
    """The item goes past all that is not urgent."""
    place = urgent_ahead(queue)
    return (*queue[:place], item, *queue[place:])


def records_in(queue: Queue) -> tuple[int, ...]:
    """The values of its records, oldest first."""
    return tuple(item.value for item in queue if type(item) is Datum)


def place_of(queue: Queue, checkpoint: int) -> int | None:
    """Where the first barrier of the checkpoint stands that is not urgent but may become so."""
    for place, item in enumerate(queue):
        if type(item) is Mark and item.alignment == TIMED and item.checkpoint == checkpoint:
            return place
    return None


# ---------------------------------------------------------------- the sender


def on_emit(channel: Channel, value: int) -> Step[Channel]:
    """A record waits behind everything."""
    return Step(channel._replace(output=(*channel.output, Datum(value))), (), ())


def on_send_barrier(channel: Channel, checkpoint: int, alignment: int) -> Step[Channel]:
    """The sender's snapshot is taken; its barrier follows what was written, or goes past it."""
    barrier = Mark(checkpoint, alignment)
    if alignment == UNALIGNED:
        overtaken = records_in(channel.output)
        channel = channel._replace(output=with_urgent(channel.output, barrier))
        return Step(channel, (StoreOutput(checkpoint, overtaken),), ("UNAL-32",))
    channel = channel._replace(output=(*channel.output, barrier))
    if alignment != TIMED or not channel.profile.times_out_at_sender:
        return Step(channel, (), ())
    lost: Effects = () if channel.promised == NONE else (LoseOutput(channel.promised),)
    return Step(channel._replace(promised=checkpoint), lost, ("UNAL-33",))


def on_time_out(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The barrier, if it still waits, goes past what stands before it."""
    place = place_of(channel.output, checkpoint)
    if channel.promised != checkpoint or place is None:
        return Step(channel, (), ())
    overtaken = records_in(channel.output[:place])
    others = (*channel.output[:place], *channel.output[place + 1 :])
    channel = channel._replace(output=with_urgent(others, Mark(checkpoint, UNALIGNED)), promised=NONE)
    return Step(channel, (StoreOutput(checkpoint, overtaken),), ("UNAL-33",))


def on_abort(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The barrier goes on in order, and nobody waits for the sender's part."""
    if channel.promised != checkpoint:
        return Step(channel, (), ())
    return Step(channel._replace(promised=NONE), (LoseOutput(checkpoint),), ("UNAL-33",))


# ---------------------------------------------------------------- the network


def may_leave(channel: Channel) -> bool:
    """The sender has an item that it may give to the network."""
    if not channel.output:
        return False
    return not channel.blocked or (channel.profile.passes_block and is_urgent(channel.output[0]))


def on_transfer(channel: Channel) -> Step[Channel]:
    """The sender's first item comes to the receiver; nothing does while that reads restored records."""
    if channel.restored > 0:
        return Step(channel, (), ("UNAL-36",))
    if not may_leave(channel):
        return Step(channel, (), ())
    item, rest = channel.output[0], channel.output[1:]
    channel = channel._replace(output=rest)
    said: Effects = ()
    rules: Rules = ()
    if type(item) is Mark:
        if item.alignment == TIMED and channel.promised == item.checkpoint:  # it overtook nothing
            channel = channel._replace(promised=NONE)
            said, rules = (StoreOutput(item.checkpoint, ()),), ("UNAL-33",)
        channel = channel._replace(blocked=channel.blocked or item.alignment != UNALIGNED)
    arrived = on_arrival(channel, item)
    return Step(arrived.state, (*said, *arrived.effects), (*rules, *arrived.rules))


def on_resume(channel: Channel) -> Step[Channel]:
    """What follows an aligned barrier may leave the sender."""
    return Step(channel._replace(blocked=False), (), ())


# ---------------------------------------------------------------- the receiver


def on_arrival(channel: Channel, item: Item) -> Step[Channel]:
    """An item comes to the receiver."""
    if type(item) is Datum:
        channel = channel._replace(input=(*channel.input, item))
        if channel.phase != AWAITED:
            return Step(channel, (), ())
        return Step(channel, (StoreInput(channel.seen, (item.value,)),), ("UNAL-34",))
    assert type(item) is Mark
    before = len(records_in(channel.input))
    rules: Rules = ()
    if is_urgent(item):
        channel, rules = channel._replace(input=with_urgent(channel.input, item)), ("UNAL-35",)
    else:
        channel = channel._replace(input=(*channel.input, item))
    if item.alignment == TIMED:
        notice = Notice(item.checkpoint)
        channel, rules = channel._replace(input=with_urgent(channel.input, notice)), ("UNAL-35",)
    heard = is_urgent(item) or channel.profile.hears_in_order
    if not heard or is_old(channel, item.checkpoint):
        return Step(channel, (), rules)
    channel = channel._replace(phase=ARRIVED, seen=item.checkpoint)
    if item.checkpoint > channel.last:
        channel = channel._replace(last=item.checkpoint, before=before)
    return Step(channel, (), (*rules, "UNAL-34"))


def is_old(channel: Channel, checkpoint: int) -> bool:
    """A barrier that ends nothing: a newer one has come, or its checkpoint is over."""
    if channel.phase == IDLE:
        return checkpoint <= channel.seen
    return checkpoint < channel.seen


def on_take(channel: Channel) -> Step[Channel]:
    """The gate reads what is urgent first."""
    if not channel.input:
        return Step(channel, (), ())
    item = channel.input[0]
    channel = channel._replace(input=channel.input[1:])
    if type(item) is Notice:
        return Step(channel, (GiveNotice(item.checkpoint),), ("UNAL-35",))
    if type(item) is Mark:
        return Step(channel, (GiveBarrier(item.checkpoint, item.alignment),), ("UNAL-35",))
    assert type(item) is Datum
    if channel.before > 0:
        channel = channel._replace(before=channel.before - 1)
    if channel.restored > 0:
        channel = channel._replace(restored=channel.restored - 1)
        return Step(channel, (GiveRecord(item.value),), ("UNAL-36",))
    return Step(channel, (GiveRecord(item.value),), ())


def on_start_persisting(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The snapshot begins: what came before its barrier and is unread is part of it (UNAL-34)."""
    if channel.restored > 0:
        return Step(channel, (DeclineStart(checkpoint, TASK_NOT_READY),), ("UNAL-36",))
    is_overtaken = channel.phase == ARRIVED and checkpoint < channel.seen
    if checkpoint < channel.last or is_overtaken:
        return Step(channel, (DeclineStart(checkpoint, CHECKPOINT_SUBSUMED),), ("UNAL-34",))
    if checkpoint > channel.last:
        channel = channel._replace(last=NONE, before=0)
    if checkpoint > channel.seen:
        channel = channel._replace(phase=AWAITED, seen=checkpoint)
    in_flight = records_in(channel.input)
    if channel.last == checkpoint:
        in_flight = in_flight[: channel.before]
    stored: Effects = (StoreInput(checkpoint, in_flight),) if in_flight else ()
    return Step(channel, stored, ("UNAL-34",))


def on_stop_persisting(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The snapshot of this checkpoint, and any older one, stores nothing more.

    While restored records are unread, only the last word is kept: an older checkpoint may follow a newer one.
    """
    if checkpoint >= channel.seen or channel.restored > 0:
        channel = channel._replace(phase=IDLE, seen=checkpoint)
    if channel.last == checkpoint:
        channel = channel._replace(last=NONE, before=0)
    return Step(channel, (), ("UNAL-34",))


def may_prioritise(channel: Channel, checkpoint: int) -> bool:
    """The gate may ask for the barrier: it waits, its announcement is read, and no newer one has come."""
    unread = any(type(item) is Notice and item.checkpoint == checkpoint for item in channel.input)
    if unread or place_of(channel.input, checkpoint) is None:
        return False
    known = channel.phase == ARRIVED and channel.last == checkpoint
    return known and channel.profile.hears_in_order


def on_prioritise(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The announced barrier goes past what stands before it at the receiver; what came stays the same."""
    place = place_of(channel.input, checkpoint)
    assert place is not None  # the gate asks for what was announced and not yet read
    others = (*channel.input[:place], *channel.input[place + 1 :])
    return Step(channel._replace(input=with_urgent(others, Mark(checkpoint, UNALIGNED))), (), ("UNAL-35",))


# ---------------------------------------------------------------- a new attempt


def on_restore(channel: Channel, input: tuple[int, ...], output: tuple[int, ...]) -> Step[Channel]:  # noqa: A002
    """Both ends begin anew, with what the checkpoint has of them (UNAL-36)."""
    fresh = new_channel(channel.profile)._replace(
        output=tuple(Datum(value) for value in output),
        input=tuple(Datum(value) for value in input),
        restored=len(input),
    )
    return Step(fresh, (), ("UNAL-36",))
