"""The store of completed checkpoints in the suite: its random events, and its binding to TLA+."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Node, Projection, of_step, plain_effect, plain_event
from conformance.components.component import Component
from conformance.components.tla_records import Spelling, each
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import STRAY, Chooser, every
from conformance.suites.components import store_alphabets
from conformance.vectors.tla.binding import Binding, highest, rules_of
from conformance.vectors.tla.text import NotInTlaError, Raw, steps, value
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR
from model.store.environment import closed_store
from model.store.store import Entry
from model.store.wire import COMPONENT as ON_WIRE
from model.store.wire import TYPES
from spec.values import Function, State

if TYPE_CHECKING:
    from model.checker.prove import Case

_LAST_COORDINATOR = "1.18"
"""The newest generation in these TLA+ modules. Later ones differ only in the scheduler, which they lack."""


def coordinator_switches(config: Wire) -> Raw:
    """The TLA+ operator with the switches of the configured generation of the coordinator and its store."""
    names = list(COORDINATOR_PROFILES)
    place = names.index(config.get("profile", NEWEST_COORDINATOR.name))
    return Raw(f"Coordinator_{names[min(names.index(_LAST_COORDINATOR), place)]}".replace(".", "_"))


ENTRIES: Spelling = each(
    lambda entry: Entry(entry["id"], TYPES.index(entry["type"])),
    lambda entry: Function(id=entry.checkpoint, type=TYPES[entry.type]),
)
"""The spelling of the entries of a store."""


def project_store(given: Given) -> Projection:
    """Pairs StoreModel.tla with the closed model of the store."""
    from model.store.proofs.store import store_cases

    retain, ids, profile = given.number("Retain"), given.number("M"), given.coordinators
    closed = closed_store(retain, ids, profile)

    def node(state: State) -> Node:
        added = tuple(int(checkpoint in state["added"]) for checkpoint in range(1, ids + 1))
        return closed.state._replace(entries=ENTRIES.read(state["store"], ())), added, state["out"]

    return Projection(
        closed,
        node,
        of_step(plain_event(ON_WIRE), plain_effect(ON_WIRE)),
        lambda: [
            case for entries in range(max(retain, 2) + 1) for case in store_cases(retain, entries, profile)
        ],
    )


def bind_store(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of the store; `latest` reads the last entry. Raises NotInTlaError for a `shutdown`."""
    if any(event["kind"] == "shutdown" for event in divergence.events):
        raise NotInTlaError("Store.tla has no event shutdown: JobLifecycle.tla describes the end of a job")
    types = {event["checkpoint"]: event["type"] for event in divergence.events if event["kind"] == "add"}

    def completed(ids: Sequence[Any]) -> Mapping[str, str]:
        kept = [Raw(f"[id |-> {one}, type |-> {value(types.get(one, 'checkpoint'))}]") for one in ids]
        return {"": value(kept)}

    return Binding(
        "store",
        module="StoreModel",
        state="store",
        constants={
            "Retain": divergence.config.get("retain", 1),
            "M": highest(divergence.events, "checkpoint"),
            "CoordinatorSwitches": coordinator_switches(divergence.config),
        },
        steps=steps("store", "store", ("add",), latest='[store |-> store, out |-> <<<<"latest", Newest>>>>]'),
        fields={"completed": completed},
        rules=rules_of("store_1_11") if {event["kind"] for event in divergence.events} == {"add"} else (),
        guard='event[1] = "add" => \\A i \\in DOMAIN store : store[i].id # event[2]',
        environment="added' = added \\cup Adds(Recorded[replayed + 1])",
        prelude="""
Newest == IF store = <<>> THEN -1 ELSE LatestId(store)
Adds(event) == IF event[1] = "add" THEN {event[2]} ELSE {}
""",
    )


# ---------------------------------------------------------------- random events

CONFIGS: list[Wire] = list(every(retain=(1, 2, 3), profile=("2.3", "1.11", "1.14")))
"""The configurations of walks."""


def walk_store(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws additions of all three types. Most ids ascend, a few occur twice."""
    draw = rng.random
    highest = 0
    checkpoints = 0.5 + draw() * 0.45
    over = False

    def choose(observed: Wire) -> Wire | None:
        nonlocal highest, over
        luck = draw()
        if over and luck < 0.5:
            return None
        if luck < 0.1:
            return {"kind": "latest"}
        if luck < 0.115:
            over = True
            return {"kind": "shutdown", "discard": draw() < 0.7}
        if luck < 0.115 + STRAY:
            return {"kind": "no_such_event"}
        kind = draw()
        added = "checkpoint" if kind < checkpoints else "savepoint" if kind < 0.96 else "stop"
        if draw() < 0.1:  # an older id: never added, dropped, or retained (an error)
            return {"kind": "add", "checkpoint": int(draw() * (highest + 1)), "type": added}
        highest += 1 + int(draw() * 2)
        return {"kind": "add", "checkpoint": highest, "type": added}

    return choose


def directed_store() -> "Iterator[Case]":
    """The symbolic cases of a store with up to two entries."""
    from model.store.proofs.store import store_cases

    for retain, entries in product((1, 2), (0, 1, 2)):
        yield from store_cases(retain, entries)


COMPONENT = Component(
    alphabets=store_alphabets,
    configs=CONFIGS,
    walks=500,
    paths_hit=17,
    walk=walk_store,
    cases=directed_store,
    projections={"StoreModel": project_store},
    bind=bind_store,
)
