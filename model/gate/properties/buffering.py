"""ALIGN-22 and ALIGN-23, stated over a gate that stores the items of blocked channels."""

from model.events import ALIGNMENT_LIMIT_EXCEEDED, Effects
from model.frames import Frame
from model.gate import polled_gate
from model.gate.buffering import PAGE_BYTES, UNLIMITED, Buffer
from model.gate.events import Abort, Barrier, Cancel, EndOfPartition, Record, Resume
from model.gate.polled_gate import Inbox, Item
from model.registry import Registry

BUFFER = Registry("buffer")
_READ = "gate.current gate.pending gate.blocked gate.closed gate.failed stored"
BUFFER.frames(
    {
        arriving: Frame("ALIGN-23", _READ, "(resume | block | trigger | abort | fail | process)*")
        for arriving in (Record, Barrier, Cancel, EndOfPartition)
    }
)


@BUFFER.step("ALIGN-22")
def align_22(before: Buffer, event: Item, effects: Effects, after: Buffer) -> bool:
    """The gate never stores more than the limit: an item that would exceed it ends the alignment first."""
    too_many = before.limit != UNLIMITED and (len(before.stored) + 1) * PAGE_BYTES > before.limit
    exceeded = tuple(
        effect for effect in effects if type(effect) is Abort and effect.reason == ALIGNMENT_LIMIT_EXCEEDED
    )
    if not (before.gate.blocked[event.channel] and too_many):
        return not exceeded
    let_go = tuple(Resume(channel) for channel, has in enumerate(before.gate.blocked) if has)
    given_up = (*let_go, Abort(before.gate.current, ALIGNMENT_LIMIT_EXCEEDED))
    return effects[: len(given_up)] == given_up and len(exceeded) == 1


@BUFFER.step("ALIGN-23")
def align_23(before: Buffer, event: Item, effects: Effects, after: Buffer) -> bool:
    """The task sees the same as if the network held back the blocked channels, oldest item first."""
    if any(type(effect) is Abort and effect.reason == ALIGNMENT_LIMIT_EXCEEDED for effect in effects):
        return not after.rolled
    held_back = polled_gate.on_arrival(Inbox(before.gate, before.stored), event)
    twin = Inbox(after.gate, after.stored)
    return effects == held_back.effects and twin == held_back.state and not after.rolled


@BUFFER.state("ALIGN-23")
def align_23_stored(buffer: Buffer) -> bool:
    """Between two events only items of blocked channels are stored, and no replay is running."""
    return not buffer.rolled and all(buffer.gate.blocked[item.channel] for item in buffer.stored)
