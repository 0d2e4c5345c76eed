"""Kernels search the larger gates. Their results count if they agree with the explorer for few ids."""

import pytest

from conformance.explore import large_gates
from conformance.explore.large_gates import UP_TO, LargeGate, searched
from conformance.parts import exploration
from conformance.parts.result import Context
from conformance.verdict import Verdict
from model.checker.bounds import Bounded, bounded_gate
from model.checker.closed_model import ClosedModel
from model.checker.explore import explore
from model.gate.events import Barrier
from model.properties import of_component

GATE = of_component("gate")
SMALL, LARGE = (bounded_gate(2, ids) for ids in (UP_TO, 5))


def unblocks_above(closed: ClosedModel) -> ClosedModel:
    """The closed model with a gate that blocks no channel for ids above UP_TO."""

    def step(state, event):
        done = closed.step(state, event)
        if type(event) is Barrier and event.checkpoint > UP_TO:
            return done._replace(state=done.state._replace(blocked=(False, False)))
        return done

    return closed._replace(step=step)


BROKEN = LargeGate(unblocks_above(SMALL.closed), Bounded(unblocks_above(LARGE.closed), LARGE.bounds))


def test_a_kernel_continues_with_more_ids_than_the_explorer_has():
    found = searched(LargeGate(SMALL.closed, LARGE), GATE)

    graph = explore(LARGE.closed, keep_transitions=False)
    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)
    assert (found.violation, found.disagreement) == (None, "")


def test_the_kernel_finds_a_violation_beyond_the_ids_of_the_explorer():
    found = searched(BROKEN, GATE)

    assert explore(BROKEN.small, GATE).violation is None
    assert found.disagreement == ""
    assert found.violation is not None
    assert [type(event) for event in found.violation.run] == [Barrier]
    assert found.violation.run[0].checkpoint > UP_TO


def test_a_kernel_with_other_counts_than_the_explorer_is_reported():
    another = bounded_gate(2, UP_TO, polled=False).closed
    found = searched(LargeGate(another, LARGE), GATE)

    assert found.disagreement == (
        "with ids up to 3 explorer: 88 states and 564 transitions, kernel: 76 states and 432 transitions"
    )


@pytest.mark.parametrize(
    ("one", "verdict", "rule"),
    [
        (BROKEN, Verdict.DIVERGES, "ALIGN-01"),
        (LargeGate(bounded_gate(1, UP_TO).closed, LARGE), Verdict.UNDETERMINED, None),
    ],
    ids=["broken", "not believed"],
)
def test_a_violation_found_by_a_kernel_fails_the_part(one, verdict, rule, monkeypatch, tmp_path):
    seen = exploration.Explored("a small one", 1, 2, frozenset(), None)
    monkeypatch.setattr(exploration, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(exploration, "exhaust", lambda _: seen)
    monkeypatch.setattr(exploration, "other_counts", lambda _: ())
    monkeypatch.setattr(large_gates, "large_gate_models", lambda: (one,))
    result = exploration.run(Context(0, tmp_path, quick=True))

    assert result.verdict is verdict
    assert [finding.rule for finding in result.findings] == [rule]
    assert result.numbers["kernels"] == 1


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"states": 1, "transitions": 2}, []),
        (
            {"states": 1, "transitions": 3},
            ["a small one: expected 1 states, 3 transitions, got 1 states, 2 transitions"],
        ),
        (None, ["a small one: expected no line, got 1 states, 2 transitions"]),
    ],
)
def test_numbers_that_differ_from_the_pinned_ones_are_findings(known, expected, monkeypatch):
    monkeypatch.setattr(exploration, "pinned", lambda: {"a small one": known} if known else {})
    found = exploration.other_counts(exploration.Explored("a small one", 1, 2, frozenset(), None))

    assert [finding.line for finding in found] == expected


class InThisProcess:
    """Replaces the pool of processes: it runs everything in this process."""

    def __init__(self, processes, initializer):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, function, places):
        return map(function, places)
