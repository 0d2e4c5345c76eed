"""Checkpoint ids near the bounds of machine numbers: order-preserving maps of the ids of a case.

The protocol compares ids and never counts with them, but for the few places where a distance matters; so a
case means the same with other ids in the same order. An implementation that holds an id in 32 bits, or in a
floating-point number, answers wrongly from some bound on. The model's numbers have no bound: it gets the
mapped events, so that its answers are right also where a distance matters.

The coordinator draws its ids itself, from 1 on, and nothing on the wire sets the counter. Its cases get
messages about ids that were never drawn: in front of each message the same one about a far id, which 32 bits
would take for the right one.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from conformance.adapters.protocol import Wire

INT32, UINT32, DOUBLE, INT64 = 2**31, 2**32, 2**53, 2**63 - 1
BOUNDS = {INT32: "2^31", UINT32: "2^32", DOUBLE: "2^53", INT64: "2^63 - 1"}
"""The bounds around which ids are tried, and how they are written."""
COUNTED = frozenset({"coordinator"})
"""Components that draw their ids themselves."""
FIELDS: dict[str, tuple[str, ...]] = {
    "subtask": ("checkpoint", "completed"),
    "offsets": ("checkpoint", "offsets"),
}
"""The fields of events that are mapped; of other components only `checkpoint`. Positions in what is read are
as far-reaching as ids."""
_ECHOED = frozenset({"acknowledge", "decline", "trigger_fails", "coordinator_done", "hook_done"})
_ROOM = 256
"""The highest id of a run whose end is not known is at most so far above the lowest."""


class IdMap(NamedTuple):
    """One map of ids."""

    bound: int
    """The bound that it leads to, one of BOUNDS."""
    name: str
    of: Callable[[int, int], int]
    """The mapped id, given the id and the highest one of the case; grows with the id."""


def _shifted(bound: int, below: int) -> IdMap:
    """Every distance stays; so many ids from 1 on stay below the bound."""
    name = f"ids from {BOUNDS[bound]} - {below + 1} on"
    return IdMap(bound, name, lambda checkpoint, highest: checkpoint + bound - 1 - below)


def _parted(bound: int) -> IdMap:
    """Ids up to 1 stay, all others are beyond the bound."""
    name = f"ids around 1 and beyond {BOUNDS[bound]}"
    return IdMap(bound, name, lambda checkpoint, highest: checkpoint + (checkpoint > 1) * bound)


MAPS: tuple[IdMap, ...] = (
    _shifted(INT32, 1),
    _parted(INT32),
    _shifted(UINT32, 1),
    IdMap(UINT32, "ids that are alike in 32 bits", lambda one, highest: one and 1 + (one - 1) * UINT32),
    _shifted(DOUBLE, 0),
    _parted(DOUBLE),
    IdMap(INT64, "ids up to 2^63 - 1", lambda checkpoint, highest: INT64 - highest + checkpoint),
    IdMap(
        INT64,
        "ids around 1 and up to 2^63 - 1",
        lambda checkpoint, highest: INT64 - highest + checkpoint if checkpoint > 1 else checkpoint,
    ),
)
"""All maps, by their bounds, which ascend: who declines one declines all that follow with a greater bound."""


def mapped(component: str, events: Sequence[Wire], ids: IdMap) -> list[Wire]:
    """The case with its ids mapped."""
    highest = highest_id(component, events)
    return [event for one in events for event in mapped_event(component, one, ids, highest)]


def mapped_as_drawn(component: str, event: Wire, ids: IdMap) -> list[Wire]:
    """One event of a case whose end is not known yet, in the same order with all others."""
    return mapped_event(component, event, ids, _ROOM)


def highest_id(component: str, events: Sequence[Wire]) -> int:
    """The highest id of a case."""
    fields = fields_of(component)
    return max((event[name] for event in events for name in fields if is_id(event.get(name))), default=0)


def mapped_event(component: str, event: Wire, ids: IdMap, highest: int) -> list[Wire]:
    """The event with its ids mapped; at a component that draws its ids the far one comes before it."""
    fields = [name for name in fields_of(component) if is_id(event.get(name))]
    if not fields:
        return [event]
    if component in COUNTED:
        far = ids.bound - highest if ids.bound == INT64 else ids.bound
        echo = {**event, "checkpoint": event["checkpoint"] + far}
        return [echo, event] if event["kind"] in _ECHOED else [event]
    return [{**event, **{name: ids.of(event[name], highest) for name in fields}}]


def fields_of(component: str) -> tuple[str, ...]:
    """The fields of its events that hold ids."""
    return FIELDS.get(component, ("checkpoint",))


def is_id(value: object) -> bool:
    """An id; -1 stands for none, and is never mapped."""
    return type(value) is int and value >= 0
