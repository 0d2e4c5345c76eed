"""Tours around transitions that may diverge.

The suite compares nothing after a divergence in a run. So the tours leave out transitions that look like a
known divergence. Each of these transitions is the last event of a separate run. The same holds for each
transition that can be reached only through them.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.cases.tours import tours


class Transition(NamedTuple):
    """One transition of a small state graph; node 0 is the start."""

    source: int
    event: Wire
    target: int
    suspect: bool
    """Whether the transition looks like a known divergence."""


def ways_around(transitions: Sequence[Transition], longest: int) -> Iterator[Sequence[Wire]]:
    """Runs that together take every transition. A suspect one is the last of its run, if this is possible."""
    sure = [one for one in transitions if not one.suspect]
    ways = _shortest(sure, {0: ()})
    toured = [one for one in sure if one.source in ways]
    yield from tours(0, [(one.source, one.event, one.target) for one in toured], longest)
    if len(toured) == len(transitions):
        return
    reached = set(ways)
    ways = _shortest(transitions, ways)
    for one in transitions:
        if one.suspect or one.source not in reached:
            yield (*ways[one.source], one.event)


def _shortest(
    transitions: Sequence[Transition], known: dict[int, tuple[Wire, ...]]
) -> dict[int, tuple[Wire, ...]]:
    """A short way to each node; the ways in `known` stay as they are."""
    leaving: dict[int, list[Transition]] = {}
    for one in transitions:
        leaving.setdefault(one.source, []).append(one)
    ways = dict(known)
    queue = deque(sorted(known, key=lambda node: len(known[node])))
    while queue:
        node = queue.popleft()
        for one in leaving.get(node, ()):
            if one.target not in ways:
                ways[one.target] = (*ways[node], one.event)
                queue.append(one.target)
    return ways
