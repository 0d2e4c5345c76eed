"""The cases of the aligned gate with any number of channels, by generation.

`reread` holds the model's modules, compiled again so that tuples can be ropes (`recompiled_model`).
"""

from collections.abc import Iterator
from typing import Any

import z3

from model.checker.any_number.cases import RopeCase, start_case, step_by
from model.checker.any_number.recompiled_model import Reread
from model.checker.symbolic import SymbolicBool, bool_term, int_term, symbolic_like
from model.gate.events import Barrier, Cancel, EndOfPartition, Injection, Record
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.proofs.any_number.channels import OWN, SIZES, by_channel, number_of


def symbolic_gate(reread: Reread, profile: Profile, *, own: bool) -> Any:  # noqa: ANN401 - a Gate of the reread module
    """A gate in any state in which it has not failed."""
    aligned = reread.module("model.gate.aligned")
    blocked = by_channel("blocked", own=own)
    new = aligned.new_gate(number_of(blocked), True, profile)._replace(blocked=(), closed=())
    gate = symbolic_like(new, "gate")._replace(
        blocked=blocked, closed=by_channel("closed", own=own), failed=False
    )
    return gate if profile.repeats_count else gate._replace(repeats=0)


def aligned_cases(reread: Reread, profile: Profile = NEWEST) -> Iterator[RopeCase]:
    """Yields a new gate, and every event at a gate in any state."""
    properties = tuple(reread.module("model.gate.properties.aligned").GATE.properties)
    step = step_by(reread.module("model.gate.generations").aligned_steps)
    new = reread.module("model.gate.aligned").new_gate
    counts = SymbolicBool(z3.Bool("gate.counts_as_aligned"))
    channels = number_of(by_channel("blocked", own=True))
    yield start_case("gate", new(channels, counts, profile), properties, SIZES)
    for event in events_of(profile):
        own = hasattr(event, "channel")
        gate = symbolic_gate(reread, profile, own=own)
        label = f"{profile.name}, {event.kind}"
        yield RopeCase("gate", label, gate, event, step, properties, (*SIZES, *is_permitted(gate, event)))


def history_cases(reread: Reread, profile: Profile = NEWEST) -> Iterator[RopeCase]:
    """As `aligned_cases`, for a gate with a record of the items that it has read."""
    polled = reread.module("model.gate.polled_gate")
    properties = tuple(reread.module("model.gate.properties.history").HISTORY.properties)
    step = reread.module("model.steps").step_of("history")
    counts = SymbolicBool(z3.Bool("gate.counts_as_aligned"))
    channels = number_of(by_channel("blocked", own=True))
    yield start_case("history", polled.new_watched(channels, counts, profile), properties, SIZES)
    for event in (*events_of(profile), Record(OWN, symbolic_like(0, "event.value"))):
        own = hasattr(event, "channel")
        gate = symbolic_gate(reread, profile, own=own)
        last, at_barrier = by_channel("last", own=own, is_bool=False), by_channel("at barrier", own=own)
        watched = polled.Watched(gate, last, at_barrier)
        label = f"{profile.name}, {event.kind}"
        yield RopeCase(
            "history", label, watched, event, step, properties, (*SIZES, *is_permitted(gate, event))
        )


def events_of(profile: Profile) -> tuple[Any, ...]:
    """An event of each class of the generation, with a symbol as its id."""
    checkpoint = symbolic_like(0, "event.checkpoint")
    items = (Barrier(OWN, checkpoint), Cancel(OWN, checkpoint), EndOfPartition(OWN))
    return (*items, Injection(checkpoint)) if profile.ends_count else items


def is_permitted(gate: Any, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401
    """The assumptions about an event: its channel is open, and its id is not negative."""
    opened = (z3.Not(bool_term(gate.closed[OWN])),) if hasattr(event, "channel") else ()
    return (*opened, int_term(event.checkpoint) >= 0) if hasattr(event, "checkpoint") else opened


def all_aligned_cases(reread: Reread) -> Iterator[RopeCase]:
    """The gate in every generation."""
    for profile in PROFILES.values():
        yield from aligned_cases(reread, profile)


def all_history_cases(reread: Reread) -> Iterator[RopeCase]:
    """The gate and the items that it has read, in every generation."""
    for profile in PROFILES.values():
        yield from history_cases(reread, profile)
