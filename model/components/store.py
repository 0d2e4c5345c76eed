"""The completed-checkpoint store behind the words of the wire."""

from model import store
from model.components import words
from model.components.words import Wire, WireError
from model.coordinator_profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR
from model.events import NONE, Effect, Step
from model.store import Store

TYPES = ("checkpoint", "savepoint", "stop")
"""The wire's words for store.CHECKPOINT, store.SAVEPOINT and store.STOP, in that order."""


def new_store(config: Wire) -> Store:
    """`retain`, `profile`."""
    words.only(config, ("retain", "profile"), "config")
    named = words.choice(config, "profile", tuple(COORDINATOR_PROFILES), default=NEWEST_COORDINATOR.name)
    return store.new_store(
        words.integer(config, "retain", at_least=1, default=1), COORDINATOR_PROFILES[named]
    )


def step_store(state: Store, event: Wire) -> Step[Store]:
    """One addition, question or the shutdown."""
    kind = words.kind_of(event, ("add", "latest", "shutdown"))
    if not state.open:
        raise WireError("the store is shut down; make a new one")
    if kind == "latest":
        return store.on_latest(state)
    if kind == "shutdown":
        return store.on_shutdown(state, words.boolean(event, "discard"))
    checkpoint = words.checkpoint(event)
    if any(entry.checkpoint == checkpoint for entry in state.entries):
        raise WireError(f"checkpoint {checkpoint} is in the store; ids are added once")
    return store.on_add(state, checkpoint, TYPES.index(words.choice(event, "type", TYPES)))


def effect_of_store(state: Store, effect: Effect) -> dict[str, object]:
    """Deletions in the wire's one word; no checkpoint is null."""
    wire = words.to_wire(effect)
    if wire["kind"] == "discard_checkpoint":
        wire["kind"] = "discard"
    if wire["kind"] == "latest" and wire["checkpoint"] == NONE:
        wire["checkpoint"] = None
    return wire


def observe_store(state: Store) -> dict[str, object]:
    """`completed`."""
    return {"completed": [entry.checkpoint for entry in state.entries]}
