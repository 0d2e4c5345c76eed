"""The store of completed checkpoints in the adapter protocol."""

from typing import Any

from model.component import Component
from model.coordinator.profiles import profile_of
from model.events import Step
from model.fields import Wire, WireError, Words, names_of
from model.steps import HANDLERS, step_of
from model.store import store
from model.store.events import Add
from model.store.store import Store

TYPES = tuple(names_of("checkpoint_type").values())
"""The names of store.CHECKPOINT, store.SAVEPOINT and store.STOP in the adapter protocol, in that order."""
WORDS = Words("store", HANDLERS["store"])
_STEP = step_of("store")


def new_store(config: Wire) -> Store:
    """An empty store of the configured `retain` and `profile`. Raises WireError if they are not valid."""
    given = WORDS.config(config)
    return store.new_store(given["retain"], profile_of(given["profile"]))


def step_store(state: Store, wire: Wire) -> Step[Store]:
    """The step of one addition, request or shutdown. Raises WireError if the event is not legal."""
    event = WORDS.read(wire)
    if not state.open:
        raise WireError("the store is shut down; make a new one")
    if type(event) is Add and any(entry.checkpoint == event.checkpoint for entry in state.entries):
        raise WireError(f"checkpoint {event.checkpoint} is already in the store; add another id")
    return _STEP(state, event)


def observe_store(state: Store) -> dict[str, object]:
    """The observable state: `completed`."""
    return {"completed": [entry.checkpoint for entry in state.entries]}


def config_of_store(state: Store) -> dict[str, Any]:
    """The configuration of a closed model's store."""
    return {"retain": state.retain, "profile": state.profile.name}


COMPONENT = Component("store", WORDS, new_store, step_store, observe_store, config_of_store)
