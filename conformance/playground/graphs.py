"""State graphs of small closed models as plain data: what a page needs to play them without the model.

Every state that the model reaches is in the graph, and every event that may come there, with the effects and
the rules of its step. Nothing is left out within the bounds of the closed model, which the title states.
"""

from typing import Any, NamedTuple

from conformance.playground.subjects import Lane, Subject, View
from model.checker.explore import explore

MOST_STATES = 2_500
"""A larger graph makes the page slow to open."""


class Edge(NamedTuple):
    """One event in one state."""

    label: str
    group: str
    """What the event happens to, such as `channel 0`."""
    effects: tuple[str, ...]
    rules: tuple[str, ...]
    target: int


class Graph(NamedTuple):
    """Every state of a closed model; state 0 is the start."""

    views: tuple[View, ...]
    edges: tuple[tuple[Edge, ...], ...]
    """By state."""


def graph_of(subject: Subject) -> Graph:
    """The whole graph of a subject, as the explorer finds it. Raises TooManyStatesError."""
    found = explore(subject.closed, limit=MOST_STATES)
    edges: list[list[Edge]] = [[] for _ in found.nodes]
    for source, action, event, (after, effects, rules), target in found.transitions:
        texts = tuple(subject.effect(after, one) for one in effects)
        label, group = subject.label(action, event), subject.group(event)
        edges[source].append(Edge(label, group, texts, tuple(dict.fromkeys(rules)), target))
    return Graph(tuple(subject.view(state) for state, _ in found.nodes), tuple(map(tuple, edges)))


def as_data(subject: Subject, graph: Graph) -> dict[str, Any]:
    """The graph as JSON: an effect, a rule or a group stands once and is named by its position."""
    effects: dict[str, int] = {}
    rules: dict[str, int] = {}

    def numbered(words: tuple[str, ...], known: dict[str, int]) -> list[int]:
        return [known.setdefault(word, len(known)) for word in words]

    groups = {name: at for at, name in enumerate(sorted({one.group for some in graph.edges for one in some}))}
    edges = [
        [
            [
                one.label,
                numbered(one.effects, effects),
                numbered(one.rules, rules),
                one.target,
                groups[one.group],
            ]
            for one in some
        ]
        for some in graph.edges
    ]
    return {
        "name": subject.name,
        "title": subject.title,
        "intro": subject.intro,
        "views": [_view(view) for view in graph.views],
        "edges": edges,
        "effects": list(effects),
        "rules": list(rules),
        "groups": list(groups),
    }


def _view(view: View) -> list[Any]:
    return [[list(field) for field in view.fields], [_lane(lane) for lane in view.lanes]]


def _lane(lane: Lane) -> list[Any]:
    return [lane.name, lane.status, list(lane.items)]
