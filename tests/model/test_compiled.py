"""Compiled kernels find the graph of the Python explorer, and TLC's counts of states and effects."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.components.registry import projection_of
from model.checker.bounds import FieldBounds, bounded_gate
from model.checker.compiled.columns import columns_of, explore_columns
from model.checker.compiled.moves import program_of
from model.checker.compiled.program import Move, Node, all_words
from model.checker.compiled.search import Compiled
from model.checker.decision_trees import leaves
from model.checker.explore import TooManyStatesError, explore
from model.checker.shapes import OutsideError, UndeclaredError
from model.gate.aligned import Gate
from model.gate.events import Barrier, Trigger
from model.gate.profiles import PROFILES
from model.properties import of_component
from model.registry import Property
from spec.manifest import load_manifest

GATES = (
    bounded_gate(1, 3),
    bounded_gate(2, 3, counts_as_aligned=False),
    bounded_gate(3, 2, polled=False),
    bounded_gate(2, 2, injects=True),
    *(
        bounded_gate(2, 2, counts_as_aligned=False, polled=False, profile=PROFILES[name])
        for name in ("flink-1.7", "flink-1.9", "flink-1.11")
    ),
)
TWO = bounded_gate(2, 4)


def named(bounded):
    return bounded.closed.name


@pytest.fixture(scope="module")
def two():
    """A gate of two channels with every property."""
    return program_of(*TWO, of_component("gate"), all_words)


@pytest.mark.parametrize("bounded", GATES, ids=named)
def test_a_column_kernel_sees_the_graph_of_the_explorer(bounded):
    counted = explore_columns(program_of(*bounded))

    graph = explore(bounded.closed, keep_transitions=False)
    assert counted.states == len(graph.nodes)
    assert counted.transitions == graph.transition_count
    assert counted.depth == graph.depth
    assert counted.violation is None


@pytest.mark.parametrize("name", ["gate_polled_2", "gate_handler_2_ends_abort"])
def test_states_with_their_effects_are_as_many_as_tlc_counts(name):
    pinned = load_manifest()[name]
    closed = projection_of(pinned).closed_model
    counted = explore_columns(program_of(closed, TWO.bounds, words=all_words))

    assert counted.labelled == pinned.states
    assert counted.depth + 1 == pinned.depth  # TLC counts states, not events


def test_the_compiled_search_finds_the_same_rules_states_and_labels():
    bounded = bounded_gate(1, 3)
    program = program_of(*bounded, of_component("gate"), all_words)
    found = Compiled(program).explore()

    graph = explore(bounded.closed, of_component("gate"), keep_transitions=False)
    counted = explore_columns(program)
    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)
    assert (found.labelled, found.depth) == (counted.labelled, counted.depth)
    assert found.rules == graph.rules
    assert found.violation is None
    with pytest.raises(TooManyStatesError, match="more than 5 states"):
        Compiled(program).explore(limit=5)


def test_a_violated_property_gives_the_shortest_run():
    def never_triggers_two_after_one(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return before.current != 1 or Trigger(2) not in effects

    closed, bounds = bounded_gate(1, 2)
    wrong = (Property("ALIGN-05", "gate", True, never_triggers_two_after_one),)
    program = program_of(closed, bounds, wrong)
    found = Compiled(program).explore()

    assert found.violation == explore(closed, wrong).violation
    assert found.violation is not None
    assert found.violation.run == (Barrier(0, 1), Barrier(0, 2))
    assert explore_columns(program).violation == found.violation


def test_a_property_that_needs_a_value_is_evaluated_in_python():
    def never_triggers_two_after_one(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return {1: Trigger(2) not in effects}.get(before.current, True)

    closed, bounds = bounded_gate(1, 2)
    wrong = (Property("ALIGN-05", "gate", True, never_triggers_two_after_one),)
    program = program_of(closed, bounds, wrong)
    counted = explore_columns(program)

    assert program.interpreted == wrong
    assert counted.violation == explore(closed, wrong).violation
    assert Compiled(program).explore().violation == counted.violation


def test_z3_leaves_no_property_of_the_gate_to_evaluate_at_run_time(two):
    moves = [move for offer in two.offers[0] for move in leaves(offer.moves) if isinstance(move, Move)]

    assert len(two.properties) == len(of_component("gate"))
    assert two.interpreted == ()
    assert not any(move.broken for move in moves)


def test_packing_keeps_every_state_apart(two):
    program = two
    nodes = {Node(*node) for node in explore(TWO.closed).nodes}
    packed = {program.layout.pack(node) for node in nodes}

    assert len(packed) == len(nodes)
    assert {program.layout.unpack(words) for words in packed} == nodes
    assert program.layout.bits == 15  # mark, 3 for the current id, 5 flags, 3 for each channel's last id


def test_a_kernel_is_sent_to_a_process_as_text(two):
    kernel = columns_of(two)
    arrived = pickle.loads(pickle.dumps(kernel))

    for column, same in zip(
        arrived.successors(kernel.start).columns, kernel.successors(kernel.start).columns, strict=True
    ):
        assert column.tolist() == same.tolist()


def test_an_int_without_bounds_is_named():
    without = {name: interval for name, interval in TWO.bounds.intervals.items() if name != "current"}

    with pytest.raises(UndeclaredError, match="current"):
        program_of(TWO.closed, FieldBounds(without))


def test_too_narrow_bounds_are_an_error():
    narrow = TWO.bounds._replace(intervals={**TWO.bounds.intervals, "environment": (0, 3)})

    with pytest.raises(OutsideError, match="environment"):
        program_of(TWO.closed, narrow)


@pytest.mark.parametrize("mutant", ["model-gate-late-barrier-kept", "model-gate-takes-repeats"])
def test_a_mutant_is_found_as_soon_as_the_explorer_finds_it(mutant):
    script = Path(__file__).with_name("mutated_search.py")
    done = subprocess.run([sys.executable, script, mutant], capture_output=True, text=True, check=True)
    lengths = [json.loads(line) for line in done.stdout.splitlines()]

    assert len(lengths) == 3
    assert any(by_explorer is not None for by_explorer, _ in lengths)
    assert all(by_explorer == by_kernel for by_explorer, by_kernel in lengths)
