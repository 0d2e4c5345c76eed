"""Closed models of the coordinator with slow deletions, which make requests wait (COORD-33)."""

from collections.abc import Iterator
from functools import partial

from model.checker.closed_model import ClosedModel
from model.coordinator.environment.subject_models import Offer, Scope, closed_subject, plan_of
from model.coordinator.events import Deleted, JobStatus, StoreFails
from model.coordinator.state import RUNNING, Coordinator
from model.events import BEFORE
from model.store.store import CHECKPOINT, SAVEPOINT


def ends_of_deletions(state: Coordinator, starts: int = 1) -> Iterator[Offer]:
    """The oldest deletion ends. The store may fail before the first id, the job may stop after `starts`."""
    if state.deletions:
        yield "Deleted", Deleted()
    if not state.fault and state.next_id == 1:
        yield "StoreFails", StoreFails(BEFORE)
    if state.next_id == starts + 1:
        yield "JobStatus", JobStatus(RUNNING if state.status != RUNNING else "RESTARTING")


def closed_cleaning(name: str) -> ClosedModel:
    """Slow deletions of checkpoints that were aborted, dropped, or not stored."""
    plan = plan_of(name, tasks=2)._replace(slow_cleaning=True)
    scope = Scope(ids=3, types=(CHECKPOINT, SAVEPOINT), handles=(0, 1), more=ends_of_deletions)
    return closed_subject("slow deletions", plan, scope)


def closed_cleaning_with_scheduler(name: str) -> ClosedModel:
    """Two deletions are under way, so a request waits when the scheduler starts (COORD-26)."""
    plan = plan_of(name, tasks=2)._replace(slow_cleaning=True, interval=10, initial_delay=10)
    flags = ((False, False), (True, False))
    scope = Scope(ids=3, flags=flags, handles=(1,), more=partial(ends_of_deletions, starts=2))
    return closed_subject("slow deletions and a scheduler", plan, scope)


def closed_cleaning_models() -> tuple[ClosedModel, ...]:
    """The closed models with slow deletions, in the generations that differ in them."""
    return (
        *(closed_cleaning(name) for name in ("2.3", "1.15")),
        *(closed_cleaning_with_scheduler(name) for name in ("1.20", "1.19")),
    )
