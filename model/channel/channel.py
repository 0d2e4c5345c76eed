"""One channel of unaligned checkpoints, from the sender's queue to the receiver's. Rules UNAL-32 to UNAL-36.

An unaligned barrier overtakes all waiting records, first at the sender, then at the receiver. The overtaken
records are *in flight*: they were sent before the barrier, but neither task's state contains their effect. So
both ends store them. The sender stores the records that the barrier overtakes in its queue (the *output
part*). The receiver stores the unread records that arrived before the barrier, and the records that arrive
until the barrier arrives (the *input part*). After a restore the gate first reads the input part, then the
output part, and then new records. So it processes every record before the barrier once (UNAL-37,
`model.channel.exchange`).

A barrier with a time-out travels *in order*: it overtakes nothing at first. If the time-out passes while the
barrier waits at the sender, the barrier overtakes the items before it in the queue. If the time-out passes
while it waits at the receiver, the gate prioritises the barrier.

The module describes Flink 2.3. `model.channel.generations` holds the steps that differ in older generations.
The model omits buffers and credits, and the markers with which Flink ends a restored part. Source: Apache
Flink, PipelinedSubpartition, RemoteInputChannel, ChannelStatePersister and RecoveredInputChannel.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from model.channel.events import (
    DeclineStart,
    GiveBarrier,
    GiveNotice,
    GiveRecord,
    LoseOutput,
    StoreInput,
    StoreOutput,
)
from model.channel.items import Datum, Item, Mark, Notice
from model.events import CHECKPOINT_SUBSUMED, NONE, TASK_NOT_READY, Effects, Rules, Step
from model.gate.alignment import TIMED, UNALIGNED

Queue = tuple[Item, ...]
"""The items at one end: first the urgent items, then all others, each in order of arrival."""

IDLE = 0
"""Phase: the receiver stores no records. Barriers with ids up to `seen` are old (`is_old`)."""
AWAITED = 1
"""Phase: the barrier of the receiver's snapshot has not arrived. The receiver stores every new record."""
ARRIVED = 2
"""Phase: the barrier has arrived. The receiver stores no records that arrive after it."""


class ChannelProfile(NamedTuple):
    """The switches of one generation. The properties check the steps against them."""

    name: str
    counts_in_order: bool
    """A barrier that waits in order at the receiver counts as arrived. The gate may prioritise it (1.13+)."""
    times_out_at_sender: bool
    """At its time-out, a barrier that waits at the sender overtakes the items before it (1.16+)."""
    passes_block: bool
    """After an aligned barrier, announcements and unaligned barriers still leave the sender (2.3+)."""


CHANNEL_PROFILES: Mapping[str, ChannelProfile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            ChannelProfile(
                "flink-1.12", counts_in_order=False, times_out_at_sender=False, passes_block=False
            ),
            ChannelProfile("flink-1.13", counts_in_order=True, times_out_at_sender=False, passes_block=False),
            ChannelProfile("flink-1.16", counts_in_order=True, times_out_at_sender=True, passes_block=False),
            ChannelProfile("flink-2.3", counts_in_order=True, times_out_at_sender=True, passes_block=True),
        )
    }
)
"""The profiles by name. A profile describes the releases from its own up to the next profile."""
NEWEST_CHANNEL = CHANNEL_PROFILES["flink-2.3"]


class Channel(NamedTuple):
    """Both ends of a channel. The network between them holds no items."""

    output: Queue
    """The sender's queue."""
    blocked: bool
    """A barrier in order has left the sender. Until a resume, only urgent items may follow it (if any)."""
    promised: int
    """The checkpoint whose output part is open, because its barrier may still overtake. -1 for none."""
    input: Queue
    """The receiver's queue."""
    restored: int
    """Number of records of a restored checkpoint that the gate has not read yet."""
    phase: int
    """IDLE, AWAITED or ARRIVED."""
    seen: int
    """The id of the checkpoint to which the phase refers. -1 before the first."""
    last: int
    """The id of the newest arrived barrier, until its checkpoint ends or a newer one starts. Else -1."""
    before: int
    """Number of unread records that arrived before barrier `last`. 0 if there is no such barrier."""
    profile: ChannelProfile


def new_channel(profile: ChannelProfile = NEWEST_CHANNEL) -> Channel:
    """An empty channel in its initial state."""
    return Channel((), False, NONE, (), 0, IDLE, NONE, NONE, 0, profile)


# ---------------------------------------------------------------- queues


def is_urgent(item: Item) -> bool:
    """Whether the item overtakes others: it is an announcement or an unaligned barrier."""
    return type(item) is Notice or (type(item) is Mark and item.alignment == UNALIGNED)


def urgent_ahead(queue: Queue) -> int:
    """Number of urgent items at the head of the queue."""
    count = 0
    for item in queue:
        if not is_urgent(item):
            break
        count += 1
    return count


def with_urgent(queue: Queue, item: Item) -> Queue:
    """The queue with the item placed before all items that are not urgent."""
    place = urgent_ahead(queue)
    return (*queue[:place], item, *queue[place:])


def records_in(queue: Queue) -> tuple[int, ...]:
    """The values of the records in the queue, oldest first."""
    return tuple(item.value for item in queue if type(item) is Datum)


def place_of(queue: Queue, checkpoint: int) -> int | None:
    """The position of the first timed barrier of the checkpoint, or None. Its time-out makes it urgent."""
    for place, item in enumerate(queue):
        if type(item) is Mark and item.alignment == TIMED and item.checkpoint == checkpoint:
            return place
    return None


# ---------------------------------------------------------------- the sender


def on_emit(channel: Channel, value: int) -> Step[Channel]:
    """A record joins the end of the sender's queue."""
    return Step(channel._replace(output=(*channel.output, Datum(value))), (), ())


def on_time_out(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The time-out of a barrier passes. If the barrier waits at the sender, it overtakes items there."""
    place = place_of(channel.output, checkpoint)
    if channel.promised != checkpoint or place is None:
        return Step(channel, (), ())
    overtaken = records_in(channel.output[:place])
    others = (*channel.output[:place], *channel.output[place + 1 :])
    channel = channel._replace(output=with_urgent(others, Mark(checkpoint, UNALIGNED)), promised=NONE)
    return Step(channel, (StoreOutput(checkpoint, overtaken),), ("UNAL-33",))


def on_abort(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The checkpoint is aborted. Its barrier stays in order, and the output part is not stored."""
    if channel.promised != checkpoint:
        return Step(channel, (), ())
    return Step(channel._replace(promised=NONE), (LoseOutput(checkpoint),), ("UNAL-33",))


def on_resume(channel: Channel) -> Step[Channel]:
    """The receiver resumes the sender: the items behind a barrier in order may leave."""
    return Step(channel._replace(blocked=False), (), ())


# ---------------------------------------------------------------- the receiver


def is_old(channel: Channel, checkpoint: int) -> bool:
    """Whether a barrier with this id has no effect: a newer one has arrived, or its checkpoint has ended."""
    if channel.phase == IDLE:
        return checkpoint <= channel.seen
    return checkpoint < channel.seen


def on_take(channel: Channel) -> Step[Channel]:
    """The gate reads the first item of the input. Urgent items come first."""
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
    """The receiver's snapshot begins. The input part begins with the unread records before the barrier."""
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
        in_flight = tuple(value for place, value in enumerate(in_flight) if place < channel.before)
    stored: Effects = (StoreInput(checkpoint, in_flight),) if in_flight else ()
    return Step(channel, stored, ("UNAL-34",))


def on_stop_persisting(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The receiver stores no further records for this checkpoint and older ones.

    While restored records are unread, `seen` becomes this id even if it is lower.
    """
    if checkpoint >= channel.seen or channel.restored > 0:
        channel = channel._replace(phase=IDLE, seen=checkpoint)
    if channel.last == checkpoint:
        channel = channel._replace(last=NONE, before=0)
    return Step(channel, (), ("UNAL-34",))


def on_prioritise(channel: Channel, checkpoint: int) -> Step[Channel]:
    """The announced barrier overtakes the items before it at the receiver. The records keep their order."""
    place = place_of(channel.input, checkpoint)
    assert place is not None  # the gate prioritises only a barrier that waits
    others = (*channel.input[:place], *channel.input[place + 1 :])
    return Step(channel._replace(input=with_urgent(others, Mark(checkpoint, UNALIGNED))), (), ("UNAL-35",))


# ---------------------------------------------------------------- a new attempt


def on_restore(channel: Channel, input: tuple[int, ...], output: tuple[int, ...]) -> Step[Channel]:  # noqa: A002
    """A new attempt: both ends start with the records that a checkpoint has stored for them (UNAL-36)."""
    fresh = new_channel(channel.profile)._replace(
        output=tuple(Datum(value) for value in output),
        input=tuple(Datum(value) for value in input),
        restored=len(input),
    )
    return Step(fresh, (), ("UNAL-36",))


class ChannelSteps:
    """The steps of a channel that differ between generations, and the steps that call these."""

    def on_send_barrier(self, channel: Channel, checkpoint: int, alignment: int) -> Step[Channel]:
        """The sender has taken its snapshot. The barrier joins the end of the queue, or overtakes items."""
        barrier = Mark(checkpoint, alignment)
        if alignment == UNALIGNED:
            overtaken = records_in(channel.output)
            channel = channel._replace(output=with_urgent(channel.output, barrier))
            return Step(channel, (StoreOutput(checkpoint, overtaken),), ("UNAL-32",))
        channel = channel._replace(output=(*channel.output, barrier))
        if alignment != TIMED:
            return Step(channel, (), ())
        return self.await_time_out(channel, checkpoint)

    def await_time_out(self, channel: Channel, checkpoint: int) -> Step[Channel]:
        """A barrier with a time-out waits. Until it leaves, it may overtake the items before it."""
        lost: Effects = () if channel.promised == NONE else (LoseOutput(channel.promised),)
        return Step(channel._replace(promised=checkpoint), lost, ("UNAL-33",))

    def may_leave(self, channel: Channel) -> bool:
        """Whether the sender has an item that may leave."""
        if not channel.output:
            return False
        return not channel.blocked or is_urgent(channel.output[0])

    def on_transfer(self, channel: Channel) -> Step[Channel]:
        """The sender's first item moves to the receiver, unless restored records are still unread."""
        if channel.restored > 0:
            return Step(channel, (), ("UNAL-36",))
        if not self.may_leave(channel):
            return Step(channel, (), ())
        item, rest = channel.output[0], channel.output[1:]
        channel = channel._replace(output=rest)
        emitted: Effects = ()
        rules: Rules = ()
        if type(item) is Mark:
            if item.alignment == TIMED and channel.promised == item.checkpoint:  # it has overtaken nothing
                channel = channel._replace(promised=NONE)
                emitted, rules = (StoreOutput(item.checkpoint, ()),), ("UNAL-33",)
            channel = channel._replace(blocked=channel.blocked or item.alignment != UNALIGNED)
        arrived = self.on_arrival(channel, item)
        return Step(arrived.state, (*emitted, *arrived.effects), (*rules, *arrived.rules))

    def on_arrival(self, channel: Channel, item: Item) -> Step[Channel]:
        """An item arrives at the receiver."""
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
        if not self.counts(item) or is_old(channel, item.checkpoint):
            return Step(channel, (), rules)
        channel = channel._replace(phase=ARRIVED, seen=item.checkpoint)
        if item.checkpoint > channel.last:
            channel = channel._replace(last=item.checkpoint, before=before)
        return Step(channel, (), (*rules, "UNAL-34"))

    def counts(self, barrier: Mark) -> bool:
        """Whether the barrier counts as arrived before the gate reads it."""
        return True

    def may_prioritise(self, channel: Channel, checkpoint: int) -> bool:
        """Whether the gate may prioritise the barrier: it waits and is announced, and none is newer."""
        unread = any(type(item) is Notice and item.checkpoint == checkpoint for item in channel.input)
        if unread or place_of(channel.input, checkpoint) is None:
            return False
        return channel.phase == ARRIVED and channel.last == checkpoint
