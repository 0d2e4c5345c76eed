"""Shrinking: turns a case that diverges into one from which no event can be left out.

The algorithm is deterministic. It leaves out first longer sequences of events, then single ones, and repeats
this until every single removal makes the divergence vanish or changes its charge (the primary rule, or a
crash). In between, it makes checkpoint ids and channels small. At the end it leaves out options of barriers.
It keeps only candidates with the same charge, so that the last one shows the divergence that was found.
`conformance.drive.shrinking.simplest` then simplifies the configuration.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from conformance.adapters.protocol import Adapter, Wire
from conformance.divergence import Divergence
from conformance.drive.bounds.ids import fields_of, is_id
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracles
from model.components import WireError

OPTIONS = ("timestamp", "alignment")
"""Fields of an event that may be left out."""
_TRIED_FIRST = 3
"""The lowest numbers of channels, up to this one, are tried one by one, the others by bisection."""

Trial = Callable[[Sequence[Wire]], Divergence | None]
"""Plays these events from the beginning; returns the divergence."""
Play = Callable[[Wire, Sequence[Wire]], Divergence | None]
"""Like `Trial`, with a configuration; None also if the configuration does not exist."""


def shrink(divergence: Divergence, adapter: Adapter) -> Divergence:
    """The same divergence from the fewest events; a divergence of a gate also with the fewest channels."""
    play = player(divergence.component, adapter)
    smallest = fewest_events(divergence, of_config(play, divergence.config))
    fewer = fewer_channels(smallest, play)
    return smallest if fewer is None else fewest_events(fewer, of_config(play, fewer.config))


def player(component: str, adapter: Adapter) -> Play:
    """A function that plays events in lock-step with the model, and returns a divergence or a hang."""
    oracles = Oracles(component)

    def play(config: Wire, events: Sequence[Wire]) -> Divergence | None:
        try:
            oracle = oracles.of(config)
        except (WireError, KeyError, TypeError):
            return None
        played = replay(oracle, adapter, events)
        return played.divergence or played.hung

    return play


def of_config(play: Play, config: Wire) -> Trial:
    """The trials with one configuration."""
    return lambda events: play(config, events)


def kept(found: Divergence | None, divergence: Divergence) -> Divergence | None:
    """`found`, if it is charged like `divergence`, and if both or neither are at an event to be refused."""
    is_same = found is not None and _charged(found) == _charged(divergence)
    return found if is_same else None


def _charged(divergence: Divergence) -> tuple[str | None, bool]:
    return divergence.charge, divergence.expected.refused is not None


def fewest_events(divergence: Divergence, trial: Trial, options: Collection[str] = OPTIONS) -> Divergence:
    """Leave out events, make ids small, then leave out `options`, while the divergence stays the same."""
    changed = True
    while changed:
        shorter = _leave_out(divergence, trial)
        lower = _kept(_dense_ids(shorter), shorter, trial)
        changed = len(shorter.events) < len(divergence.events) or lower is not None
        divergence = lower or shorter
    return _without_options(divergence, trial, options)


def fewer_channels(divergence: Divergence, play: Play) -> Divergence | None:
    """The case with fewer channels. Events with a channel that no longer exists get lower channels."""
    channels = divergence.config.get("channels")
    if type(channels) is not int:
        return None
    named = {event["channel"] for event in divergence.events if type(event.get("channel")) is int}
    lower = {channel: place for place, channel in enumerate(sorted(named))}
    fewest = max(1, len(lower))
    renumbered = [replaced(event, "channel", lower) for event in divergence.events]

    def trial(fewer: int, events: Sequence[Wire]) -> Divergence | None:
        return kept(play({**divergence.config, "channels": fewer}, events), divergence)

    for fewer in range(fewest, min(fewest + _TRIED_FIRST, channels)):
        found = trial(fewer, divergence.events if fewer > max(named, default=0) else renumbered)
        if found is not None:
            return found
    least = max(named, default=0) + 1
    fewer = lowest(least, channels, lambda number: trial(number, divergence.events) is not None)
    return trial(fewer, divergence.events) if fewer < channels else None


def lowest(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The lowest number from `low` on that `holds`, by bisection: all numbers from it to `high` must hold."""
    if low < high and holds(low):
        return low
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def replaced(event: Wire, field: str, values: Mapping[int, int]) -> Wire:
    """The event, with the number in `field` replaced by the one that `values` has for it, if any."""
    value = event.get(field)
    return {**event, field: values[value]} if type(value) is int and value in values else event


def numbered(component: str) -> Iterator[tuple[str, ...]]:
    """Groups of event fields whose numbers are renumbered together; none if a coordinator draws the ids."""
    fields = () if component == "coordinator" else fields_of(component)
    yield from ((field,) for field in fields) if component == "offsets" else (fields,)


def numbers(events: Sequence[Wire], fields: Sequence[str]) -> list[int]:
    """The different numbers in these fields, ascending."""
    return sorted({event[field] for event in events for field in fields if is_id(event.get(field))})


def _without_options(divergence: Divergence, trial: Trial, options: Collection[str]) -> Divergence:
    """Leave out the options of events that the divergence does not need."""
    position = 0
    while position < len(divergence.events):
        for option in options:
            if option not in divergence.events[position]:
                continue
            events = list(divergence.events)
            events[position] = {name: value for name, value in events[position].items() if name != option}
            found = _kept(events, divergence, trial)
            if found is not None and len(found.events) == len(events):
                divergence = found
        position += 1
    return divergence


def _leave_out(divergence: Divergence, trial: Trial) -> Divergence:
    run = max(1, len(divergence.events) // 2)
    while True:
        position, removed = 0, False
        while position < len(divergence.events):
            events = divergence.events
            found = _kept((*events[:position], *events[position + run :]), divergence, trial)
            if found is None:
                position += run
            else:
                divergence, removed = found, True
        if run == 1 and not removed:
            return divergence
        run = max(1, run // 2)


def _kept(events: Sequence[Wire], divergence: Divergence, trial: Trial) -> Divergence | None:
    """The divergence of these events, if the events differ and the charge is the same."""
    if not events or tuple(events) == divergence.events:
        return None
    return kept(trial(events), divergence)


def _dense_ids(divergence: Divergence) -> list[Wire]:
    """The events with checkpoint ids 1, 2, … in the same order, without gaps."""
    events = list(divergence.events)
    for fields in numbered(divergence.component):
        dense = {value: place for place, value in enumerate(numbers(events, fields), start=1)}
        for field in fields:
            events = [replaced(event, field, dense) for event in events]
    return events
