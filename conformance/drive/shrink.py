"""Shrinking: from a case that diverges to one from which no event can be left out.

Deterministic: first larger runs of events are left out, then single ones, over and over until every
single removal makes the divergence vanish or changes what is charged (the primary rule, a crash); in
between, checkpoint ids and channels are made small. At the end options of barriers are left out. Only
candidates that still charge the same are kept, so that what is shown at the end is the divergence that was
found.
"""

from collections.abc import Callable, Sequence

from conformance.adapters.protocol import Adapter, Wire
from conformance.divergence import Divergence
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle

OPTIONS = ("timestamp", "alignment")
"""Fields of an event that may be left out."""

Trial = Callable[[Sequence[Wire]], Divergence | None]
"""Plays these events from the beginning; returns the divergence."""


def shrink(divergence: Divergence, adapter: Adapter) -> Divergence:
    """The same divergence from the fewest events, and with the fewest channels if it is a gate's."""
    smallest = fewest_events(divergence, _trial(divergence.config, adapter, divergence.component))
    for config, events in _smaller(smallest):
        trial = _trial(config, adapter, divergence.component)
        found = trial(events)
        if found is not None and found.charge == divergence.charge:
            return fewest_events(found, trial)
    return smallest


def fewest_events(divergence: Divergence, trial: Trial) -> Divergence:
    """Leave out events, and make ids small, until nothing more can go."""
    changed = True
    while changed:
        shorter = _leave_out(divergence, trial)
        lower = _kept(_dense_ids(shorter.events), shorter, trial) if _ids_are_free(shorter) else None
        changed = len(shorter.events) < len(divergence.events) or lower is not None
        divergence = lower or shorter
    return _plainer(divergence, trial)


def _plainer(divergence: Divergence, trial: Trial) -> Divergence:
    """Leave out the options of barriers that are of no matter."""
    position = 0
    while position < len(divergence.events):
        for option in OPTIONS:
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
    """The divergence of these events, if they are others and it is the same one."""
    if not events or tuple(events) == divergence.events:
        return None
    found = trial(events)
    return found if found is not None and found.charge == divergence.charge else None


def _ids_are_free(divergence: Divergence) -> bool:
    """The coordinator draws its ids itself; everywhere else the events choose them."""
    return divergence.component != "coordinator"


def _dense_ids(events: Sequence[Wire]) -> list[Wire]:
    """The same order of checkpoint ids, without gaps, from 1 on."""
    ids = sorted({event["checkpoint"] for event in events if type(event.get("checkpoint")) is int})
    dense = {checkpoint: position for position, checkpoint in enumerate(ids, start=1)}
    return [
        {**event, "checkpoint": dense[event["checkpoint"]]} if type(event.get("checkpoint")) is int else event
        for event in events
    ]


def _smaller(divergence: Divergence) -> list[tuple[Wire, Sequence[Wire]]]:
    """Configurations with fewer channels; where those named are too high, the events get lower ones."""
    channels = divergence.config.get("channels")
    if type(channels) is not int:
        return []
    named = [event["channel"] for event in divergence.events if type(event.get("channel")) is int]
    lower = {channel: place for place, channel in enumerate(sorted(set(named)))}
    renumbered = [
        {**event, "channel": lower[event["channel"]]} if type(event.get("channel")) is int else event
        for event in divergence.events
    ]
    return [
        (
            {**divergence.config, "channels": fewer},
            divergence.events if fewer > max(named, default=0) else renumbered,
        )
        for fewer in range(max(1, len(lower)), channels)
    ]


def _trial(config: Wire, adapter: Adapter, component: str) -> Trial:
    oracle = Oracle(component, config)
    return lambda events: replay(oracle, adapter, events).divergence
