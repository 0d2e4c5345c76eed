"""The closed models of the transactional sink. spec/sink/SinkModel.tla specifies `closed_surrounded`.

The state of the environment of the other closed models has the id of the newest snapshot, the newest
completed id, and the number of ends of the task.
"""

from collections.abc import Iterator
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment
from model.events import NONE, Close, Crash, Event, Step
from model.history.sink import SinkHistory, on_sink
from model.sink import two_phase_commit
from model.sink.events import (
    AbortNotification,
    AbortTransaction,
    CompleteNotification,
    FailingCompletion,
    FailingRestore,
    Finish,
    Restore,
    SnapshotRequest,
    WriteRequest,
)
from model.sink.two_phase_commit import NEWEST_SINK, SINK_PROFILES, Sink, SinkProfile
from model.steps import step_of


def closed_sink(ids: int, ends: int, profile: SinkProfile = NEWEST_SINK) -> ClosedModel:
    """A sink whose snapshots have growing ids. A notified or restored checkpoint is complete from then on.

    No restore takes a checkpoint older than the newest completed one. The task ends at most `ends` times: by
    a crash, by a failed commit, or at its regular end.
    """

    def allows(environment: Environment, event: Event) -> Environment | None:
        taken, completed, ended = environment
        if type(event) is SnapshotRequest:
            return (event.checkpoint, completed, ended) if event.checkpoint > taken else None
        if type(event) is CompleteNotification:
            return (taken, max(completed, event.checkpoint), ended) if event.checkpoint <= taken else None
        if type(event) is FailingCompletion:
            fits = event.checkpoint <= taken and ended < ends
            return (taken, max(completed, event.checkpoint), ended + 1) if fits else None
        if type(event) is Restore or type(event) is FailingRestore:
            if event.checkpoint < completed > 0:
                return None
            restored = max(event.checkpoint, completed)
            return (restored if type(event) is Restore else taken, restored, ended)
        closes = type(event) is Finish and not profile.waits_at_the_end
        if type(event) is Crash or type(event) is Close or closes:
            return (taken, completed, ended + 1) if ended < ends else None
        return environment

    older = "" if profile is NEWEST_SINK else f", {profile.name}"
    return ClosedModel(
        f"sink, ids to {ids}, {ends} ends{older}",
        "sink",
        two_phase_commit.new_sink(profile),
        (0, 0, 0),
        lambda state: _offers(state, ids),
        allows,
        step_of("sink"),
    )


def closed_sink_history(ids: int, ends: int) -> ClosedModel:
    """The sink of `closed_sink` with a history of its messages."""
    inner = closed_sink(ids, ends)
    return inner._replace(
        name=f"{inner.name}, with its history",
        component="sink_history",
        state=SinkHistory(inner.state, (), 0),
        offers=lambda history: inner.offers(history.sink),
        step=on_sink,
        toured=False,
    )


def _offers(state: Sink, ids: int) -> Iterator[tuple[str, Event]]:
    if not state.running:
        for checkpoint in (NONE, *(taken.checkpoint for taken in state.snapshots)):
            yield "Restore", Restore(checkpoint)
        for taken in state.snapshots:
            for filed in taken.pending:
                yield "RestoreFailing", FailingRestore(taken.checkpoint, filed.transaction)
        return
    if not state.finished:
        yield "Write", WriteRequest(0)
        yield "Finish", Finish()
    for checkpoint in range(1, ids + 1):
        yield "Snapshot", SnapshotRequest(checkpoint)
        yield "NotifyComplete", CompleteNotification(checkpoint)
        yield "NotifyAbort", AbortNotification(checkpoint)
        for filed in state.pending:
            if filed.checkpoint <= checkpoint:
                yield "NotifyCompleteFailing", FailingCompletion(checkpoint, filed.transaction)
    yield "Close", Close()
    yield "Crash", Crash()


class CompleteCheckpoint(NamedTuple):
    """The coordinator completes a checkpoint. The notification is a later event, or is lost."""

    checkpoint: int
    kind: str = "complete"


class Surrounded(NamedTuple):
    """A sink, the state of the coordinator, and the transactions that the external system has rolled back."""

    sink: Sink
    completed: int
    """The newest completed id; 0 before the first."""
    ends: int
    """Number of times that the task has ended."""
    withdrawn: tuple[int, ...]
    """The aborted transactions, ascending."""


def closed_surrounded(ids: int, ends: int, profile: SinkProfile = NEWEST_SINK) -> ClosedModel:
    """The closed model of SinkModel.tla. Checkpoints complete at any time. A restore takes the newest one."""
    counted = (
        (Crash, Close, FailingCompletion)
        if profile.waits_at_the_end
        else (Crash, Close, FailingCompletion, Finish)
    )

    def offers(state: Surrounded) -> Iterator[tuple[str, Event]]:
        taken = [snapshot.checkpoint for snapshot in state.sink.snapshots]
        for checkpoint in taken:
            if checkpoint > state.completed:
                yield "Complete", CompleteCheckpoint(checkpoint)
        for action, event in _offers(state.sink, ids):
            match event:
                case SnapshotRequest():
                    is_possible = event.checkpoint > max(0, state.completed, *taken)
                case CompleteNotification() | FailingCompletion():
                    is_possible = event.checkpoint <= state.completed
                case Restore() | FailingRestore():
                    is_possible = max(event.checkpoint, 0) == state.completed
                case _:
                    is_possible = True
            if is_possible and (type(event) not in counted or state.ends < ends):
                yield action, event

    def step(state: Surrounded, event: Event) -> Step[Surrounded]:
        if type(event) is CompleteCheckpoint:
            return Step(state._replace(completed=event.checkpoint), (), ())
        taken = of_sink(state.sink, event)
        gone = {effect.transaction for effect in taken.effects if type(effect) is AbortTransaction}
        ended = state.ends + (type(event) in counted)
        withdrawn = tuple(sorted({*state.withdrawn, *gone}))
        return taken._replace(state=Surrounded(taken.state, state.completed, ended, withdrawn))

    of_sink = step_of("sink")
    return ClosedModel(
        f"sink and what surrounds it, ids to {ids}, {ends} ends, {profile!r}",
        "surrounded sink",
        Surrounded(two_phase_commit.new_sink(profile), 0, 0, ()),
        (),
        offers,
        lambda environment, event: environment,
        step,
        toured=False,
    )


def closed_sink_models() -> tuple[ClosedModel, ...]:
    """The closed models of the sink. Every rule of the sink fires in one of them."""
    return (
        closed_sink(3, 1),
        closed_sink(2, 2),
        closed_sink(2, 1, SINK_PROFILES["1.9"]),
        closed_sink_history(3, 1),
    )
