"""The proofs of the store: any ids and types, by the number of entries."""

from collections.abc import Iterator

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.events import Event
from model.steps import step_of
from model.store import store
from model.store.events import Add, LatestRequest, Shutdown
from model.store.properties import STOP
from model.store.store import Entry, Store


def store_cases(
    retain: int, entries: int, profile: CoordinatorProfile = NEWEST_COORDINATOR
) -> Iterator[Case]:
    """A store of `entries` entries with any ids and types, and any event."""
    shape = store.new_store(retain, profile)._replace(entries=(Entry(0, 0),) * entries)
    state = symbolic_like(shape, "store")._replace(retain=retain)
    for event in (Add(0, 0), LatestRequest(), Shutdown(discard=True)):
        yield Case(
            "store",
            f"retain {retain}, {entries} entries, {profile.name}, {event.kind}",
            state,
            request := symbolic_like(event, "event"),
            step_of("store"),
            _store_is_sound(state, request),
        )


def _store_is_sound(state: Store, event: Event) -> tuple[z3.BoolRef, ...]:
    """The store is open; all ids differ, including the added one; types are known ones."""
    ids = [int_term(entry.checkpoint) for entry in state.entries]
    types = [int_term(entry.type) for entry in state.entries]
    if type(event) is Add:
        ids.append(int_term(event.checkpoint))
        types.append(int_term(event.type))
    apart = (z3.Distinct(*ids),) if len(ids) > 1 else ()
    return (
        bool_term(state.open),
        *apart,
        *(known >= 0 for known in ids),
        *(z3.And(kind >= 0, kind <= STOP) for kind in types),
    )
