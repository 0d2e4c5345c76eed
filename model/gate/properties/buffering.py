"""ALIGN-22 and ALIGN-23, stated over a gate that stores the items of blocked channels."""

from model.events import ALIGNMENT_LIMIT_EXCEEDED, Effects
from model.gate.aligned import Gate
from model.gate.buffering import UNLIMITED, Buffer
from model.gate.events import Abort, Resume
from model.gate.polled_gate import Item
from model.gate.properties.aligned import GATE
from model.gate.properties.polled import are_delivered, read_alone, read_in_order
from model.registry import Registry

BUFFER = Registry("buffer")
BUFFER.part(GATE, lambda buffer: buffer.gate)
_PAGE = 32 * 1024  # bytes, as the rule states; independent of the model's constant


@BUFFER.initial("ALIGN-22")
def align_22_at_first(buffer: Buffer) -> bool:
    """A new gate has stored nothing."""
    return buffer.stored == () and buffer.rolled == ()


@BUFFER.step("ALIGN-22")
def align_22(before: Buffer, event: Item, effects: Effects, after: Buffer) -> bool:
    """An item over the limit aborts the alignment. Then the gate reads all stored items, this one last."""
    exceeded = tuple(
        effect for effect in effects if type(effect) is Abort and effect.reason == ALIGNMENT_LIMIT_EXCEEDED
    )
    if not _is_too_much(before, event):
        return not exceeded
    resumed = tuple(Resume(channel) for channel, has in enumerate(before.gate.blocked) if has)
    aborted = (*resumed, Abort(before.gate.current, ALIGNMENT_LIMIT_EXCEEDED))
    idle = before.gate._replace(pending=False, blocked=(False,) * len(before.gate.blocked))
    oldest, *others = (*before.stored, event)
    gate, replayed, stored = read_in_order(idle, oldest, tuple(others), read_alone, _blocked)
    again = effects == (*aborted, *replayed) and len(exceeded) == 1
    return again and after == before._replace(gate=gate, stored=stored)


@BUFFER.step("ALIGN-23")
def align_23(before: Buffer, event: Item, effects: Effects, after: Buffer) -> bool:
    """The effects are the same as those of a polled gate with the same waiting items."""
    if _is_too_much(before, event):
        return True
    if before.gate.blocked[event.channel]:
        return not effects and after == before._replace(stored=(*before.stored, event))
    gate, read, stored = read_in_order(before.gate, event, before.stored, read_alone, _blocked)
    return effects == read and after == before._replace(gate=gate, stored=stored)


def _is_too_much(before: Buffer, event: Item) -> bool:
    """Whether the gate would store the item, and the stored items would then exceed the limit."""
    limited = before.limit != UNLIMITED and (len(before.stored) + 1) * _PAGE > before.limit
    return limited and before.gate.blocked[event.channel]


def _blocked(gate: Gate, _: Effects) -> tuple[bool, ...]:
    return gate.blocked


@BUFFER.state("ALIGN-23")
def align_23_stored(buffer: Buffer) -> bool:
    """After each event the replay is over, and every stored item belongs to a blocked channel."""
    held = all(buffer.gate.blocked[item.channel] for item in buffer.stored)
    return not buffer.rolled and held and are_delivered(buffer.stored)
