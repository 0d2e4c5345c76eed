"""A sink with a history of its messages. SINK-11 compares the committed transactions with the history.

Only the sink's state decides each step. The history is computed from the events and effects.
"""

from typing import NamedTuple

from model.events import Event, Step
from model.shared_events import CompleteNotification
from model.sink.events import FailingCompletion, FailingRestore, PreCommit, Restore, SnapshotRequest
from model.sink.two_phase_commit import PreCommitted, Sink
from model.steps import step_of


class SinkHistory(NamedTuple):
    """A sink, its pre-committed transactions with their checkpoints, and the newest completed checkpoint."""

    sink: Sink
    belongs: tuple[PreCommitted, ...]
    """The pre-committed transactions, ascending. A restore of an older checkpoint removes newer ones."""
    completed: int
    """The newest checkpoint of which the sink was notified, or from which it was restored; 0 for none."""


def on_sink(history: SinkHistory, event: Event) -> Step[SinkHistory]:
    """The step of the sink. The event and its effects are added to the history."""
    sink, effects, rules = step_of("sink")(history.sink, event)
    belongs, completed = history.belongs, history.completed
    if type(event) is SnapshotRequest:
        transactions = (one.transaction for one in effects if type(one) is PreCommit)
        belongs = tuple(sorted({*belongs, *(PreCommitted(event.checkpoint, one) for one in transactions)}))
    if isinstance(event, CompleteNotification | FailingCompletion | Restore | FailingRestore):
        completed = max(completed, event.checkpoint)
    if type(event) is Restore:
        belongs = tuple(one for one in belongs if one.checkpoint <= event.checkpoint)
    return Step(SinkHistory(sink, belongs, completed), effects, rules)
