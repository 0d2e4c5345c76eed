"""A small state graph of a component of the wire, or of a closed model, walked breadth first."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import networkx as nx

from conformance.adapters.protocol import Wire
from model.checker.closed_model import ClosedModel
from model.components import COMPONENTS, PARTS, WireError
from model.events import Event

MOST = 40
"""States of one picture at most: more cannot be read."""


class TooLargeError(ValueError):
    """A graph has more states than a picture can show."""


class Subject(NamedTuple):
    """What one picture shows."""

    name: str
    """Of the file."""
    title: str
    reads: str
    """One sentence: how to read it."""
    component: str
    config: Wire
    opening: Sequence[Wire]
    events: Sequence[Wire]
    show: Callable[[dict[str, Any]], tuple[str, ...]]
    """The lines inside a state, from what is observable of it."""
    say: Callable[[Wire], str]
    """An event as the label of an arrow."""
    may: Callable[[dict[str, Any], Wire], bool] = lambda seen, event: True
    """Whether an event comes in a state, from what is observable of it: that keeps the picture small."""


class Closed(NamedTuple):
    """What one picture shows of a closed model."""

    name: str
    """Of the file."""
    title: str
    reads: str
    """One sentence or a few: how to read it."""
    closed_model: ClosedModel
    opening: Sequence[Event]
    show: Callable[[Any], tuple[str, ...]]
    """The lines inside a state."""
    say: Callable[[str, Event], str]
    """An action and its event as the label of an arrow."""
    may: Callable[[str, Event], bool]
    """Whether they are drawn: that keeps the picture small."""


class Arrow(NamedTuple):
    """All events that lead from one state to another."""

    source: int
    target: int
    labels: tuple[str, ...]


class Drawn(NamedTuple):
    """A graph ready to be laid out; state 0 is the start."""

    states: tuple[tuple[str, ...], ...]
    columns: tuple[int, ...]
    """The column of a state: what leads to it stands further left, as far as there is no way back."""
    arrows: tuple[Arrow, ...]


def walk(subject: Subject) -> Drawn:
    """Every state that the events lead to; what changes nothing is left out. Raises TooLargeError."""
    component = {**COMPONENTS, **PARTS}[subject.component]
    start = component.new(subject.config)
    for event in subject.opening:
        start, _, _ = component.apply(start, event)
    numbers, shown = {component.key(start): 0}, [start]
    arrows: dict[tuple[int, int], list[str]] = {}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        source = numbers[component.key(state)]
        seen = component.observe(state)
        for event in subject.events:
            if not subject.may(seen, event):
                continue
            try:
                after, effects, _ = component.apply(state, event)
            except WireError:
                continue
            key = component.key(after)
            if any(effect["kind"] == "fail" for effect in effects):
                continue
            if key not in numbers:
                if len(numbers) == MOST:
                    raise TooLargeError(f"{subject.name}: more than {MOST} states; give it fewer events")
                numbers[key] = len(numbers)
                shown.append(after)
                queue.append(after)
            if numbers[key] != source:
                told = _label(subject, event, effects)
                arrows.setdefault((source, numbers[key]), []).append(told)
    states = tuple(subject.show(component.observe(state)) for state in shown)
    found = tuple(Arrow(*ends, tuple(labels)) for ends, labels in arrows.items())
    return Drawn(states, _columns(len(states), found), found)


def walk_closed(closed: Closed) -> Drawn:
    """Every state of a closed model behind its opening. Raises TooLargeError."""
    closed_model = closed.closed_model
    start, environment = closed_model.state, closed_model.environment
    for event in closed.opening:
        start = closed_model.step(start, event).state
    numbers = {(start, environment): 0}
    arrows: dict[tuple[int, int], list[str]] = {}
    queue = deque(numbers)
    while queue:
        state, environment = queue.popleft()
        source = numbers[state, environment]
        for action, event in closed_model.offers(state):
            allowed = closed_model.allows(environment, event) if closed.may(action, event) else None
            if allowed is None:
                continue
            node = (closed_model.step(state, event).state, allowed)
            if node not in numbers:
                if len(numbers) == MOST:
                    raise TooLargeError(f"{closed.name}: more than {MOST} states; give it smaller bounds")
                numbers[node] = len(numbers)
                queue.append(node)
            if numbers[node] != source:
                arrows.setdefault((source, numbers[node]), []).append(closed.say(action, event))
    states = tuple(tuple(line for line in closed.show(state) if line) for state, _ in numbers)
    found = tuple(Arrow(*ends, tuple(labels)) for ends, labels in arrows.items())
    return Drawn(states, _columns(len(states), found), found)


def _columns(states: int, arrows: Sequence[Arrow]) -> tuple[int, ...]:
    """The longest way to each state; states that lead to each other stand in the order of their finding."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(states))
    graph.add_edges_from((arrow.source, arrow.target) for arrow in arrows)
    groups = nx.condensation(graph)
    columns = [0] * states
    for group in nx.topological_sort(groups):
        members = sorted(groups.nodes[group]["members"])
        before = [columns[source] + 1 for member in members for source in graph.predecessors(member)
                  if source not in members]  # fmt: skip
        for place, member in enumerate(members):
            columns[member] = max(before, default=0) + place
    return tuple(columns)


TOLD = {
    "trigger": "T",
    "abort": "A",
    "acknowledge": "ack",
    "decline": "dec",
    "complete": "C",
    "discard": "D",
    "commit": "C",
    "abort_transaction": "A",
    "commit_offsets": "C",
}
"""Effects that an arrow tells behind a stroke; the others would only fill the picture."""


ALONE = {"fail_job": "the job fails", "stop_reading": "stop", "go_on_reading": "go on"}
"""Those that need no number."""


def _label(subject: Subject, event: Wire, effects: Sequence[Wire]) -> str:
    told: list[str] = []
    for effect in effects:
        short = TOLD.get(effect["kind"])
        number = effect.get("transaction", effect.get("checkpoint"))
        if short is not None and number is not None:
            told.append(f"{short}{number}")
        elif effect["kind"] in ALONE:
            told.append(ALONE[effect["kind"]])
    said = subject.say(event)
    return f"{said} / {' '.join(told)}" if told else said
