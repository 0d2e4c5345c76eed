"""COORD-32 and SINK-11 hold in closed models, and apply to many of their steps; broken steps violate them."""

from typing import Any

import pytest

from model.checker.closed_model import ClosedModel
from model.checker.explore import explore
from model.coordinator import completion, coordinator, pending
from model.coordinator.environment.whole_coordinator import closed_coordinator_history
from model.coordinator.events import Complete
from model.events import Step
from model.properties import of_component
from model.shared_events import CompleteNotification
from model.sink import two_phase_commit
from model.sink.environment import closed_sink_history
from model.sink.events import Commit


def broken(closed: ClosedModel) -> set[str]:
    """The properties that at least one step or state violates."""
    found: set[str] = set()
    graph = explore(closed)
    for edge in graph.transitions:
        before, after = graph.nodes[edge.source][0], edge.step.state
        for one in of_component(closed.component):
            step = (before, edge.event, edge.step.effects, after)
            if not (one.holds(*step) if one.over_steps else one.holds(after)):
                found.add(one.name)
    return found


@pytest.mark.parametrize(
    ("closed", "meant", "least"),
    [(closed_coordinator_history(2, 2), Complete, 1000), (closed_sink_history(2, 1), Commit, 100)],
)
def test_the_rules_hold_and_concern_many_steps(closed, meant, least):
    assert broken(closed) == set()
    effects = [edge.step.effects for edge in explore(closed).transitions]
    assert sum(any(type(one) is meant for one in some) for some in effects) > least


@pytest.mark.parametrize(("is_whole", "name"), [(any, "coord_32"), (lambda flags: False, "coord_32_awaits")])
def test_a_coordinator_that_counts_wrongly_is_found(is_whole, name, monkeypatch):
    for module in (completion, coordinator, pending):
        if hasattr(module, "is_fully_acknowledged"):
            monkeypatch.setattr(module, "is_fully_acknowledged", lambda one: is_whole(one.acknowledged))
    assert name in broken(closed_coordinator_history(2, 2))


def test_a_sink_that_commits_a_newer_transaction_is_found():
    """The sink treats a notification as that of the next id, whose checkpoint is not complete."""
    closed = closed_sink_history(2, 1)

    def early(state: Any, event: Any) -> Step[Any]:
        if type(event) is not CompleteNotification:
            return closed.step(state, event)
        taken = closed.step(state, event._replace(checkpoint=event.checkpoint + 1))
        return taken._replace(state=taken.state._replace(completed=max(state.completed, event.checkpoint)))

    assert "sink_11" in broken(closed._replace(step=early))


def test_a_sink_that_uses_an_id_twice_is_found(monkeypatch):
    begin = two_phase_commit.begin

    def again(sink: Any) -> Any:
        return begin(sink._replace(next_transaction=sink.next_transaction - 1))

    monkeypatch.setattr(two_phase_commit, "begin", again)
    assert "sink_11_belongs_to_one" in broken(closed_sink_history(2, 1))
