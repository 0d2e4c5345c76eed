"""The runs of a tour begin at the initial node, follow existing edges, and take every transition."""

import pytest

from conformance.cases.tours import UnreachableError, tours
from model.components import COMPONENTS, WireError


def taken(initial, edges, runs):
    """The edges that `runs` take. Fails if a run has an event that is no edge of its node."""
    ways = {(source, event): target for source, event, target in edges}
    seen = set()
    for run in runs:
        node = initial
        for event in run:
            seen.add((node, event))
            node = ways[node, event]
    return seen


def gate_graph(channels, ids):
    component = COMPONENTS["gate"]
    initial = component.new({"channels": channels, "mode": "exactly-once", "level": "handler"})
    found, frontier, edges = {initial}, [initial], []
    offered = [("end_of_partition", channel, 0) for channel in range(channels)]
    offered += [
        (kind, channel, checkpoint)
        for kind in ("barrier", "cancel")
        for channel in range(channels)
        for checkpoint in range(1, ids + 1)
    ]
    while frontier:
        state = frontier.pop()
        for kind, channel, checkpoint in offered:
            try:
                after, _, _ = component.apply(
                    state, {"kind": kind, "channel": channel, "checkpoint": checkpoint}
                )
            except WireError:
                continue
            edges.append((state, (kind, channel, checkpoint), after))
            if after not in found:
                found.add(after)
                frontier.append(after)
    return initial, edges


def test_one_run_is_enough_for_a_ring_with_chords():
    edges = [("a", 1, "b"), ("b", 2, "c"), ("c", 3, "a"), ("a", 4, "c"), ("b", 5, "b"), ("a", 6, "b")]
    runs = tours("a", edges)
    assert len(runs) == 1
    assert len(taken("a", edges, runs)) == len(edges)


def test_a_fork_needs_two_runs_and_takes_its_loops_on_the_way():
    edges = [("a", 1, "a"), ("a", 2, "left"), ("a", 3, "right"), ("left", 4, "left"), ("right", 5, "right")]
    assert sorted(map(sorted, tours("a", edges))) == [[1, 2, 4], [3, 5]]


def test_every_transition_of_a_gate_is_toured():
    initial, edges = gate_graph(2, 3)
    runs = tours(initial, edges)
    assert len(taken(initial, edges, runs)) == len(edges)
    assert runs == tours(initial, edges)
    assert sum(map(len, runs)) < 2 * len(edges)


def test_runs_have_a_greatest_length():
    edges = [("a", number, "a") for number in range(10)]
    assert [len(run) for run in tours("a", edges, longest=4)] == [4, 4, 2]


def test_a_transition_beyond_reach_is_reported():
    with pytest.raises(UnreachableError, match="1 transitions start in nodes beyond reach, such as 'x'"):
        tours("a", [("a", 1, "b"), ("x", 2, "b")])


def test_a_graph_without_transitions_needs_no_run():
    assert tours("a", []) == []
