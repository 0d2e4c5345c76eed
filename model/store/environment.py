"""Closed models of the store of completed checkpoints."""

from collections.abc import Iterator
from itertools import product

from model.checker.closed_model import ClosedModel, Environment
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.events import Event
from model.steps import step_of
from model.store import store
from model.store.events import Add
from model.store.store import CHECKPOINT, SAVEPOINT, STOP, Store


def closed_store(retain: int, ids: int, profile: CoordinatorProfile = NEWEST_COORDINATOR) -> ClosedModel:
    """A store to which every id from 1 to `ids` may be added once, with any type and in any order."""

    def offers(state: Store) -> Iterator[tuple[str, Event]]:
        for checkpoint, kind in product(range(1, ids + 1), (CHECKPOINT, SAVEPOINT, STOP)):
            yield "Add", Add(checkpoint, kind)

    def allows(added: Environment, event: Event) -> Environment | None:
        if type(event) is not Add or added[event.checkpoint - 1]:
            return None
        place = event.checkpoint - 1
        return (*added[:place], 1, *added[place + 1 :])

    return ClosedModel(
        f"store retaining {retain}, ids to {ids}"
        + ("" if profile is NEWEST_COORDINATOR else f", {profile.name}"),
        "store",
        store.new_store(retain, profile),
        (0,) * ids,
        offers,
        allows,
        step_of("store"),
    )
