"""ALIGN-25, stated over a record of the items that the gate has read: a snapshot is a consistent cut."""

from model.events import Effects
from model.gate.events import Injection, Record, Trigger
from model.gate.polled_gate import Item, Watched
from model.gate.properties.aligned import GATE
from model.registry import Registry

HISTORY = Registry("history")
HISTORY.part(GATE, lambda watched: watched.gate)


@HISTORY.initial("ALIGN-25")
def align_25_at_first(watched: Watched) -> bool:
    """A new gate has read nothing."""
    return not any(watched.at_barrier) and not any(watched.last)


@HISTORY.step("ALIGN-25")
def align_25(before: Watched, event: Item | Injection, effects: Effects, after: Watched) -> bool:
    """At a trigger, the last item that the gate has read of each channel is the barrier or the end."""
    if type(event) is Injection:
        return True  # ALIGN-24: no barrier is awaited
    return all(
        closed or (at_barrier and last == effect.checkpoint)
        for effect in effects
        if type(effect) is Trigger
        for closed, at_barrier, last in zip(after.gate.closed, after.at_barrier, after.last, strict=True)
    )


@HISTORY.step("ALIGN-25", Record)
def align_25_noted(before: Watched, event: Record, effects: Effects, after: Watched) -> bool:
    """After the gate has read a record, the last item of the channel is not recorded as a barrier."""
    return before.gate.blocked[event.channel] or not after.at_barrier[event.channel]


@HISTORY.state("ALIGN-25")
def align_25_blocked(watched: Watched) -> bool:
    """On a blocked channel the gate has read nothing after the barrier of the pending checkpoint."""
    return all(
        not blocked or (at_barrier and last == watched.gate.current)
        for blocked, at_barrier, last in zip(
            watched.gate.blocked, watched.at_barrier, watched.last, strict=True
        )
    )


@HISTORY.state("ALIGN-25")
def align_25_once(watched: Watched) -> bool:
    """The gate counts no barrier twice, because a blocked channel delivers none."""
    return watched.gate.repeats == 0
