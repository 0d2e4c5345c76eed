"""If every path only compares ids, only their order counts, and a search with few ids holds for every id."""

import pytest

from model.checker.bounds import bounded_gate, channels_of_gate
from model.checker.compiled.columns import explore_columns
from model.checker.compiled.moves import program_of
from model.checker.compiled.program import Node
from model.checker.compiled.renaming import NotInvariantError, for_every_id
from model.checker.compiled.symmetry import canonical, reduced
from model.checker.explore import explore
from model.events import Step
from model.gate.aligned import Gate
from model.gate.events import Barrier, Trigger
from model.properties import of_component
from model.registry import Property

IDS = ("current", "environment", "checkpoint")
GATE = bounded_gate(2, 7)


def test_the_number_of_states_does_not_depend_on_the_bound_of_ids():
    program = for_every_id(program_of(*GATE, of_component("gate")), IDS)
    nodes = explore(GATE.closed, keep_transitions=False).nodes
    counted = explore_columns(program)

    assert counted.states == len({canonical(program, Node(*node)) for node in nodes}) == 28
    assert counted.violation is None
    more = explore(bounded_gate(2, 9).closed, keep_transitions=False).nodes
    wider = program._replace(layout=program_of(*bounded_gate(2, 9)).layout)
    assert len({canonical(wider, Node(*node)) for node in more}) == 28
    assert explore_columns(reduced(program, channels_of_gate(2))).states == 16


def test_the_shortest_run_has_ids_of_its_own():
    def never_leaves_one_for_another(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return before.current <= 0 or before.pending or after.current == before.current or not after.pending

    closed, bounds = bounded_gate(2, 7)
    wrong = (Property("ALIGN-05", "gate", True, never_leaves_one_for_another),)
    found = explore_columns(for_every_id(program_of(closed, bounds, wrong), IDS))
    by_explorer = explore(closed, wrong).violation

    assert found.violation is not None
    assert by_explorer is not None
    assert len(found.violation.run) == len(by_explorer.run)
    assert {event.checkpoint for event in found.violation.run} == {1, 2}


def test_too_few_ids_are_refused():
    with pytest.raises(NotInvariantError, match="3 ids in a state, events need 7"):
        for_every_id(program_of(*bounded_gate(2, 4)), IDS)


def test_a_step_that_counts_with_ids_is_refused():
    def step(gate: Gate, event: object) -> Step:
        if type(event) is Barrier and event.checkpoint > gate.current + 1:
            return Step(gate, (), ("ALIGN-04",))
        return GATE.closed.step(gate, event)

    with pytest.raises(NotInvariantError, match="more with ids than to compare them"):
        for_every_id(program_of(GATE.closed._replace(step=step), GATE.bounds), IDS)


def test_a_property_of_one_id_is_refused():
    def never_triggers_two(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return Trigger(2) not in effects

    wrong = (Property("ALIGN-05", "gate", True, never_triggers_two),)
    with pytest.raises(NotInvariantError, match="more with ids than to compare them"):
        for_every_id(program_of(*GATE, wrong), IDS)
