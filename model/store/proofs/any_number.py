"""The cases of the store with any number of retained checkpoints. This number is a symbol.

A store that retains one checkpoint has at most two entries. A store that retains more drops at most one entry
at an addition: the first one that it may drop. In a case, this entry and the entries before it are single
symbols. At most one entry is before it, because z3 shows that two are impossible. A group represents any
number of other entries between it and the entry added last.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from model.checker.any_number.all_paths import truth
from model.checker.any_number.cases import RopeCase, is_impossible, start_case
from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Behaviour, Group, Many, Position
from model.checker.any_number.recompiled_model import Helpers, Reread
from model.checker.any_number.rope import Rope, cells_of, joined
from model.checker.any_number.sequence_functions import all_, any_, display, enumerate_
from model.checker.symbolic import SymbolicInt, SymbolicUseError, bool_term, int_term, symbolic_like
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.steps import name_of
from model.store.events import Add, LatestRequest, Shutdown
from model.store.store import CHECKPOINT, STOP

SOME = Group("some entries", distinct=True)
SIZES = (SOME.size >= 0,)
PROFILES = ("2.3", "1.14", "1.11")
"""The generations whose stores differ. 1.9 has the store of 1.11."""
VARIANTS = frozenset(
    f"model-store-{name}"
    for name in ("savepoint-evicts", "keeps-one-more", "prepends", "deletes-savepoints", "protects-early")
)
"""The mutants of the catalogue that these proofs must kill, one for each rule of the store."""


def divided(
    entries: tuple[Any, ...], may_drop: Callable[[Any], bool], surplus: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """`model.store.store.divided` for a rope. Raises SymbolicUseError if it may drop a member of a group."""
    kept: list[Any] = []
    dropped: list[Any] = []
    for position, entry in zip(cells_of(enumerate_(Rope(cells_of(entries)))), cells_of(entries), strict=True):
        if isinstance(entry, Many):
            if surplus > 0 and any_(may_drop(place) for place, _ in Rope((position,))):
                raise SymbolicUseError(f"one of {entry!r} may be dropped")
            kept.append(entry)
        elif surplus > 0 and may_drop(position[0]):
            surplus -= 1
            dropped.append(entry)
        else:
            kept.append(entry)
    return joined(kept), joined(dropped)


HELPERS: Mapping[str, Helpers] = {
    "model.event_frames": {"is_permitted": is_permitted},
    "model.store.store": {"divided": divided},
}


def entries_of(stores: Any, group: Group) -> Many:  # noqa: ANN401 - a module
    """Entries with a symbolic id and type for each member of the group."""
    symbols = [z3.Function(f"{part} of {group}", z3.IntSort(), z3.IntSort()) for part in ("id", "type")]
    value = stores.Entry(*(SymbolicInt(symbol(group.variable)) for symbol in symbols))
    return Many(group, group.variable, [Behaviour(z3.BoolVal(True), (value,))], every=True)


def store_cases(reread: Reread, name: str) -> Iterator[RopeCase]:
    """Yields a new store, and every event at a store in any state."""
    stores = reread.module("model.store.store")
    steps_of = reread.module("model.store.generations").store_steps
    properties = tuple(reread.module("model.store.properties").STORE.properties)
    anew = symbolic_like(stores.new_store(0, COORDINATOR_PROFILES[name]), "store")
    retain = int_term(anew.retain)
    yield start_case("store", anew._replace(open=True), properties, (retain >= 1, *SIZES))
    first, second, last = (symbolic_like(stores.Entry(0, 0), part) for part in ("first", "second", "last"))
    some = entries_of(stores, SOME)
    named: list[tuple[Any, z3.BoolRef]] = [
        (anew, retain >= 1),
        (anew._replace(retain=1, entries=(last,)), retain == 1),
        (anew._replace(entries=(last,)), retain >= 2),
        (anew._replace(retain=1, entries=(first, last)), retain == 1),
        (anew._replace(retain=2, entries=(first, last)), retain == 2),
        (anew._replace(entries=(first, last)), retain >= 3),
    ]
    any_entries = anew._replace(entries=Rope((some, last)))

    def step(state: Any, event: Any) -> Any:  # noqa: ANN401
        steps = steps_of(state) if type(event) is Add else stores
        return getattr(steps, name_of(type(event)))(state, *event[:-1])

    def case(state: Any, event: Any, *promised: z3.BoolRef) -> RopeCase:  # noqa: ANN401
        label = f"{name}, {len(cells_of(state.entries))} parts, {event[-1]}"
        return RopeCase("store", label, state, event, step, properties, (*SIZES, *promised))

    add = symbolic_like(Add(0, 0), "event")
    for state, retained in named:
        found = case(state, add, retained, *_permitted(state, add))
        if not is_impossible(found):  # a store up to 1.11 never has a surplus
            yield found
    for stays in ((False,), (True, False), (True, True)):
        state = anew._replace(entries=Rope((*(first, second)[: len(stays)], some, last)))
        promised = (retain >= 2, *_permitted(state, add))
        entries = display((True, state.entries), (False, stores.Entry(add.checkpoint, add.type)))
        free = [_may_drop(steps_of(state), entries, place) for place in range(len(stays))]
        divided_so = tuple(z3.Not(one) if kept else one for one, kept in zip(free, stays, strict=True))
        found = case(state, add, *promised, *divided_so)
        if not is_impossible(found):
            yield found
    for event in (LatestRequest(), symbolic_like(Shutdown(discard=True), "event")):
        for state, retained in (*named, (any_entries, retain >= 2)):
            found = case(state, event, retained)
            if not is_impossible(found):
                yield found


def _may_drop(steps: Any, entries: Any, place: int) -> z3.BoolRef:  # noqa: ANN401
    return truth(lambda: steps.may_drop(entries, Position(place)))


def _permitted(state: Any, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401
    """The assumptions: a checkpoint is added once, with a known type, to a store that has not shut down."""
    is_new = all_(one.checkpoint != event.checkpoint for one in state.entries)
    known = (
        int_term(event.checkpoint) >= 0,
        int_term(event.type) >= CHECKPOINT,
        int_term(event.type) <= STOP,
    )
    return (*known, bool_term(is_new), bool_term(state.open))


def all_store_cases(reread: Reread) -> Iterator[RopeCase]:
    """The store in every generation."""
    for name in PROFILES:
        yield from store_cases(reread, name)
