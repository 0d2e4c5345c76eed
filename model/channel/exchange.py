"""A sender, a channel, a receiver, and what checkpoints hold of them. Rule UNAL-37.

The sender writes the records 1, 2, 3, ...; the receiver counts them. A checkpoint holds how far both are and
the records in flight between them, which is why it can be taken while the channel is full. A restore from any
complete checkpoint goes on as if nothing had happened: every record is read once and in order.

The channel is `model.channel.channel`. The receiver plays a gate of one channel that hears of checkpoints
from others too: its snapshot may begin before this channel's barrier has come.
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
from model.events import NONE, Effects, Event, Rules, Step
from model.gate.unaligned_events import TIMED, UNALIGNED

OPEN = 0
DONE = 1
GIVEN_UP = 2
"""How the receiver stands to a checkpoint."""


class Book(NamedTuple):
    """What is stored for one checkpoint."""

    sent: int
    """How many records the sender had written; -1 before its snapshot."""
    output: tuple[int, ...]
    """The sender's part of what was in flight."""
    owed: bool
    """That part is not known yet."""
    read: int
    """How many records the receiver had read; -1 before its snapshot."""
    input: tuple[int, ...]
    """The receiver's part."""
    receiver: int
    """OPEN, DONE or GIVEN_UP."""


EMPTY_BOOK = Book(NONE, (), False, NONE, (), OPEN)


class Exchange(NamedTuple):
    """Both tasks and the channel between them, with what outlives a failure."""

    channel: Channel
    sent: int
    """How many records the sender has written."""
    read: int
    """How many the receiver has read."""
    begun: int
    """The newest checkpoint that the receiver knows; 0 for none."""
    books: tuple[Book, ...]
    """That of checkpoint n stands at position n - 1."""


class Recover(NamedTuple):
    """The job fails and goes on from a checkpoint; 0 is the beginning."""

    checkpoint: int
    kind: str = "recover"


def new_exchange(ids: int, profile: ChannelProfile = NEWEST_CHANNEL) -> Exchange:
    """Nothing is written; checkpoints are 1 to `ids`."""
    return Exchange(channel.new_channel(profile), 0, 0, 0, (EMPTY_BOOK,) * ids)


def is_complete(book: Book) -> bool:
    """Both tasks have answered, and all that was in flight is stored."""
    return book.sent != NONE and not book.owed and book.receiver == DONE


def next_barrier(exchange: Exchange) -> int:
    """The checkpoint that the sender snapshots next."""
    return 1 + sum(1 for book in exchange.books if book.sent != NONE)


# ---------------------------------------------------------------- what happens


def on_event(exchange: Exchange, event: Event, step: Step[Channel]) -> Step[Exchange]:
    """The channel has taken its step; the tasks and the books follow what it says."""
    exchange = exchange._replace(channel=step.state)
    if type(event) is Emit:
        exchange = exchange._replace(sent=exchange.sent + 1)
    if type(event) is SendBarrier:
        owed = event.alignment == TIMED and step.state.profile.times_out_at_sender
        book = exchange.books[event.checkpoint - 1]._replace(sent=exchange.sent, owed=owed)
        exchange = booked(exchange, event.checkpoint, book)
    return noted(exchange, step.effects, step.rules)


def noted(exchange: Exchange, effects: Effects, rules: Rules) -> Step[Exchange]:
    """What the channel says is written into the books, and read by the receiver."""
    said, fired = effects, rules
    for effect in effects:
        if type(effect) is StoreOutput:
            book = exchange.books[effect.checkpoint - 1]._replace(output=effect.records, owed=False)
            exchange = booked(exchange, effect.checkpoint, book)
        elif type(effect) is LoseOutput:
            book = exchange.books[effect.checkpoint - 1]._replace(receiver=GIVEN_UP)
            exchange = booked(exchange, effect.checkpoint, book)
        elif type(effect) is StoreInput:
            book = exchange.books[effect.checkpoint - 1]
            book = book._replace(input=(*book.input, *effect.records))
            exchange = booked(exchange, effect.checkpoint, book)
        elif type(effect) is GiveRecord:
            exchange = exchange._replace(read=exchange.read + 1)
        elif type(effect) is GiveBarrier:
            exchange, more, rules = on_barrier(exchange, effect.checkpoint, effect.alignment)
            said, fired = (*said, *more), (*fired, *rules)
    return Step(exchange, said, fired)


def on_barrier(exchange: Exchange, checkpoint: int, alignment: int) -> Step[Exchange]:
    """The receiver reads a barrier: its snapshot begins, if it has not, and has all of this channel."""
    if checkpoint < exchange.begun or exchange.books[checkpoint - 1].receiver != OPEN:
        return Step(exchange, (), ())
    effects: Effects = ()
    rules: Rules = ()
    if checkpoint > exchange.begun:
        exchange, effects, rules = begin(exchange, checkpoint, persists=alignment == UNALIGNED)
    if exchange.books[checkpoint - 1].receiver == OPEN:
        exchange = with_receiver(exchange, checkpoint, DONE)
    ended = ended_persisting(exchange, checkpoint)
    return Step(ended.state, (*effects, *ended.effects), (*rules, *ended.rules))


def on_begin(exchange: Exchange, checkpoint: int) -> Step[Exchange]:
    """Another channel's barrier begins the receiver's snapshot."""
    return begin(exchange, checkpoint, persists=True)


def on_give_up(exchange: Exchange) -> Step[Exchange]:
    """The receiver gives up the snapshot that it has begun."""
    return ended_persisting(with_receiver(exchange, exchange.begun, GIVEN_UP), exchange.begun)


def begin(exchange: Exchange, checkpoint: int, *, persists: bool) -> Step[Exchange]:
    """The receiver takes its snapshot; an older one that is still open ends."""
    effects: Effects = ()
    rules: Rules = ()
    if exchange.begun > 0 and exchange.books[exchange.begun - 1].receiver == OPEN:
        exchange, effects, rules = on_give_up(exchange)
    book = exchange.books[checkpoint - 1]._replace(read=exchange.read)
    exchange = booked(exchange._replace(begun=checkpoint), checkpoint, book)
    if not persists:
        return Step(exchange, effects, rules)
    started = channel.on_start_persisting(exchange.channel, checkpoint)
    exchange = exchange._replace(channel=started.state)
    if any(type(said) is DeclineStart for said in started.effects):
        exchange = with_receiver(exchange, checkpoint, GIVEN_UP)
    stored = noted(exchange, started.effects, started.rules)
    begun = BeginPersisting(checkpoint)
    return Step(stored.state, (*effects, begun, *stored.effects), (*rules, *stored.rules))


def ended_persisting(exchange: Exchange, checkpoint: int) -> Step[Exchange]:
    """The channel stores nothing more for the checkpoint, and its sender may go on."""
    ended = channel.on_stop_persisting(exchange.channel, checkpoint)
    resumed = channel.on_resume(ended.state)
    said = (EndPersisting(checkpoint),)
    return Step(exchange._replace(channel=resumed.state), said, (*ended.rules, *resumed.rules))


def on_recover(exchange: Exchange, checkpoint: int) -> Step[Exchange]:
    """A new attempt begins where the checkpoint was taken; what came after it never happened."""
    book = exchange.books[checkpoint - 1] if checkpoint > 0 else EMPTY_BOOK._replace(sent=0, read=0)
    restored = channel.on_restore(exchange.channel, book.input, book.output)
    later = len(exchange.books) - checkpoint
    after = Exchange(
        restored.state,
        sent=book.sent,
        read=book.read,
        begun=checkpoint,
        books=(*exchange.books[:checkpoint], *(EMPTY_BOOK,) * later),
    )
    return Step(after, (), restored.rules)


# ---------------------------------------------------------------- books


def booked(exchange: Exchange, checkpoint: int, book: Book) -> Exchange:
    """The same with another book for the checkpoint."""
    place = checkpoint - 1
    return exchange._replace(books=(*exchange.books[:place], book, *exchange.books[place + 1 :]))


def with_receiver(exchange: Exchange, checkpoint: int, how: int) -> Exchange:
    """The receiver stands otherwise to the checkpoint."""
    return booked(exchange, checkpoint, exchange.books[checkpoint - 1]._replace(receiver=how))
