"""The closed model of the transactional sink; spec/sink/SinkModel.tla is the same with one coordinator.

The environment stores the newest snapshot, the newest completed id, and how often the task has ended.
"""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import NONE, Close, Crash, Event
from model.sink import two_phase_commit
from model.sink.events import (
    AbortNotification,
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
    """Snapshots with growing ids; only completed ones are notified; restores take the latest completed one.

    A notification may be lost; the restore is from that completed checkpoint all the same. The task ends at
    most `ends` times: by a crash, by a failing commit, or at its regular end."""

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


def closed_sink_models() -> tuple[ClosedModel, ...]:
    """The closed models: every rule of the sink fires in one of them."""
    return closed_sink(3, 1), closed_sink(2, 2), closed_sink(2, 1, SINK_PROFILES["1.9"])
