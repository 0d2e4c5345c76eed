"""What a sink has received and sent. SINK-11 compares the committed transactions with it.

The history decides nothing: the sink alone takes each step. It is computed from events and effects.
"""

from typing import NamedTuple

from model.events import Event, Step
from model.shared_events import CompleteNotification
from model.sink.events import FailingCompletion, FailingRestore, PreCommit, Restore, SnapshotRequest
from model.sink.two_phase_commit import PreCommitted, Sink
from model.steps import step_of


class SinkHistory(NamedTuple):
    """A sink, what it has pre-committed for which checkpoint, and the newest one known to be complete."""

    sink: Sink
    belongs: tuple[PreCommitted, ...]
    """Ascending; a restore of an older checkpoint undoes what is newer."""
    completed: int
    """The newest checkpoint that the sink was notified of, or restored from; 0: none."""


def on_sink(history: SinkHistory, event: Event) -> Step[SinkHistory]:
    """The step of the sink; its effects and the event join the history."""
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
