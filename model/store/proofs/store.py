"""The cases of the store, with any ids and types, by the number of entries."""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
from model.coordinator.profiles import (
    COORDINATOR_PROFILES,
    NEWEST_COORDINATOR,
    PROPOSED_COORDINATORS,
    CoordinatorProfile,
)
from model.events import Event
from model.steps import step_of
from model.store import store
from model.store.events import Add, LatestRequest, Shutdown
from model.store.properties import CHECKPOINT, STOP
from model.store.store import Entry, Store


def all_store_cases() -> Iterator[Case]:
    """Yields the cases of the published proofs; a proposed generation retains 1 checkpoint in them."""
    for retain, entries in product((1, 2, 3), (0, 1, 2, 3)):
        if entries <= max(retain, 2):
            yield from store_cases(retain, entries)
            for name in ("1.11", "1.14"):
                yield from store_cases(retain, entries, COORDINATOR_PROFILES[name])
    for proposed, entries in product(PROPOSED_COORDINATORS.values(), (0, 1, 2)):
        yield from store_cases(1, entries, proposed)


def store_cases(
    retain: int, entries: int, profile: CoordinatorProfile = NEWEST_COORDINATOR
) -> Iterator[Case]:
    """Yields any event at a store of `entries` entries with any ids and types."""
    shape = store.new_store(retain, profile)._replace(entries=(Entry(0, 0),) * entries)
    state = symbolic_like(shape, "store")._replace(retain=retain, open=True)
    for event in (Add(0, 0), LatestRequest(), Shutdown(discard=True)):
        yield Case(
            "store",
            f"retain {retain}, {entries} entries, {profile.name}, {event.kind}",
            state,
            request := symbolic_like(event, "event"),
            step_of("store"),
            _is_new(state, request),
        )


def _is_new(state: Store, event: Event) -> tuple[z3.BoolRef, ...]:
    """The assumptions: a checkpoint is added once, with a known type."""
    if type(event) is not Add:
        return ()
    added, kind = int_term(event.checkpoint), int_term(event.type)
    others = (int_term(entry.checkpoint) for entry in state.entries)
    return (added >= 0, kind >= CHECKPOINT, kind <= STOP, *(added != other for other in others))
