"""Of several random walks, the suite plays the one with the most new marks."""

from itertools import islice

import pytest

from conformance.cases.guided import WALKS, Reached, footprint
from conformance.cases.walks import walks
from conformance.drive.oracle import Oracle

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler"}


def barriers(*ids):
    return [{"kind": "barrier", "channel": channel, "checkpoint": one} for channel, one in enumerate(ids)]


def marks(oracle, events):
    return footprint(oracle, zip(events, oracle.transcript(events), strict=True))


def counts(found):
    return {kind: len(some) for kind, some in found.items()}


def test_marks_depend_on_the_order_of_ids_and_not_on_record_contents():
    oracle = Oracle("gate", GATE)
    assert marks(oracle, barriers(5, 9)) == marks(oracle, barriers(70, 2**60))
    assert marks(oracle, barriers(5, 9)) != marks(oracle, barriers(9, 5))
    assert marks(oracle, barriers(1)) != marks(oracle, barriers(2))
    write, other = ([{"kind": "write", "value": value}] for value in (7, 2))
    assert marks(sink := Oracle("sink", {}), write) == marks(sink, other)


def test_the_marks_of_a_walk_are_counted_exactly():
    oracle = Oracle("gate", GATE)
    assert counts(marks(oracle, [])) == {"states": 1, "transitions": 0, "pairs": 0, "paths": 0}
    both = barriers(5, 5)  # the second barrier takes another path: it completes the alignment
    assert counts(marks(oracle, both)) == {"states": 3, "transitions": 2, "pairs": 1, "paths": 2}
    refused = {"kind": "barrier", "channel": 7, "checkpoint": 5}
    assert marks(oracle, [refused, *both]) == marks(oracle, both)


def test_the_candidate_with_the_most_new_marks_is_played_next():
    oracle, reached = Oracle("gate", GATE), Reached(WALKS)
    long, short = ((events, marks(oracle, events)) for events in (barriers(5, 5), barriers(5)))

    assert reached.choose([short, long]) == long
    reached.add(long[1])
    assert reached.choose([short, long]) == short  # the first of two equal candidates
    assert reached.values() == {"states": 3, "transitions": 2, "pairs": 1, "paths": 2}
    reached.add(short[1])
    reached.retract(long[1])
    assert reached.values() == {"states": 2, "transitions": 1, "pairs": 0, "paths": 1}


@pytest.mark.parametrize("component", ["gate", "sink"])
def test_guided_walks_reach_more_with_the_same_number_of_cases(component):
    def transitions(guide):
        found = set()
        for case in islice(walks(component, 1, reached=guide, length=20), 60):
            node, events = case.oracle.start, []
            while len(events) < case.length and (event := case.choose(node.observed)) is not None:
                events.append(event)
                node = case.oracle.step(node, event).after
            found |= marks(case.oracle, events)["transitions"]
            yield len(found)

    guide = Reached(WALKS)
    *_, before_last, guided = transitions(guide)
    assert guided > list(transitions(None))[-1] * 1.05
    assert guide.values()["transitions"] == before_last  # the marks of a walk count after it was played


@pytest.mark.parametrize("played", [0, 3, 20])
def test_a_case_that_ends_early_counts_only_the_events_before_its_last(played):
    guide = Reached(WALKS)
    cases = walks("sink", 1, reached=guide, length=20)
    case = next(cases)
    events = [case.choose({}) for _ in range(played)]
    next(cases)
    compared = events if played == 20 else events[:-1]
    assert guide.values() == counts(marks(case.oracle, compared))
