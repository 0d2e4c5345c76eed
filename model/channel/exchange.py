"""A sender, a channel, a receiver, and the checkpoints of all three. Rule UNAL-37.

The sender writes the records 1, 2, 3, ... and the receiver counts them. A checkpoint stores the counts of
both tasks and the records in flight between them. So a barrier need not wait for the records before it. After
a restore from any complete checkpoint, the receiver reads every record once and in order.

`model.channel.channel` holds the steps of the channel. The receiver behaves as a gate that also has other
channels: its snapshot may begin before the barrier of this channel arrives.
"""

from typing import NamedTuple

from model.channel import channel
from model.channel.channel import NEWEST_CHANNEL, Channel, ChannelProfile
from model.channel.events import (
    BeginPersisting,
    DeclineStart,
    Emit,
    EndPersisting,
    GiveBarrier,
    GiveRecord,
    LoseOutput,
    SendBarrier,
    StoreInput,
    StoreOutput,
)
from model.channel.items import Mark
from model.events import NONE, Effects, Event, Rules, Step
from model.gate.alignment import UNALIGNED

OPEN = 0
DONE = 1
GIVEN_UP = 2
"""The states of a checkpoint at the receiver: not ended, complete, aborted."""


class StoredCheckpoint(NamedTuple):
    """The stored data of one checkpoint."""

    sent: int
    """Number of records that the sender had written at its snapshot. -1 before the snapshot."""
    output: tuple[int, ...]
    """The output part of the in-flight records."""
    owed: bool
    """The output part is open, because the barrier may still overtake records."""
    read: int
    """Number of records that the receiver had read at its snapshot. -1 before the snapshot."""
    input: tuple[int, ...]
    """The input part of the in-flight records."""
    receiver: int
    """OPEN, DONE or GIVEN_UP."""


NOT_STARTED = StoredCheckpoint(NONE, (), False, NONE, (), OPEN)


class Exchange(NamedTuple):
    """Two tasks, the channel between them, and the stored checkpoints. Checkpoints outlive a failure."""

    channel: Channel
    sent: int
    """Number of records that the sender has written."""
    read: int
    """Number of records that the receiver has read."""
    begun: int
    """The newest checkpoint that the receiver has begun. 0 for none."""
    checkpoints: tuple[StoredCheckpoint, ...]
    """Checkpoint n is at position n - 1."""


class Recover(NamedTuple):
    """The job fails and restarts from a checkpoint. 0: from the beginning."""

    checkpoint: int
    kind: str = "recover"


def new_exchange(ids: int, profile: ChannelProfile = NEWEST_CHANNEL) -> Exchange:
    """An exchange before its first record, with checkpoints 1 to `ids`."""
    return Exchange(channel.new_channel(profile), 0, 0, 0, (NOT_STARTED,) * ids)


def is_complete(entry: StoredCheckpoint) -> bool:
    """Whether both tasks have taken their snapshots, and all in-flight records are stored."""
    return entry.sent != NONE and not entry.owed and entry.receiver == DONE


def next_barrier(exchange: Exchange) -> int:
    """The id of the next checkpoint at the sender."""
    return 1 + sum(1 for entry in exchange.checkpoints if entry.sent != NONE)


# ---------------------------------------------------------------- steps


def on_event(exchange: Exchange, event: Event, step: Step[Channel]) -> Step[Exchange]:
    """The step of the whole exchange for an event of the channel. `step`: the step of the channel."""
    exchange = exchange._replace(channel=step.state)
    if type(event) is Emit:
        exchange = exchange._replace(sent=exchange.sent + 1)
    if type(event) is SendBarrier:
        owed = step.state.promised == event.checkpoint
        entry = exchange.checkpoints[event.checkpoint - 1]._replace(sent=exchange.sent, owed=owed)
        exchange = with_checkpoint(exchange, event.checkpoint, entry)
    return noted(exchange, step.effects, step.rules)


def noted(exchange: Exchange, effects: Effects, rules: Rules) -> Step[Exchange]:
    """Updates the stored checkpoints and the receiver by the effects of the channel."""
    emitted, fired = effects, rules
    for effect in effects:
        if type(effect) is StoreOutput:
            entry = exchange.checkpoints[effect.checkpoint - 1]._replace(output=effect.records, owed=False)
            exchange = with_checkpoint(exchange, effect.checkpoint, entry)
        elif type(effect) is LoseOutput:
            entry = exchange.checkpoints[effect.checkpoint - 1]._replace(receiver=GIVEN_UP)
            exchange = with_checkpoint(exchange, effect.checkpoint, entry)
        elif type(effect) is StoreInput:
            entry = exchange.checkpoints[effect.checkpoint - 1]
            entry = entry._replace(input=(*entry.input, *effect.records))
            exchange = with_checkpoint(exchange, effect.checkpoint, entry)
        elif type(effect) is GiveRecord:
            exchange = exchange._replace(read=exchange.read + 1)
        elif type(effect) is GiveBarrier:
            exchange, more, rules = on_barrier(exchange, effect.checkpoint, effect.alignment)
            emitted, fired = (*emitted, *more), (*fired, *rules)
    return Step(exchange, emitted, fired)


def on_barrier(exchange: Exchange, checkpoint: int, alignment: int) -> Step[Exchange]:
    """The receiver reads a barrier. Its snapshot begins, unless it has begun, and ends for this channel.

    If the sender has stopped behind this barrier, it continues now.
    """
    if not any(type(item) is Mark and item.alignment != UNALIGNED for item in exchange.channel.input):
        exchange = exchange._replace(channel=channel.on_resume(exchange.channel).state)
    if checkpoint < exchange.begun or exchange.checkpoints[checkpoint - 1].receiver != OPEN:
        return Step(exchange, (), ())
    effects: Effects = ()
    rules: Rules = ()
    if checkpoint > exchange.begun:
        exchange, effects, rules = begin(exchange, checkpoint, persists=alignment == UNALIGNED)
    if exchange.checkpoints[checkpoint - 1].receiver == OPEN:
        exchange = with_receiver(exchange, checkpoint, DONE)
    ended = ended_persisting(exchange, checkpoint)
    return Step(ended.state, (*effects, *ended.effects), (*rules, *ended.rules))


def on_begin(exchange: Exchange, checkpoint: int) -> Step[Exchange]:
    """The receiver's snapshot begins at the barrier of another channel."""
    return begin(exchange, checkpoint, persists=True)


def on_give_up(exchange: Exchange) -> Step[Exchange]:
    """The receiver aborts the snapshot that it has begun."""
    return ended_persisting(with_receiver(exchange, exchange.begun, GIVEN_UP), exchange.begun)


def begin(exchange: Exchange, checkpoint: int, *, persists: bool) -> Step[Exchange]:
    """The receiver takes its snapshot, and ends an older snapshot. `persists`: the channel stores records."""
    effects: Effects = ()
    rules: Rules = ()
    if exchange.begun > 0 and exchange.checkpoints[exchange.begun - 1].receiver == OPEN:
        exchange, effects, rules = on_give_up(exchange)
    entry = exchange.checkpoints[checkpoint - 1]._replace(read=exchange.read)
    exchange = with_checkpoint(exchange._replace(begun=checkpoint), checkpoint, entry)
    if not persists:
        return Step(exchange, effects, rules)
    started = channel.on_start_persisting(exchange.channel, checkpoint)
    exchange = exchange._replace(channel=started.state)
    if any(type(emitted) is DeclineStart for emitted in started.effects):
        exchange = with_receiver(exchange, checkpoint, GIVEN_UP)
    stored = noted(exchange, started.effects, started.rules)
    begun = BeginPersisting(checkpoint)
    return Step(stored.state, (*effects, begun, *stored.effects), (*rules, *stored.rules))


def ended_persisting(exchange: Exchange, checkpoint: int) -> Step[Exchange]:
    """The channel stores no further records for the checkpoint."""
    ended = channel.on_stop_persisting(exchange.channel, checkpoint)
    return Step(exchange._replace(channel=ended.state), (EndPersisting(checkpoint),), ended.rules)


def on_recover(exchange: Exchange, checkpoint: int) -> Step[Exchange]:
    """A new attempt starts from the checkpoint. Later checkpoints are discarded."""
    entry = exchange.checkpoints[checkpoint - 1] if checkpoint > 0 else NOT_STARTED._replace(sent=0, read=0)
    restored = channel.on_restore(exchange.channel, entry.input, entry.output)
    later = len(exchange.checkpoints) - checkpoint
    after = Exchange(
        restored.state,
        sent=entry.sent,
        read=entry.read,
        begun=checkpoint,
        checkpoints=(*exchange.checkpoints[:checkpoint], *(NOT_STARTED,) * later),
    )
    return Step(after, (), restored.rules)


# ---------------------------------------------------------------- stored checkpoints


def with_checkpoint(exchange: Exchange, checkpoint: int, entry: StoredCheckpoint) -> Exchange:
    """The exchange in which `entry` replaces the stored data of the checkpoint."""
    known, place = exchange.checkpoints, checkpoint - 1
    return exchange._replace(checkpoints=(*known[:place], entry, *known[place + 1 :]))


def with_receiver(exchange: Exchange, checkpoint: int, how: int) -> Exchange:
    """The exchange in which the receiver's state for the checkpoint is `how`: OPEN, DONE or GIVEN_UP."""
    return with_checkpoint(exchange, checkpoint, exchange.checkpoints[checkpoint - 1]._replace(receiver=how))
