"""The completed-checkpoint store on the wire."""

from model import fields
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR
from model.events import NONE, Effect, Step
from model.fields import Wire, WireError
from model.store import store
from model.store.store import Store

TYPES = ("checkpoint", "savepoint", "stop")
"""The names of store.CHECKPOINT, store.SAVEPOINT and store.STOP on the wire, in that order."""


def new_store(config: Wire) -> Store:
    """An empty store of the configured `retain` and `profile`. Raises WireError if they are not valid."""
    fields.only(config, ("retain", "profile"), "config")
    named = fields.choice(config, "profile", tuple(COORDINATOR_PROFILES), default=NEWEST_COORDINATOR.name)
    return store.new_store(
        fields.integer(config, "retain", at_least=1, default=1), COORDINATOR_PROFILES[named]
    )


def step_store(state: Store, event: Wire) -> Step[Store]:
    """The step of one addition, request or shutdown. Raises WireError if the event is not legal."""
    kind = fields.kind_of(event, ("add", "latest", "shutdown"))
    if not state.open:
        raise WireError("the store is shut down; make a new one")
    if kind == "latest":
        return store.on_latest(state)
    if kind == "shutdown":
        return store.on_shutdown(state, fields.boolean(event, "discard"))
    checkpoint = fields.checkpoint(event)
    if any(entry.checkpoint == checkpoint for entry in state.entries):
        raise WireError(f"checkpoint {checkpoint} is in the store; ids are added once")
    return store.on_add(state, checkpoint, TYPES.index(fields.choice(event, "type", TYPES)))


def effect_of_store(state: Store, effect: Effect) -> dict[str, object]:
    """The effect in wire form: a deletion is `discard`; no latest checkpoint is null."""
    wire = fields.to_wire(effect)
    if wire["kind"] == "discard_checkpoint":
        wire["kind"] = "discard"
    if wire["kind"] == "latest" and wire["checkpoint"] == NONE:
        wire["checkpoint"] = None
    return wire


def observe_store(state: Store) -> dict[str, object]:
    """The observable state: `completed`."""
    return {"completed": [entry.checkpoint for entry in state.entries]}
