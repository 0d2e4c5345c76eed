"""Channels are interchangeable in a search only if z3 has proved that no step depends on their numbers."""

import pytest

from model.checker.bounds import bounded_coordinator, bounded_gate, channels_of_gate, tasks_of_coordinator
from model.checker.compiled.columns import explore_columns
from model.checker.compiled.moves import program_of
from model.checker.compiled.program import Node, all_words
from model.checker.compiled.search import Compiled
from model.checker.compiled.symmetry import NotSymmetricError, canonical, reduced
from model.checker.explore import explore
from model.coordinator.events import AcknowledgeMessage
from model.coordinator.state import Coordinator
from model.events import Event, Step
from model.gate.aligned import Gate
from model.gate.events import Barrier, EndOfPartition, Trigger
from model.properties import of_component
from model.registry import Property

GATE = bounded_gate(2, 3)
CHANNELS = channels_of_gate(2)


def test_the_search_sees_one_state_of_each_orbit():
    bounded = bounded_gate(3, 2, polled=False)
    program = reduced(program_of(*bounded), channels_of_gate(3))
    nodes = explore(bounded.closed, keep_transitions=False).nodes

    assert explore_columns(program).states == len({canonical(program, Node(*node)) for node in nodes})


def test_tasks_change_places_in_every_shape_of_a_coordinator():
    bounded = bounded_coordinator(3, 1)
    program = program_of(*bounded, of_component("coordinator"))
    fewer = reduced(program, tasks_of_coordinator(3))
    nodes = explore(bounded.closed, keep_transitions=False).nodes
    orbits = {canonical(fewer, Node(*node)) for node in nodes}

    assert len(program.layout.shapes) > 1
    assert explore_columns(fewer).states == Compiled(fewer).explore().states == len(orbits) < len(nodes)


def test_a_guard_that_prefers_a_task_is_refused():
    closed, bounds = bounded_coordinator(3, 1)

    def allows(environment: tuple, event: Event) -> tuple | None:
        forbidden = type(event) is AcknowledgeMessage and event.task == 2
        return None if forbidden else closed.allows(environment, event)

    with pytest.raises(
        NotSymmetricError, match=r"tasks 1 and 2 can be distinguished by Acknowledge|are not alike"
    ):
        reduced(program_of(closed._replace(allows=allows), bounds), tasks_of_coordinator(3))


def test_the_source_is_distinguished_from_the_other_tasks():
    every = tasks_of_coordinator(3)._replace(first=0, size=3)
    with pytest.raises(NotSymmetricError):
        reduced(program_of(*bounded_coordinator(3, 1)), every)


def test_a_step_whose_next_state_prefers_a_task_is_refused():
    """The step forgets which tasks have acknowledged: the next state has another shape, or another field."""
    closed, bounds = bounded_coordinator(3, 1)

    def step(state: Coordinator, event: Event) -> Step[Coordinator]:
        after = closed.step(state, event)
        if type(event) is AcknowledgeMessage and event.task == 1 and after.state.pending:
            return Step(state, after.effects, after.rules)
        return after

    with pytest.raises(
        NotSymmetricError, match=r"tasks 1 and 2 can be distinguished by Acknowledge|are not alike"
    ):
        reduced(program_of(closed._replace(step=step), bounds), tasks_of_coordinator(3))


def test_the_shortest_run_is_one_of_the_model_itself():
    def never_triggers_two(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return before.current != 1 or before.pending or Trigger(2) not in effects

    wrong = (Property("ALIGN-05", "gate", True, never_triggers_two),)
    found = explore_columns(reduced(program_of(*GATE, wrong), CHANNELS))
    by_explorer = explore(GATE.closed, wrong).violation

    assert found.violation is not None
    assert by_explorer is not None
    assert len(found.violation.run) == len(by_explorer.run)
    state, environment = GATE.closed.state, GATE.closed.environment
    for event in found.violation.run:
        assert environment is not None
        before, environment = state, GATE.closed.allows(environment, event)
        step = GATE.closed.step(state, event)
        state = step.state
    assert not never_triggers_two(before, event, step.effects, state)


def test_a_step_that_prefers_a_channel_is_refused():
    def step(gate: Gate, event: object) -> Step:
        if event == EndOfPartition(1):
            return Step(gate, (), ("ALIGN-13",))
        return GATE.closed.step(gate, event)

    with pytest.raises(NotSymmetricError, match=r"are not alike|can be distinguished"):
        reduced(program_of(GATE.closed._replace(step=step), GATE.bounds), CHANNELS)


def test_a_guard_that_prefers_a_channel_is_refused():
    def allows(last: tuple, event: object) -> tuple | None:
        if type(event) is Barrier and event.channel == 0 and event.checkpoint == 2:
            return None
        return GATE.closed.allows(last, event)

    with pytest.raises(NotSymmetricError, match="channels 0 and 1 can be distinguished by Barrier"):
        reduced(program_of(GATE.closed._replace(allows=allows), GATE.bounds), CHANNELS)


def test_a_property_of_one_channel_is_refused():
    def never_blocks_the_first(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return not after.blocked[0]

    wrong = (Property("ALIGN-05", "gate", True, never_blocks_the_first),)
    with pytest.raises(NotSymmetricError, match="can be distinguished"):
        reduced(program_of(*GATE, wrong), CHANNELS)


def test_effects_name_channels_in_their_order():
    with pytest.raises(NotSymmetricError, match="does not record the effects"):
        reduced(program_of(*GATE, of_component("gate"), all_words), CHANNELS)
