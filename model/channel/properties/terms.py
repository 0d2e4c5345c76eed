"""Terms that the properties of a channel use. They share no code with the steps, which they check."""

from model.channel.channel import ARRIVED, IDLE, Channel, Queue
from model.channel.events import DeclineStart, StoreInput, Transfer
from model.channel.items import Datum, Item, Mark, Notice
from model.events import CHECKPOINT_SUBSUMED, TASK_NOT_READY, Effects, Event
from model.gate.alignment import TIMED, UNALIGNED


def is_urgent(item: Item) -> bool:
    """Whether the item is an announcement or an unaligned barrier."""
    return type(item) is Notice or (type(item) is Mark and item.alignment == UNALIGNED)


def overtaking(queue: Queue, item: Item) -> Queue:
    """The queue with the item placed after the urgent items and before all others."""
    others = tuple(other for other in queue if not is_urgent(other))
    return (*(other for other in queue if is_urgent(other)), item, *others)


def values_in(queue: Queue) -> tuple[int, ...]:
    """The values of the queue's records, in order."""
    return tuple(item.value for item in queue if type(item) is Datum)


def around(queue: Queue, checkpoint: int) -> tuple[Queue, Queue]:
    """The items before the first timed barrier of the checkpoint, and the items behind it."""
    for place, item in enumerate(queue):
        if item == Mark(checkpoint, TIMED) and type(item) is Mark:
            return queue[:place], queue[place + 1 :]
    return queue, ()


def leaves(before: Channel, event: Event) -> bool:
    """Whether the sender's first item moves to the receiver at this event."""
    if type(event) is not Transfer or not before.output or before.restored > 0:
        return False
    return not before.blocked or (before.profile.passes_block and is_urgent(before.output[0]))


def arrives(before: Channel, event: Event) -> bool:
    """Whether a barrier arrives that counts: none is newer, and its checkpoint has not ended."""
    if not leaves(before, event) or type(before.output[0]) is not Mark:
        return False
    barrier = before.output[0]
    if not (before.profile.counts_in_order or is_urgent(barrier)):
        return False
    return barrier.checkpoint > before.seen or (barrier.checkpoint == before.seen and before.phase != IDLE)


def declines(before: Channel, checkpoint: int) -> bool:
    """Whether no snapshot of the checkpoint may begin: restored records wait, or a newer barrier arrived."""
    if before.restored > 0 or checkpoint < before.last:
        return True
    return before.phase == ARRIVED and checkpoint < before.seen


def started(before: Channel, checkpoint: int) -> Effects:
    """The effects of the start of a snapshot: a decline, or the unread records before its barrier."""
    if declines(before, checkpoint):
        reason = TASK_NOT_READY if before.restored > 0 else CHECKPOINT_SUBSUMED
        return (DeclineStart(checkpoint, reason),)
    unread = values_in(before.input)
    part = unread
    if before.last == checkpoint:
        part = tuple(value for place, value in enumerate(unread, 1) if place <= before.before)
    return (StoreInput(checkpoint, part),) if part else ()
