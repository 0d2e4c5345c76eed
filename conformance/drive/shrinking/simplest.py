"""The simplest case of a divergence: fewest events and channels, lowest ids, a configuration of defaults.

Shrinking and these passes take turns until none of them changes anything.
"""

from collections.abc import Iterator, Mapping
from functools import cache

from conformance.divergence import Divergence
from conformance.drive.shrinking.shrink import (
    Play,
    Trial,
    fewer_channels,
    fewest_events,
    kept,
    lowest,
    numbered,
    numbers,
    of_config,
    replaced,
)
from conformance.generators import generate
from spec.vocabulary import Field, vocabulary


def simplest(divergence: Divergence, play: Play, fixed: Mapping[str, object]) -> Divergence:
    """The same divergence in the simplest case that shows it.

    `fixed`: the values that options of the configuration must keep, as `Plan.pinned` has them.
    """
    while True:
        options = _optional(divergence.component)
        smaller = fewest_events(divergence, of_config(play, divergence.config), options)
        if "channels" not in fixed:
            smaller = fewer_channels(smaller, play) or smaller
        for field in vocabulary()[divergence.component].config:
            smaller = _simpler(smaller, field, play, fixed)
        smaller = _lower_numbers(smaller, of_config(play, smaller.config))
        if (smaller.config, smaller.events) == (divergence.config, divergence.events):
            return smaller
        divergence = smaller


def _simpler(divergence: Divergence, field: Field, play: Play, fixed: Mapping[str, object]) -> Divergence:
    """The divergence with the first simpler value of one option that keeps it."""
    if field.name not in divergence.config:
        return divergence
    pinned = {name: value for name, value in fixed.items() if name == field.name}
    for value in _simpler_values(field, divergence.config[field.name]):
        config = {**divergence.config, field.name: value}
        found = kept(play(config, divergence.events), divergence) if generate.fits(config, pinned) else None
        if found is not None:
            return found
    return divergence


def _simpler_values(field: Field, value: object) -> Iterator[object]:
    """Simpler values than this one, the simplest first: a default, a smaller number, a shorter list.

    Level `handler` is the simplest level. Modes have different rules, so no mode is simpler than another.
    """
    if field.type == "level":
        yield from () if value == "handler" else ("handler",)
    elif field.defaults:
        yield from () if value == field.defaults[0] else field.defaults
    elif value is False:
        yield True
    elif type(value) is int and field.name != "channels":
        yield from range(1, min(value, 4))
    elif isinstance(value, list):
        yield from ([*value[:at], *value[at + 1 :]] for at in range(len(value)))


def _lower_numbers(divergence: Divergence, trial: Trial) -> Divergence:
    """Lowers each id and each channel while the divergence stays. The order stays; two may become equal."""
    for fields, least in [*((fields, 1) for fields in numbered(divergence.component)), (("channel",), 0)]:
        position = 0
        while position < len(known := numbers(divergence.events, fields)):
            below = known[position - 1] if position else least
            if known[position] > below:
                divergence = _lower(divergence, trial, fields, (below, known[position]))
            position += len(numbers(divergence.events, fields)) == len(known)
    return divergence


def _lower(
    divergence: Divergence, trial: Trial, fields: tuple[str, ...], span: tuple[int, int]
) -> Divergence:
    """Lowers one number, from the end of `span` to the lowest value in `span` that keeps the divergence."""
    found: dict[int, Divergence] = {}

    def holds(number: int) -> bool:
        events = list(divergence.events)
        for field in fields:
            events = [replaced(event, field, {span[1]: number}) for event in events]
        lower = kept(trial(events), divergence)
        if lower is not None:
            found[number] = lower
        return lower is not None

    return found.get(lowest(*span, holds), divergence)


@cache
def _optional(component: str) -> tuple[str, ...]:
    """The fields of its events that may be left out."""
    fields = [field for event in vocabulary()[component].events for field in event.fields]
    return tuple(dict.fromkeys(field.name for field in fields if not field.required))
