"""Records the marks that random cases reach, and chooses the candidate with the most new ones.

`Reached` guides the walks of `conform` and of `flink conform`, and the rounds of `torture`. It counts marks,
each of one kind. A *mark* of a walk is a state, a transition, a pair of successive transitions or a path of
the model that the walk takes. Two states have the same mark if their observable fields differ only in large
ids, times and other numbers with the same order (those from SMALL on), or in the content of records. Two
transitions take the same path if the event has the same kind and position, and the model's answer the same
rules and kinds of effects.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import TypeAlias, TypeVar

from conformance.adapters.protocol import Wire, canonical
from conformance.drive.oracle import Edge, Node, Oracle

CANDIDATES = 2
"""The number of walks that are drawn for each walk that is played."""
SMALL = 4
"""Numbers below this one, such as channels and counts, are compared exactly."""
WALKS: Mapping[str, float] = {"states": 1, "transitions": 1, "pairs": 0.25, "paths": 2}
"""The weight of a new mark of a walk. With these weights walks reach more marks of every kind."""

Marks: TypeAlias = Mapping[str, Set[Hashable]]
"""The states, transitions, pairs and paths that one case reaches."""
Candidate = TypeVar("Candidate")


class Reached:
    """The marks that cases have reached so far, by the kinds of `weights`."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._times: dict[str, Counter[Hashable]] = {kind: Counter() for kind in weights}

    def choose(self, candidates: Sequence[tuple[Candidate, Marks]]) -> tuple[Candidate, Marks]:
        """The first candidate whose new marks have the greatest weight, and its marks."""
        return max(candidates, key=lambda one: self._new(one[1]))

    def add(self, marks: Marks) -> None:
        """Count the marks of a case."""
        for kind, found in marks.items():
            self._times[kind].update(found)

    def retract(self, marks: Marks) -> None:
        """Undo `add`: the case has not reached its marks, for example because it ended early."""
        for kind, found in marks.items():
            self._times[kind].subtract(found)
            for mark in found:
                if not self._times[kind][mark]:
                    del self._times[kind][mark]

    def marks(self, kind: str) -> set[Hashable]:
        """The different marks of a kind."""
        return set(self._times[kind])

    def values(self) -> dict[str, int]:
        """The number of different marks that were reached, by kind."""
        return {kind: len(times) for kind, times in self._times.items()}

    def _new(self, marks: Marks) -> float:
        return sum(
            weight * sum([mark not in self._times[kind] for mark in marks[kind]])
            for kind, weight in self._weights.items()
        )


def footprint(oracle: Oracle, steps: Iterable[tuple[Wire, Edge]]) -> Marks:
    """The marks of a walk, given as events with their answers, as hashes; a refused event has none."""
    config, node, before = canonical(oracle.config), oracle.start, 0
    states, transitions, pairs, paths = {_state(config, node)}, set[int](), set[int](), set[int]()
    for event, edge in steps:
        if edge.refused is not None:
            continue
        here, path = edge.marks = edge.marks or _transition(config, node, event, edge)
        transitions.add(here)
        paths.add(path)
        if before:
            pairs.add(hash((before, here)))
        node, before = edge.after, here
        if not edge.fails:  # the state of a failed instance cannot be observed
            states.add(_state(config, node))
    return {"states": states, "transitions": transitions, "pairs": pairs, "paths": paths}


def _state(config: bytes, node: Node) -> int:
    if node.mark is None:
        node.mark = _mark(config, node.spelled)
    return node.mark


def _transition(config: bytes, node: Node, event: Wire, edge: Edge) -> tuple[int, int]:
    """The marks of a transition and of its path."""
    position = event["kind"], event.get("channel"), event.get("task")
    outcome = edge.rules, tuple([effect["kind"] for effect in edge.effects])
    return _mark(config, node.spelled + edge.sent), hash((config, position, outcome))


def _mark(config: bytes, spelled: bytes) -> int:
    """The hash of a text in which large numbers are replaced by their order."""
    parts = _LARGE.split(_CONTENT.sub(b"", spelled))
    order = sorted(set(map(int, parts[1::2])))
    if order:
        names = {number: b"#%d" % place for place, number in enumerate(order)}
        parts[1::2] = [names[int(number)] for number in parts[1::2]]
    return hash((config, b"".join(parts)))


_LARGE = re.compile(rb"([1-9]\d+|[%d-9])" % SMALL)
_CONTENT = re.compile(rb'(?<="value":)\d+|(?<=\["record",)\d+')
