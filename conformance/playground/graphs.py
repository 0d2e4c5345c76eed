"""State graphs of small closed models as plain data: what a page needs to play them without the model.

Every state that the model reaches is in the graph, and every event that may come there, with the effects and
the rules of its step. Nothing is left out within the bounds of the closed model, which the title states.
"""

from collections import deque
from typing import Any, NamedTuple

from conformance.playground.subjects import Lane, Subject, View

MOST_STATES = 2_500
"""A larger graph makes the page slow to open."""


class GraphTooLargeError(ValueError):
    """A closed model has more states than the page can hold; give it smaller bounds."""


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
    """The whole graph of a subject, breadth first. Raises GraphTooLargeError."""
    closed = subject.closed
    start = (closed.state, closed.environment)
    numbers: dict[tuple[Any, Any], int] = {start: 0}
    queue, edges = deque([start]), []
    while queue:
        state, environment = queue.popleft()
        edges.append(tuple(_edges(subject, state, environment, numbers, queue)))
        if len(numbers) > MOST_STATES:
            raise GraphTooLargeError(
                f"{subject.name}: expected at most {MOST_STATES:,} states, got more; give it smaller bounds"
            )
    return Graph(tuple(subject.view(state) for state, _ in numbers), tuple(edges))


def _edges(
    subject: Subject,
    state: Any,  # noqa: ANN401 - any component's state
    environment: Any,  # noqa: ANN401 - any environment
    numbers: dict[tuple[Any, Any], int],
    queue: "deque[tuple[Any, Any]]",
) -> list[Edge]:
    found: list[Edge] = []
    closed = subject.closed
    for action, event in closed.offers(state):
        allowed = closed.allows(environment, event)
        if allowed is None:
            continue
        after, effects, rules = closed.step(state, event)
        node = (after, allowed)
        if node not in numbers:
            numbers[node] = len(numbers)
            queue.append(node)
        texts = tuple(subject.effect(after, one) for one in effects)
        label, group = subject.label(action, event), subject.group(event)
        found.append(Edge(label, group, texts, tuple(dict.fromkeys(rules)), numbers[node]))
    return found


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
