"""COORD-07 and SINK-08 over a recorded history: they hold in closed models, and broken steps violate them."""

from typing import Any

import pytest

from model.checker.closed_model import ClosedModel
from model.checker.explore import explore
from model.coordinator import completion, coordinator, pending
from model.coordinator.events import Complete
from model.events import Step
from model.registry import Registry
from model.shared_events import CompleteNotification
from model.sink import two_phase_commit
from model.sink.events import Commit
from tests.model.history.recorded import (
    COORDINATOR_HISTORY,
    SINK_HISTORY,
    closed_recorded,
    closed_recorded_sink,
)


def broken(closed: ClosedModel, registry: Registry, meant: type) -> tuple[set[str], int]:
    """The properties that some step violates, and the number of steps with an effect that they are about."""
    graph = explore(closed)
    found: set[str] = set()
    for edge in graph.transitions:
        before, after = graph.nodes[edge.source][0], edge.step.state
        for one in registry.properties:
            step = (before, edge.event, edge.step.effects, after)
            if not (one.holds(*step) if one.over_steps else one.holds(after)):
                found.add(one.name)
    return found, sum(any(type(one) is meant for one in edge.step.effects) for edge in graph.transitions)


def test_what_completes_was_acknowledged_by_every_task_in_this_attempt():
    found, completions = broken(closed_recorded(2, 2), COORDINATOR_HISTORY, Complete)
    assert found == set()
    assert completions > 1000


def test_what_is_committed_belongs_to_a_completed_checkpoint():
    found, commits = broken(closed_recorded_sink(2, 1), SINK_HISTORY, Commit)
    assert found == set()
    assert commits > 100


@pytest.mark.parametrize(
    ("is_whole", "name"), [(any, "coord_07_history"), (lambda flags: False, "coord_07_awaits")]
)
def test_a_coordinator_that_counts_wrongly_is_found(is_whole, name, monkeypatch):
    for module in (completion, coordinator, pending):
        if hasattr(module, "is_fully_acknowledged"):
            monkeypatch.setattr(module, "is_fully_acknowledged", lambda one: is_whole(one.acknowledged))
    assert name in broken(closed_recorded(2, 2), COORDINATOR_HISTORY, Complete)[0]


def test_a_sink_that_commits_a_newer_transaction_is_found():
    """Its coordinator names the next id, which has not completed."""
    closed = closed_recorded_sink(2, 1)

    def early(state: Any, event: Any) -> Step[Any]:
        shifted = type(event) is CompleteNotification
        return closed.step(state, event._replace(checkpoint=event.checkpoint + 1) if shifted else event)

    assert "sink_08_history" in broken(closed._replace(step=early), SINK_HISTORY, Commit)[0]


def test_a_sink_that_uses_an_id_twice_is_found(monkeypatch):
    begin = two_phase_commit.begin

    def again(sink: Any) -> Any:
        return begin(sink._replace(next_transaction=sink.next_transaction - 1))

    monkeypatch.setattr(two_phase_commit, "begin", again)
    assert broken(closed_recorded_sink(2, 1), SINK_HISTORY, Commit)[0]
