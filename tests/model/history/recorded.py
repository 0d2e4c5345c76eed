"""COORD-07 and SINK-08 over a recorded history: what was sent and received, not what a component keeps."""

from typing import NamedTuple

from model.checker.closed_model import ClosedModel
from model.coordinator.environment.plain import closed_coordinator
from model.coordinator.events import AcknowledgeMessage, Complete, CoordinatorRestart, TriggerTask
from model.coordinator.state import RUNNING, Coordinator
from model.events import Effects, Event, Step
from model.registry import Registry
from model.shared_events import Abort
from model.sink.environment import Surrounded, closed_surrounded
from model.sink.events import Commit, FailingRestore, PreCommit, Restore, SnapshotRequest
from model.sink.two_phase_commit import PreCommitted
from model.steps import step_of


class Heard(NamedTuple):
    """A task acknowledged a checkpoint after its trigger."""

    task: int
    checkpoint: int


class Recorded(NamedTuple):
    """A coordinator and its history in the present attempt of the job. The history decides nothing."""

    coordinator: Coordinator
    triggered: tuple[int, ...]
    """The ids that were triggered and have not ended, ascending."""
    heard: tuple[Heard, ...]
    """Who acknowledged them, ascending."""


COORDINATOR_HISTORY = Registry("coordinator history")


def on_recorded(recorded: Recorded, event: Event) -> Step[Recorded]:
    """The step of the coordinator, and what it sent and received."""
    taken = step_of("coordinator")(recorded.coordinator, event)
    ended = {one.checkpoint for one in taken.effects if isinstance(one, Complete | Abort)}
    started = {one.checkpoint for one in taken.effects if type(one) is TriggerTask}
    triggered = tuple(sorted({*recorded.triggered, *started} - ended))
    if type(event) is CoordinatorRestart or taken.state.status != RUNNING:
        triggered = ()
    heard = tuple(sorted({one for one in heard_with(recorded, event) if one.checkpoint in triggered}))
    return taken._replace(state=Recorded(taken.state, triggered, heard))


def heard_with(recorded: Recorded, event: Event) -> tuple[Heard, ...]:
    """Who has acknowledged, with this event."""
    if type(event) is not AcknowledgeMessage or event.checkpoint not in recorded.triggered:
        return recorded.heard
    return (*recorded.heard, Heard(event.task, event.checkpoint))


@COORDINATOR_HISTORY.step("COORD-07")
def coord_07_history(before: Recorded, event: Event, effects: Effects, after: Recorded) -> bool:
    """What completes was triggered in this attempt, and every task has acknowledged it since."""
    tasks = range(len(before.coordinator.plan.sources))
    heard = heard_with(before, event)
    return all(
        one.checkpoint in before.triggered and all(Heard(task, one.checkpoint) in heard for task in tasks)
        for one in effects
        if type(one) is Complete
    )


@COORDINATOR_HISTORY.state("COORD-07")
def coord_07_awaits(recorded: Recorded) -> bool:
    """A checkpoint that has not ended awaits a task."""
    tasks = range(len(recorded.coordinator.plan.sources))
    return all(
        any(Heard(task, checkpoint) not in recorded.heard for task in tasks)
        for checkpoint in recorded.triggered
    )


def closed_recorded(tasks: int, ids: int) -> ClosedModel:
    """The same coordinator with what it sent and received."""
    inner = closed_coordinator(tasks, ids, max_concurrent=2, retain=1)
    return inner._replace(
        name=f"coordinator of {tasks} tasks, ids to {ids}, with its history",
        component="coordinator history",
        state=Recorded(inner.state, (), ()),
        offers=lambda recorded: inner.offers(recorded.coordinator),
        step=on_recorded,
        toured=False,
        portions=None,
    )


class RecordedSink(NamedTuple):
    """A sink with its coordinator, and what was pre-committed under which checkpoint: it decides nothing."""

    surrounded: Surrounded
    belongs: tuple[PreCommitted, ...]
    """Ascending; a restore of an older checkpoint undoes what is newer."""


SINK_HISTORY = Registry("sink history")


def closed_recorded_sink(ids: int, ends: int) -> ClosedModel:
    """The closed sink of SinkHistory.tla."""
    inner = closed_surrounded(ids, ends)

    def step(recorded: RecordedSink, event: Event) -> Step[RecordedSink]:
        taken = inner.step(recorded.surrounded, event)
        belongs = recorded.belongs
        if type(event) is SnapshotRequest:
            done = (one.transaction for one in taken.effects if type(one) is PreCommit)
            belongs = tuple(sorted((*belongs, *(PreCommitted(event.checkpoint, one) for one in done))))
        if type(event) is Restore:
            belongs = tuple(one for one in belongs if one.checkpoint <= taken.state.completed)
        return taken._replace(state=RecordedSink(taken.state, belongs))

    return inner._replace(
        name=f"{inner.name}, with its history",
        component="sink history",
        state=RecordedSink(inner.state, ()),
        offers=lambda recorded: inner.offers(recorded.surrounded),
        step=step,
    )


@SINK_HISTORY.step("SINK-08")
def sink_08_history(before: RecordedSink, event: Event, effects: Effects, after: RecordedSink) -> bool:
    """Only what a completed checkpoint or an older one pre-committed is visible; each is committed once."""
    commits = [one.transaction for one in effects if type(one) is Commit]
    again = type(event) is Restore or type(event) is FailingRestore
    once = again or not set(commits) & set(before.surrounded.sink.committed)
    covered = {one.transaction for one in after.belongs if one.checkpoint <= after.surrounded.completed}
    visible = {*commits, *after.surrounded.sink.committed}
    return once and visible <= covered and len(set(commits)) == len(commits)


@SINK_HISTORY.state("SINK-08")
def sink_08_belongs_to_one(recorded: RecordedSink) -> bool:
    """A transaction is pre-committed under one checkpoint."""
    transactions = [one.transaction for one in recorded.belongs]
    return len(set(transactions)) == len(transactions)
