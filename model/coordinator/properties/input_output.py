"""COORD-34: the coordinator fails when it writes the metadata of a complete checkpoint."""

from model.coordinator.events import (
    AcknowledgeMessage,
    Complete,
    Fail,
    IoFails,
    NotifyComplete,
)
from model.coordinator.properties.terms import emits, find_pending, last_missing
from model.coordinator.state import Coordinator, Io
from model.events import FINALIZE_CHECKPOINT_FAILURE, METADATA, Effects, Event
from model.gate.events import Abort
from model.registry import Registry

COORDINATOR_IO = Registry("coordinator")


@COORDINATOR_IO.step("COORD-34")
def coord_34(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A checkpoint whose metadata cannot be written is aborted, and nothing is stored or subsumed."""
    done = last_missing(before, event)
    if done is None or not before.io.metadata:
        return True
    if any(type(effect) in (Complete, NotifyComplete) for effect in effects):
        return False
    others = all(
        find_pending(after, other.checkpoint) is not None
        for other in before.pending
        if other.checkpoint != done.checkpoint
    )
    error = emits(effects, Fail("CheckpointException")) == (type(event) is AcknowledgeMessage)
    aborted = emits(effects, Abort(done.checkpoint, FINALIZE_CHECKPOINT_FAILURE))
    kept = after.store == before.store and after.unseen == before.unseen and after.fault == before.fault
    return aborted and error and others and kept and after.pause_ends == before.pause_ends


@COORDINATOR_IO.step("COORD-34")
def coord_34_once(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A planned failure of input or output happens once."""
    if type(event) is IoFails:
        return after == before._replace(io=Io(before.io.metadata or event.what == METADATA)) and not effects
    writes = last_missing(before, event) is not None
    return after.io == Io(before.io.metadata and not writes)
