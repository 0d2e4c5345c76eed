"""Tours: runs that together take every transition of a state graph, as few as a greedy search finds.

A run starts in the initial node. It takes untaken transitions as long as its node has one, and then the
shortest way to the nearest untaken transition. It ends when it can reach no untaken transition any more. Each
of several parallel edges must be taken. The result is deterministic: the order of `edges` decides between
equals.
"""

from collections import deque
from collections.abc import Hashable, Iterable
from typing import NamedTuple, TypeVar

import networkx as nx

Node = TypeVar("Node", bound=Hashable)
Event = TypeVar("Event")

LONGEST = 10_000
"""Maximum number of events in one run; then a new run starts."""


class UnreachableError(ValueError):
    """Some transitions cannot be reached from the initial node, so the graph is wrong."""


class _Edge(NamedTuple):
    number: int
    after: Hashable


def tours(
    initial: Node, edges: Iterable[tuple[Node, Event, Node]], longest: int = LONGEST
) -> list[list[Event]]:
    """Runs from `initial`, each a list of events, that together take each of `edges` at least once.

    Raises UnreachableError if an edge starts in a node that cannot be reached.
    """
    listed = list(edges)
    graph: nx.DiGraph[Hashable] = nx.DiGraph()
    graph.add_node(initial)
    graph.add_edges_from((source, target) for source, _, target in listed)
    ways = nx.single_source_shortest_path(graph, initial)
    lost = [source for source, _, _ in listed if source not in ways]
    if lost:
        raise UnreachableError(f"{len(lost)} transitions start in nodes beyond reach, such as {lost[0]!r}")

    heights = _heights(graph)
    untaken: dict[Hashable, deque[_Edge]] = {}
    known: dict[tuple[Hashable, Hashable], int] = {}  # for each pair of neighbours the edge that ways use
    by_height = sorted(enumerate(listed), key=lambda edge: -heights[edge[1][2]])
    for number, (source, _, target) in by_height:  # first the edges after which the most edges can follow
        untaken.setdefault(source, deque()).append(_Edge(number, target))
        known.setdefault((source, target), number)
    exhausted: set[Hashable] = set()  # nodes from which no untaken transition can be reached any more

    runs: list[list[Event]] = []
    for start in ways:  # nearest first
        while untaken.get(start):
            run = [known[step] for step in nx.utils.pairwise(ways[start])]
            at: Hashable = start
            while len(run) < longest:
                if untaken.get(at):
                    edge = untaken[at].popleft()
                    run.append(edge.number)
                    at = edge.after
                    continue
                way = _nearest(graph, at, untaken, exhausted)
                if way is None:
                    break
                run += [known[step] for step in nx.utils.pairwise(way)]
                at = way[-1]
            runs.append([listed[number][1] for number in run])
    return runs


def _heights(graph: "nx.DiGraph[Hashable]") -> dict[Hashable, int]:
    """For each node, the maximum number of strongly connected components on a path from it."""
    groups = nx.condensation(graph)
    heights: dict[int, int] = {}
    for group in reversed(list(nx.topological_sort(groups))):
        heights[group] = 1 + max((heights[after] for after in groups.successors(group)), default=0)
    return {node: heights[group] for node, group in groups.graph["mapping"].items()}


def _nearest(
    graph: "nx.DiGraph[Hashable]",
    start: Hashable,
    untaken: dict[Hashable, deque[_Edge]],
    exhausted: set[Hashable],
) -> list[Hashable] | None:
    """The shortest path to an untaken transition. If there is none: None, and `start` joins `exhausted`."""
    reached_from: dict[Hashable, Hashable | None] = {start: None}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if untaken.get(node):
            way: list[Hashable] = []
            step: Hashable | None = node
            while step is not None:
                way.append(step)
                step = reached_from[step]
            return way[::-1]
        for after in graph.successors(node):
            if after not in reached_from and after not in exhausted:
                reached_from[after] = node
                queue.append(after)
    exhausted.update(reached_from)
    return None
