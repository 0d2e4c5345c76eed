"""Of several random walks the one that reaches most that is new is played."""

from itertools import islice

import pytest

from conformance.cases.guided import Reached, footprint
from conformance.cases.walks import walks
from conformance.drive.oracle import Oracle

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler"}


def barriers(*ids):
    return [{"kind": "barrier", "channel": channel, "checkpoint": one} for channel, one in enumerate(ids)]


def chooser_of(*walks_):
    each = iter([iter(walk) for walk in walks_])

    def chooser():
        walk = next(each)
        return lambda _: next(walk, None)

    return chooser


def test_ids_count_by_their_order_alone():
    oracle = Oracle("gate", GATE)
    assert footprint(oracle, barriers(5, 9)) == footprint(oracle, barriers(70, 2**60))
    assert footprint(oracle, barriers(5, 9)) != footprint(oracle, barriers(9, 5))
    assert footprint(oracle, barriers(1)) != footprint(oracle, barriers(2))


def test_the_walk_with_most_that_is_new_is_chosen_once():
    oracle, reached = Oracle("gate", GATE), Reached()
    long, short = barriers(5, 5), barriers(5)

    assert reached.choose(oracle, chooser_of(short, long), 9) == long
    assert reached.values() == {"states": 2, "transitions": 2, "pairs": 2}
    other = [{"kind": "cancel", "channel": 0, "checkpoint": 6}]
    assert reached.choose(oracle, chooser_of(long, other), 9) == other
    assert reached.choose(oracle, chooser_of(barriers(6, 6), other), 9) == barriers(6, 6)


@pytest.mark.parametrize("component", ["gate", "sink"])
def test_guided_walks_reach_more_with_as_many_cases(component):
    def transitions(guide):
        found = set()
        for case in islice(walks(component, 1, reached=guide, length=20), 60):
            node, events = case.oracle.start, []
            while len(events) < case.length and (event := case.choose(node.observed)) is not None:
                events.append(event)
                node = case.oracle.step(node, event).after
            found |= footprint(case.oracle, events).transitions
        return len(found)

    guide = Reached()
    assert transitions(guide) > transitions(None) * 1.05
    assert guide.values()["transitions"] == transitions(Reached())
