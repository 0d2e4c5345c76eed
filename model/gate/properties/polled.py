"""ALIGN-17, stated over a polled gate, and the order in which a task reads the items that wait."""

from collections.abc import Callable
from typing import Any

from model.events import Effects, Step
from model.gate.aligned import Gate
from model.gate.events import Barrier, Cancel, EndOfPartition, Injection, Process, Record
from model.gate.polled_gate import Inbox, Item
from model.gate.properties.aligned import GATE
from model.registry import Registry
from model.steps import step_of

Read = Callable[[Any, Any], Step[Any]]
"""The step of the gate without waiting items."""
Held = Callable[[Any, Effects], tuple[bool, ...]]
"""Returns for each channel whether its items wait, from the gate and all effects of the event so far."""


NETWORK = Registry("network")
NETWORK.part(GATE, lambda inbox: inbox.gate)


@NETWORK.initial("ALIGN-17")
def align_17_at_first(inbox: Inbox) -> bool:
    """In a new gate no item waits."""
    return inbox.waiting == ()


def read_in_order(
    gate: Any,  # noqa: ANN401 - the gate of any mode
    arriving: Any,  # noqa: ANN401
    waiting: tuple[Any, ...],
    read: Read,
    held: Held,
) -> tuple[Any, Effects, tuple[Any, ...]]:
    """Returns the gate, all effects and the items that still wait, after the gate has read the other items.

    The gate first reads the arriving item. Then it repeatedly reads the oldest item whose channel is free.
    """
    effects: Effects = ()
    due = arriving
    while due is not None:
        gate, emitted, _ = read(gate, due)
        effects = (*effects, *emitted)
        blocked = held(gate, effects)
        due = None
        for place, item in enumerate(waiting):
            if not (gate.failed or blocked[item.channel]):
                due, waiting = item, (*waiting[:place], *waiting[place + 1 :])
                break
    return gate, effects, waiting


@NETWORK.step("ALIGN-17")
def align_17(before: Inbox, event: Item | Injection, effects: Effects, after: Inbox) -> bool:
    """Items of a blocked channel wait. After a resume the gate reads them in order of arrival.

    The operator processes a record of any other channel at once.
    """
    if not isinstance(event, Injection) and before.gate.blocked[event.channel]:
        return not effects and after == before._replace(waiting=(*before.waiting, event))
    expected = read_in_order(before.gate, event, before.waiting, read_alone, lambda gate, _: gate.blocked)
    return (after.gate, effects, after.waiting) == expected


@NETWORK.state("ALIGN-17")
def align_17_waiting(inbox: Inbox) -> bool:
    """Only items of blocked channels wait, and their channels can deliver them in this order."""
    held = all(inbox.gate.blocked[item.channel] for item in inbox.waiting)
    return held and are_delivered(inbox.waiting)


def are_delivered(waiting: tuple[Item, ...]) -> bool:
    """No id is negative, and no item follows the end of its channel."""
    if any(isinstance(item, Barrier | Cancel) and item.checkpoint < 0 for item in waiting):
        return False
    return not follow_an_end(waiting)


def follow_an_end(items: tuple[Item, ...]) -> bool:
    """Whether some item follows the end of its channel. No channel delivers such items."""
    return any(
        type(item) is EndOfPartition and any(later.channel == item.channel for later in items[place + 1 :])
        for place, item in enumerate(items)
    )


def read_alone(gate: Gate, item: Item | Injection) -> Step[Gate]:
    """The step of the gate without waiting items. The operator processes a record."""
    if type(item) is Record:
        return Step(gate, (Process(item.channel, item.value),), ())
    return step_of("gate")(gate, item)
