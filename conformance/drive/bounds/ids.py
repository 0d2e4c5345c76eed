"""Checkpoint ids near the bounds of machine numbers: order-preserving maps of the ids of a case.

The protocol only compares ids, apart from a few places where their distance matters. So a case has the same
meaning with other ids in the same order. An implementation that stores an id in 32 bits, or in a
floating-point number, gives wrong answers from some bound on. The model's numbers have no bound. The model
also gets the mapped events, so its answers are right even where a distance matters.

The coordinator chooses its ids itself. With the capability `first_id`, maps that keep every distance set the
first id, so that the coordinator chooses the mapped ids. With the other maps, and without the capability,
each message of a case is preceded by the same message about a large id that the coordinator has never chosen.
An implementation with ids of 32 bits would confuse this id with the right one.
"""

from collections.abc import Callable, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.protocol import FIRST_ID, RESTORED, RESTORED_SAVEPOINT, Wire
from spec.vocabulary import limited, vocabulary

INT32, UINT32, DOUBLE, INT64 = 2**31, 2**32, 2**53, 2**63 - 1
BOUNDS = {INT32: "2^31", UINT32: "2^32", DOUBLE: "2^53", INT64: "2^63 - 1"}
"""The bounds near which ids are tested, with their notation."""
COUNTED = frozenset({"coordinator"})
"""Components that choose their ids themselves."""
_ECHOED = frozenset({"acknowledge", "decline", "trigger_fails", "coordinator_done", "hook_done"})
"""Messages of tasks and masters, with an id that the coordinator has chosen."""
ASSUMED_HIGHEST = 256
"""The assumed highest id of a case where an id must be mapped before all events are known."""


class IdMap(NamedTuple):
    """One map of ids."""

    bound: int
    """The bound near the mapped ids: one of BOUNDS, or the greatest id of `hello`; 0 for none."""
    name: str
    of: Callable[[int, int], int]
    """The mapped id, given the id and the highest one of the case; grows with the id."""
    can_be_drawn: bool = False
    """Whether the map keeps distances. Then a coordinator with a mapped first id chooses the mapped ids."""

    @property
    def declined(self) -> str:
        """The name of the bound, for the report of an implementation that answers `unsupported`."""
        bound = BOUNDS.get(self.bound)
        return self.name if bound is None else f"ids around {bound} and beyond"


def _shifted(bound: int, below: int) -> IdMap:
    """The map that adds one number to all ids; the ids 1 to `below` are mapped below the bound."""
    name = f"ids from {BOUNDS[bound]} - {below + 1} on"
    return IdMap(bound, name, lambda checkpoint, highest: checkpoint + bound - 1 - below, True)


def _parted(bound: int) -> IdMap:
    """The map that keeps ids up to 1, and adds the bound to all others."""
    name = f"ids around 1 and beyond {BOUNDS[bound]}"
    return IdMap(bound, name, lambda checkpoint, highest: checkpoint + (checkpoint > 1) * bound)


def _up_to(bound: int, written: str) -> IdMap:
    """The map that keeps every distance, and maps the highest id to the bound."""
    return IdMap(
        bound, f"ids up to {written}", lambda checkpoint, highest: bound - highest + checkpoint, True
    )


MAPS: tuple[IdMap, ...] = (
    IdMap(0, "ids with gaps", lambda checkpoint, highest: 9 * checkpoint),
    _shifted(INT32, 1),
    _parted(INT32),
    _shifted(UINT32, 1),
    IdMap(UINT32, "ids that are alike in 32 bits", lambda one, highest: one and 1 + (one - 1) * UINT32),
    _shifted(DOUBLE, 0),
    _parted(DOUBLE),
    _up_to(INT64, BOUNDS[INT64]),
    IdMap(
        INT64,
        "ids around 1 and up to 2^63 - 1",
        lambda checkpoint, highest: INT64 - highest + checkpoint if checkpoint > 1 else checkpoint,
    ),
)
"""All maps, by ascending bounds. If an implementation declines one, it declines all later ones."""


def maps_within(greatest: int | None, *, first_id: bool = False) -> tuple[IdMap, ...]:
    """The maps for an implementation that declares `greatest` as its greatest id.

    `first_id`: whether a coordinator takes its first id from the configuration.
    """
    maps = MAPS
    if greatest is not None and greatest < INT64:
        kept = (ids for ids in MAPS if max(ids.of(ASSUMED_HIGHEST, ASSUMED_HIGHEST), ids.bound) <= greatest)
        maps = (*kept, _up_to(greatest, f"{greatest:,}"))
    return maps if first_id else tuple(ids._replace(can_be_drawn=False) for ids in maps)


def mapped(component: str, events: Sequence[Wire], ids: IdMap) -> list[Wire]:
    """The case with its ids mapped."""
    highest = highest_id(component, events)
    return [event for one in events for event in mapped_event(component, one, ids, highest)]


def mapped_config(component: str, config: Wire, ids: IdMap) -> Wire:
    """The configuration with a coordinator's first id or savepoint, or a subtask's restored id, mapped."""
    if is_id(config.get(RESTORED)):
        return {**config, RESTORED: ids.of(min(config[RESTORED], ASSUMED_HIGHEST), ASSUMED_HIGHEST)}
    if component not in COUNTED or not ids.can_be_drawn:
        return config
    if RESTORED_SAVEPOINT in config:
        return {**config, RESTORED_SAVEPOINT: ids.of(config[RESTORED_SAVEPOINT], ASSUMED_HIGHEST)}
    return {**config, FIRST_ID: ids.of(config.get(FIRST_ID, 1), ASSUMED_HIGHEST)}


def highest_id(component: str, events: Sequence[Wire], config: Wire = MappingProxyType({})) -> int:
    """The highest id of a case.

    ASSUMED_HIGHEST if the configuration restores an id: `mapped_config` maps this id without the events.
    """
    if is_id(config.get(RESTORED)):
        return ASSUMED_HIGHEST
    fields = fields_of(component)
    return max((event[name] for event in events for name in fields if is_id(event.get(name))), default=0)


def mapped_event(component: str, event: Wire, ids: IdMap, highest: int) -> list[Wire]:
    """The event with its ids mapped.

    If the component chooses its ids, and `ids` cannot set the first one, a message about such an id is
    preceded by the same message about a large id.

    An id above `highest` counts as `highest`: no mapped id is beyond the bound.
    """
    drawn = component in COUNTED and ids.can_be_drawn
    highest = ASSUMED_HIGHEST if drawn else highest
    found = {name: min(event[name], highest) for name in fields_of(component) if is_id(event.get(name))}
    if not found:
        return [event]
    if component in COUNTED and not drawn:
        if not ids.bound or event["kind"] not in _ECHOED:
            return [event]
        far = ids.bound if ids.bound in (INT32, UINT32, DOUBLE) else ids.bound - highest
        return [{**event, **{name: one + far for name, one in found.items()}}, event]
    return [{**event, **{name: ids.of(one, highest) for name, one in found.items()}}]


@cache
def fields_of(component: str, limit: str = "ids") -> tuple[str, ...]:
    """The fields of the component's events whose values a limit of `hello` bounds: `ids` or `milliseconds`.

    Offsets may be as large as ids, and count as ids. Empty for a name that is no component of the protocol.
    """
    events = vocabulary()[component].events if component in vocabulary() else ()
    named = (field.name for event in events for field in event.fields if limited().get(field.type) == limit)
    return tuple(dict.fromkeys(named))


def is_id(value: object) -> bool:
    """Whether a value is an id. The value -1 means "no id" and is never mapped."""
    return type(value) is int and value >= 0
