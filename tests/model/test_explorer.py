"""The explorer sees every state once, finds the shortest run, and stops at its limit."""

import pytest

from model.checker.explore import TooManyStatesError, explore
from model.closed_models import closed_models
from model.events import Advance
from model.gate.aligned import Gate
from model.gate.environment.aligned import closed_gate
from model.gate.events import Barrier, Trigger
from model.properties import of_component
from model.registry import Property, Registry
from model.store.environment import closed_store


@pytest.mark.parametrize("closed model", closed_models(), ids=lambda closed: closed.name)
def closed_test_every_property_holds_in_every_small(closed):
    graph = explore(closed, of_component(closed.component))

    assert graph.violation is None
    assert graph.transition_count == len(graph.transitions) > 0


def test_the_store_of_two_ids_has_the_states_counted_by_hand():
    graph = explore(closed_store(retain=1, ids=2))

    # no entry; one entry of three types with either id; both ids in both orders with three types each
    kept = {tuple((entry.checkpoint, entry.type) for entry in state.entries) for state, _ in graph.nodes}
    assert () in kept
    assert graph.depth == 2
    assert graph.transition_count == 6 + 6 * 3


def test_a_violated_property_gives_the_shortest_run():
    def never_triggers_two(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return Trigger(2) not in effects

    closed = closed_gate(2, 3, counts_as_aligned=True, polled=True)
    graph = explore(closed, (Property("ALIGN-05", "gate", True, never_triggers_two),))

    assert graph.violation is not None
    assert graph.violation.rules == ("ALIGN-05",)
    # one channel ends, the other delivers the barrier: no shorter run triggers 2
    assert len(graph.violation.run) == 2
    assert graph.violation.run[-1] in (Barrier(0, 2), Barrier(1, 2))


def test_a_property_that_fails_at_the_start_needs_no_event():
    closed = closed_gate(1, 1, counts_as_aligned=True, polled=True)
    graph = explore(closed, (Property("ALIGN-19", "gate", False, lambda gate: gate.current > -1),))

    assert graph.violation is not None
    assert graph.violation.run == ()


def test_a_property_of_some_events_is_evaluated_for_them_and_true_of_all_others():
    registry = Registry("gate")
    registry.step("ALIGN-05", Barrier)(lambda *_: False)
    (known,) = registry.properties

    for event in (Barrier(0, 1), Advance(1)):
        is_named = type(event) is Barrier
        assert known.concerns(event) == is_named
        assert known.holds(None, event, (), None) != is_named
    closed = closed_gate(1, 1, counts_as_aligned=True, polled=True)
    assert explore(closed, (known,)).violation.run == (Barrier(0, 1),)


def test_more_states_than_allowed_is_an_error_that_states_it():
    with pytest.raises(TooManyStatesError, match="more than 10 states"):
        explore(closed_gate(3, 3, counts_as_aligned=True, polled=True), limit=10)
