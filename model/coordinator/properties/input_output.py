"""COORD-34 to COORD-36: failed inputs and outputs of the coordinator (metadata, storage locations, ids)."""

from model.coordinator.events import (
    AcknowledgeMessage,
    Complete,
    Fail,
    FailJob,
    IoFails,
    NotifyComplete,
    Rejected,
    TriggerRequest,
)
from model.coordinator.pending import Pending
from model.coordinator.properties.checkpoint_end import abort
from model.coordinator.properties.checkpoint_start import participants, request_of
from model.coordinator.properties.terms import emits, find_pending, last_missing
from model.coordinator.requests import Request
from model.coordinator.state import Coordinator, Io
from model.events import (
    EXCEPTION,
    FINALIZE_CHECKPOINT_FAILURE,
    ID,
    IO_EXCEPTION,
    LOCATION,
    METADATA,
    NONE,
    TRIGGER_CHECKPOINT_FAILURE,
    Effects,
    Event,
)
from model.gate.events import Abort
from model.registry import Registry
from model.store.store import CHECKPOINT, STOP

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
    """A planned failure of input or output happens once. Only a start draws an id or needs a location."""
    io = before.io
    if type(event) is IoFails:
        steps = (METADATA, LOCATION, ID)
        failing = Io(*(fails or event.what == step for step, fails in zip(steps, io, strict=True)))
        return after == before._replace(io=failing) and not effects
    writes = last_missing(before, event) is not None
    added = (after.io.location and not io.location) or (after.io.id and not io.id)
    return after.io.metadata == (io.metadata and not writes) and not added


@COORDINATOR_IO.step("COORD-35")
def coord_35(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If there is no storage location, the id is drawn and never used again, and nothing is triggered."""
    if not before.io.location or after.io.location:
        return True
    plan, lost = before.plan, before.next_id
    if after.next_id == lost or (find_pending(after, lost) is not None and after.next_id == lost + 1):
        return False
    if not is_alone(before, event) or before.io.id or type(event) is not TriggerRequest:
        return True
    after_id = before._replace(next_id=lost + 1, io=before.io._replace(location=False))
    if plan.profile.location_first:
        return is_refused(after_id, event, effects, after)
    tasks, requested = participants(before), request_of(before, event)
    begun = new(before, requested, tasks)
    expected, count = abort(before, event, begun, IO_EXCEPTION, after, before.failures, in_phase=False)
    deletions = (True,) * (plan.slow_cleaning and plan.profile.counts_empty_deletions)
    ended = after_id._replace(failures=count, deletions=(*before.deletions, *deletions))
    return effects == expected and after == ended


@COORDINATOR_IO.step("COORD-36")
def coord_36(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """If no id can be drawn, the request is rejected, and the counter does not change."""
    if not before.io.id or after.io.id or not is_alone(before, event) or type(event) is not TriggerRequest:
        return True
    return is_refused(before._replace(io=before.io._replace(id=False)), event, effects, after)


def is_alone(before: Coordinator, event: Event) -> bool:
    """Whether no other request waits or ends, so that a failed start belongs to this request."""
    return type(event) is TriggerRequest and event.type != STOP and not before.queue


def is_refused(known: Coordinator, event: TriggerRequest, effects: Effects, after: Coordinator) -> bool:
    """Whether the request is rejected, its failure counts in some generations, and nothing else changes."""
    profile, count = known.plan.profile, known.failures
    reason = IO_EXCEPTION if profile.names_failed_io else TRIGGER_CHECKPOINT_FAILURE
    expected: Effects = (Rejected(event.type, reason if profile.queues_requests else EXCEPTION),)
    if profile.counts_failed_io and event.type == CHECKPOINT and known.plan.tolerable_failures >= 0:
        counted = (*count.counted, NONE)
        fails = len(counted) > known.plan.tolerable_failures
        count = count._replace(counted=() if fails else counted)
        if fails:
            expected = (*expected, FailJob(IO_EXCEPTION))
    return effects == expected and after == known._replace(failures=count)


def new(before: Coordinator, requested: Request, tasks: tuple[bool, ...]) -> Pending:
    """A checkpoint that has just begun."""
    plan = before.plan
    return Pending(
        before.next_id, requested.type, requested.forced, before.now + plan.timeout, tasks,
        tuple(not takes for takes in tasks), (0,) * len(tasks), ((),) * len(tasks),
        (False,) * plan.coordinators, (False,) * plan.hooks,
    )  # fmt: skip
