"""Random walks steered by what was not reached yet: states, transitions, and pairs of transitions.

Several walks are drawn beside the model alone, and the one that reaches most that is new is played. Two
states are alike if their observable fields differ only in how far ids, times and other numbers have come:
numbers from SMALL on count by their order alone.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from conformance.adapters.protocol import Wire, canonical
from conformance.drive.lockstep import drawn
from conformance.drive.oracle import Oracle
from conformance.generators.chooser import Chooser

CANDIDATES = 2
"""Walks that are drawn for each one that is played."""
SMALL = 4
"""Smaller numbers are channels and counts, and are distinguished."""
PAIR_WEIGHT = 0.25
"""How much a new pair of transitions counts beside a new transition."""


class Footprint(NamedTuple):
    """What one walk reaches, as hashes."""

    states: frozenset[int]
    transitions: frozenset[int]
    pairs: frozenset[int]


class Reached:
    """What the walks of one component have reached so far."""

    def __init__(self) -> None:
        self._states: set[int] = set()
        self._transitions: set[int] = set()
        self._pairs: set[int] = set()

    def choose(self, oracle: Oracle, chooser: Callable[[], Chooser], length: int) -> list[Wire]:
        """Of CANDIDATES walks the one that reaches most that is new; from now on it is reached."""
        walks = [drawn(oracle, chooser(), length)[0] for _ in range(CANDIDATES)]
        marks = [footprint(oracle, walk) for walk in walks]
        new = [self._new(one) for one in marks]
        best = new.index(max(new))
        self._states |= marks[best].states
        self._transitions |= marks[best].transitions
        self._pairs |= marks[best].pairs
        return walks[best]

    def values(self) -> dict[str, int]:
        """How many different ones were reached, by name."""
        return {
            "states": len(self._states),
            "transitions": len(self._transitions),
            "pairs": len(self._pairs),
        }

    def _new(self, marks: Footprint) -> float:
        pairs = len(marks.pairs - self._pairs)
        return len(marks.transitions - self._transitions) + PAIR_WEIGHT * pairs


def footprint(oracle: Oracle, events: Iterable[Wire]) -> Footprint:
    """The states, transitions and pairs of a walk, in the oracle's configuration."""
    config, node, before = canonical(oracle.config), oracle.start, 0
    states, transitions, pairs = set[int](), set[int](), set[int]()
    for event in events:
        edge = oracle.step(node, event)
        here = hash((config, _shape(node.spelled + edge.sent)))
        states.add(hash((config, _shape(node.spelled))))
        transitions.add(here)
        pairs.add(hash((before, here)))
        node, before = edge.after, here
    return Footprint(frozenset(states), frozenset(transitions), frozenset(pairs))


def _shape(spelled: bytes) -> bytes:
    """What is left of a spelling if large numbers count by their order alone."""
    parts = _LARGE.split(spelled)
    order = sorted(set(map(int, parts[1::2])))
    if order:
        names = {number: b"#%d" % place for place, number in enumerate(order)}
        parts[1::2] = [names[int(number)] for number in parts[1::2]]
    return b"".join(parts)


_LARGE = re.compile(rb"([1-9]\d+|[%d-9])" % SMALL)
