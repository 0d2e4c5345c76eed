"""The shapes that the proofs go through: channels, tasks and collections of declared sizes.

Ids, offsets, handles and times are symbols and so stand for every value; what is counted here is
how many of them there are. Fields that a job fixes for good (how many to retain, how many at once)
are concrete and gone through one by one.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model import store
from model.cases.beginnings import beginning_cases, thorough_beginning_cases
from model.cases.channel import all_channel_cases, thorough_channel_cases
from model.cases.coordinator import all_coordinator_cases, thorough_coordinator_cases
from model.cases.endings import ending_cases, thorough_ending_cases
from model.cases.files import all_file_cases, thorough_file_cases
from model.cases.gate import gate_cases, network_cases
from model.cases.modes import mode_cases
from model.cases.offsets import all_offsets_cases
from model.cases.overtaking import thorough_unaligned_cases
from model.cases.subtask import all_subtask_cases
from model.coordinator_profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, CoordinatorProfile
from model.engines.prove import Case
from model.engines.symbolic import int_term, symbolic_like
from model.events import Add, Event, LatestRequest
from model.profiles import NEWEST, PROFILES
from model.steps import step_of
from model.store import Entry, Store


def store_cases(
    retain: int, entries: int, profile: CoordinatorProfile = NEWEST_COORDINATOR
) -> Iterator[Case]:
    """A store of so many entries with any ids and types, and any addition or question."""
    shape = store.new_store(retain, profile)._replace(entries=(Entry(0, 0),) * entries)
    state = symbolic_like(shape, "store")._replace(retain=retain, open=True)
    for event in (Add(0, 0), LatestRequest()):
        yield Case(
            "store",
            f"retain {retain}, {entries} entries, {profile.name}, {event.kind}",
            state,
            asked := symbolic_like(event, "event"),
            step_of("store"),
            _store_is_sound(state, asked),
        )


def _store_is_sound(state: Store, event: Event) -> tuple[z3.BoolRef, ...]:
    """Ids differ, also from the one added; types are types."""
    ids = [int_term(entry.checkpoint) for entry in state.entries]
    types = [int_term(entry.type) for entry in state.entries]
    if type(event) is Add:
        ids.append(int_term(event.checkpoint))
        types.append(int_term(event.type))
    apart = (z3.Distinct(*ids),) if len(ids) > 1 else ()
    return (
        *apart,
        *(known >= 0 for known in ids),
        *(z3.And(kind >= 0, kind <= store.STOP) for kind in types),
    )


def all_cases(*, channels: int = 4) -> Iterator[Case]:
    """Every case of the published proofs."""
    for count in range(1, channels + 1):
        yield from gate_cases(count)
    for profile in PROFILES.values():
        if profile is not NEWEST:
            for count in range(1, min(channels, 3) + 1):
                yield from gate_cases(count, profile)
    for count, waiting in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 1), (4, 0), (4, 1)):
        yield from network_cases(count, waiting)
    yield from mode_cases(channels)
    yield from all_channel_cases()
    for retain, entries in product((1, 2, 3), (0, 1, 2, 3)):
        if entries <= max(retain, 2):
            yield from store_cases(retain, entries)
            for name in ("1.11", "1.14"):
                yield from store_cases(retain, entries, COORDINATOR_PROFILES[name])
    yield from all_subtask_cases()
    yield from all_coordinator_cases()
    yield from ending_cases()
    yield from beginning_cases()
    yield from all_file_cases()
    yield from all_offsets_cases()


def thorough_cases() -> Iterator[Case]:
    """What a thorough verification proves besides: larger shapes, in every generation."""
    yield from thorough_unaligned_cases()
    yield from thorough_channel_cases()
    yield from thorough_coordinator_cases()
    yield from thorough_ending_cases()
    yield from thorough_beginning_cases()
    yield from thorough_file_cases()
