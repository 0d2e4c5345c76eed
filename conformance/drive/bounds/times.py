"""Times near the bounds of machine numbers: a case that begins late, or whose clock runs faster.

Time is virtual, and only differences of times matter. So a case means the same after any time has passed, and
also if every duration and every timestamp is longer by one factor. An implementation that stores milliseconds
in 32 bits, or adds them in a floating-point number, answers wrongly. The model gives every expected answer.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.drive.bounds.ids import INT64, fields_of
from spec.vocabulary import exists, limited, vocabulary

BOUNDS = {2**31: "2^31", 2**41: "2^41", 2**53: "2^53", 2**62: "2^62"}
"""The times around which cases are played, in milliseconds, with their notation."""
_LONGEST = 2**20
"""Maximum duration of a case before the map, in milliseconds."""


class TimeMap(NamedTuple):
    """One map of times: time * scale + begin."""

    name: str
    begin: int
    """Milliseconds that pass before the first event."""
    scale: int = 1

    @property
    def declined(self) -> str:
        """The name of the bound, for the report of an implementation that answers `unsupported`."""
        return f"{self.name} and beyond"

    @property
    def greatest(self) -> int:
        """A time that no case exceeds."""
        return self.begin + self.scale * _LONGEST


MAPS: tuple[TimeMap, ...] = (
    TimeMap("times around 2^31", 2**31 - 10),
    TimeMap("times around 2^41", 2**41),
    TimeMap("durations of 2^32 milliseconds for each one", 0, 2**32),
    TimeMap("times around 2^53", 2**53 - 11),
    TimeMap("times around 2^62", 2**62),
)
"""All maps, by ascending times."""


def maps_within(greatest: int | None) -> tuple[TimeMap, ...]:
    """The maps for an implementation that declares `greatest` as its greatest time, in milliseconds."""
    return tuple(one for one in MAPS if greatest is None or one.greatest <= greatest)


@cache
def _advance(component: str) -> Any:  # noqa: ANN401 - a kind of the vocabulary, or None
    return next((event for event in vocabulary()[component].events if event.kind == "advance"), None)


def has_time(component: str, config: Wire) -> bool:
    """Whether time passes for an instance of this configuration."""
    kind = _advance(component)
    return kind is not None and exists(component, kind.where, config)


def durations(component: str, config: Wire) -> dict[str, int]:
    """The options of a configuration that are milliseconds."""
    fields = [one.name for one in vocabulary()[component].config if limited().get(one.type) == "milliseconds"]
    return {name: config[name] for name in fields if type(config.get(name)) is int}


def fits(component: str, config: Wire, times: TimeMap) -> bool:
    """Whether time passes, and no mapped time of the configuration is beyond 2^63 - 1."""
    longest = max(durations(component, config).values(), default=0)
    return has_time(component, config) and longest * times.scale + times.begin + _LONGEST <= INT64


def mapped_config(component: str, config: Wire, times: TimeMap) -> Wire:
    """The configuration with its durations mapped."""
    longer = {name: one * times.scale for name, one in durations(component, config).items()}
    return {**config, **longer}


def opening(times: TimeMap) -> Iterator[Wire]:
    """The `advance` to send before the first event of a case, if the case begins late."""
    if times.begin:
        yield {"kind": "advance", "ms": times.begin}


def mapped_event(component: str, event: Wire, times: TimeMap) -> Wire:
    """The event with its times mapped: a timestamp is a time, all else are durations."""
    found = [name for name in fields_of(component, "milliseconds") if type(event.get(name)) is int]
    if not found:
        return event
    later = {name: event[name] * times.scale + (name == "timestamp") * times.begin for name in found}
    return {**event, **later}
