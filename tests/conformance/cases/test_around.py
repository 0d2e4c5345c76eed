"""Tours take every transition. A suspect transition is the last one of its run, where that is possible."""

import pytest

from conformance.cases.tours_around_divergences import Transition, ways_around


def event(name):
    return {"kind": name}


def test_without_suspect_transitions_one_run_takes_all():
    transitions = [Transition(0, event("a"), 1, False), Transition(1, event("b"), 0, False)]

    assert list(ways_around(transitions, 40)) == [[event("a"), event("b")]]


def test_a_suspect_transition_ends_a_run_of_its_own():
    transitions = [
        Transition(0, event("a"), 1, False),
        Transition(0, event("late"), 0, True),
        Transition(1, event("late"), 1, True),
        Transition(1, event("b"), 0, False),
    ]

    runs = [[step["kind"] for step in run] for run in ways_around(transitions, 40)]

    assert runs == [["a", "b"], ["late"], ["a", "late"]]


@pytest.mark.parametrize("behind", [1, 2])
def test_transitions_reachable_only_through_a_suspect_one_come_after_it(behind):
    transitions = [
        Transition(0, event("late"), 1, True),
        *(Transition(at, event(f"b{at}"), at + 1, False) for at in range(1, behind + 1)),
    ]

    runs = [[step["kind"] for step in run] for run in ways_around(transitions, 40)]

    assert runs == [["late", "b1", "b2"][:length] for length in range(1, behind + 2)]
