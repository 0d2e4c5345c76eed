"""For each path of a gate's step function there is a directed case, or z3 proves that no run takes it."""

import pickle
from itertools import chain

import pytest

from conformance.cases.directed import directed_at, directed_cases, every_gate
from conformance.drive.oracle import Oracle
from conformance.parts.released import Order
from model.checker.explore import explore
from model.checker.reachable import never_taken
from model.checker.relation import relations_of
from model.gate.environment.aligned import closed_gate
from model.gate.environment.unrestricted_channels import closed_free_models
from model.gate.profiles import PROFILES
from model.gate.proofs.path_cases import gate_path_cases

CHEAP = [gate for gate in every_gate() if gate[0] != "alternating" and gate[1] in ("flink-1.7", "flink-1.11")]


def test_every_mode_has_its_profiles():
    assert len(list(every_gate())) == 7 + 7 + 5 + 5


@pytest.mark.parametrize(("mode", "profile"), CHEAP)
def test_no_path_is_left_without_a_case_or_a_proof(mode, profile):
    found = directed_at(mode, profile, channels=2)
    assert found.hit == len(found.scripts) > 10
    assert found.excluded > 0 or (mode, profile) == ("unaligned", "flink-1.11")  # here every path has a case
    assert found.beyond == 0


def test_a_case_is_a_run_of_the_wire():
    for one in directed_at("at-least-once", "flink-1.9", channels=2).scripts:
        oracle = Oracle(one.component, one.config)
        node = oracle.start
        for event in one.events:
            edge = oracle.step(node, event)
            assert edge.refused is None
            node = edge.after


def _left(profile):
    """Of an aligned gate of two channels: its relations, its graphs, and the paths without a transition."""
    relations = relations_of(gate_path_cases("exactly-once", profile, 2))
    graphs = [explore(closed) for closed in closed_free_models("exactly-once", profile, 2)]
    left = [set(range(len(relation))) for relation in relations]
    for graph in graphs:
        for transition in graph.transitions:
            state = graph.nodes[transition.source][0]
            for relation, paths in zip(relations, left, strict=True):
                paths -= set(relation.enabled(state, transition.event, list(paths)))
    return relations, [[state for state, _ in graph.nodes] for graph in graphs], left


def test_no_run_of_a_larger_model_takes_an_excluded_path():
    profile = PROFILES["flink-1.13"]
    relations, states, left = _left(profile)
    excluded = never_taken(relations, chain(*states), left)
    assert sum(len(paths) for paths in excluded) == sum(len(paths) for paths in left) > 0
    larger = explore(closed_gate(2, 6, counts_as_aligned=False, polled=False, profile=profile))
    for transition in larger.transitions:
        state = larger.nodes[transition.source][0]
        for relation, paths in zip(relations, excluded, strict=True):
            assert not relation.enabled(state, transition.event, list(paths))


def test_a_path_that_a_run_takes_is_never_excluded():
    relations, states, left = _left(PROFILES["flink-1.13"])
    every = [set(range(len(relation))) for relation in relations]
    starts = [of_one[0] for of_one in states]
    assert never_taken(relations, starts, every) == never_taken(relations, chain(*states), left)
    assert never_taken(relations, [], every) == [set() for _ in relations]


def test_no_path_is_excluded_if_steps_lead_to_shapes_without_a_case():
    profile = PROFILES["flink-1.9"]
    some = [case for case in gate_path_cases("at-least-once", profile, 2) if "0 of at most" in case.label]
    graphs = [explore(closed) for closed in closed_free_models("at-least-once", profile, 2)]
    found = directed_cases(graphs, (case for case in some if case.label.startswith("2 channels")))
    assert found.excluded == 0


def test_an_order_can_be_sent_to_another_process():
    directed = directed_at("exactly-once", "flink-1.7", channels=1)
    for order in (
        Order(10, 0, aims=False),
        Order(10, 0, directed=(("exactly-once", "flink-1.7", directed),)),
    ):
        assert pickle.loads(pickle.dumps(order)) == order
