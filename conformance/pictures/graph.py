"""A small state graph of a component of the wire, or of a closed model, breadth first."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import networkx as nx

from conformance.adapters.protocol import Wire
from model.checker.closed_model import ClosedModel
from model.components import COMPONENTS, PARTS, WireError
from model.events import Event

MOST = 40
"""States of one picture at most: a larger one cannot be read."""


class TooLargeError(ValueError):
    """A graph has more states than a picture can show."""


class Subject(NamedTuple):
    """What one picture shows of a component of the wire."""

    name: str
    """Of the file."""
    title: str
    reads: str
    """How to read it, in a sentence or a few."""
    component: str
    config: Wire
    opening: Sequence[Wire]
    events: Sequence[Wire]
    show: Callable[[dict[str, Any]], tuple[str, ...]]
    """The lines inside a state, from what is observable of it."""
    say: Callable[[Wire], str]
    """An event as the label of an arrow."""
    may: Callable[[dict[str, Any], Wire], bool] = lambda seen, event: True
    """Whether an event is drawn in a state, from what is observable of it: that keeps the picture small."""


class Closed(NamedTuple):
    """What one picture shows of a closed model; the fields as in `Subject`."""

    name: str
    title: str
    reads: str
    closed_model: ClosedModel
    opening: Sequence[Event]
    show: Callable[[Any], tuple[str, ...]]
    say: Callable[[str, Event], str]
    """An action and its event as the label of an arrow."""
    may: Callable[[str, Event], bool]
    """Whether they are drawn."""


class Arrow(NamedTuple):
    """All events that lead from one state to another."""

    source: int
    target: int
    labels: tuple[str, ...]
    leads_back: bool
    """To a state that was found earlier, and from which it can be reached again."""


class Drawn(NamedTuple):
    """A graph ready to be laid out; state 0 is the start."""

    states: tuple[tuple[str, ...], ...]
    arrows: tuple[Arrow, ...]


Move = tuple[Hashable, Any, str]
"""A state that one event leads to: what identifies it, the state, and the label of the arrow."""


def walk(subject: Subject) -> Drawn:
    """Every state that the events lead to; events that change nothing are left out. Raises TooLargeError."""
    component = {**COMPONENTS, **PARTS}[subject.component]
    start = component.new(subject.config)
    for event in subject.opening:
        start, _, _ = component.apply(start, event)

    def moves(state: Any) -> Iterator[Move]:  # noqa: ANN401 - a state of any component
        seen = component.observe(state)
        for event in subject.events:
            if subject.may(seen, event):
                try:
                    after, effects, _ = component.apply(state, event)
                except WireError:
                    continue
                if not any(effect["kind"] == "fail" for effect in effects):
                    yield component.key(after), after, _label(subject, event, effects)

    states, arrows = _walk(subject.name, (component.key(start), start), moves)
    return Drawn(tuple(subject.show(component.observe(state)) for state in states), arrows)


def walk_closed(closed: Closed) -> Drawn:
    """Every state of a closed model behind its opening. Raises TooLargeError."""
    closed_model = closed.closed_model
    start = closed_model.state
    for event in closed.opening:
        start = closed_model.step(start, event).state

    def moves(node: Any) -> Iterator[Move]:  # noqa: ANN401 - a state of any component and its environment
        for action, event in closed_model.offers(node[0]):
            allowed = closed_model.allows(node[1], event) if closed.may(action, event) else None
            if allowed is not None:
                after = closed_model.step(node[0], event).state, allowed
                yield after, after, closed.say(action, event)

    first = start, closed_model.environment
    nodes, arrows = _walk(closed.name, (first, first), moves)
    return Drawn(tuple(tuple(line for line in closed.show(node[0]) if line) for node in nodes), arrows)


def _walk(
    name: str, start: tuple[Hashable, Any], moves: Callable[[Any], Iterable[Move]]
) -> tuple[list[Any], tuple[Arrow, ...]]:
    numbers, found = {start[0]: 0}, [start[1]]
    labels: dict[tuple[int, int], list[str]] = {}
    queue = deque([0])
    while queue:
        source = queue.popleft()
        for key, after, label in moves(found[source]):
            if key not in numbers:
                if len(numbers) == MOST:
                    raise TooLargeError(
                        f"{name}: more than {MOST} states; give it fewer events or smaller bounds"
                    )
                numbers[key] = len(numbers)
                found.append(after)
                queue.append(numbers[key])
            if numbers[key] != source:
                labels.setdefault((source, numbers[key]), []).append(label)
    graph = nx.DiGraph(list(labels))
    return found, tuple(
        Arrow(source, target, tuple(some), target < source and nx.has_path(graph, target, source))
        for (source, target), some in labels.items()
    )


SHORT = {
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
"""Effects that an arrow shows behind a stroke, with their number; others would only fill the picture."""
ALONE = {"fail_job": "the job fails", "stop_reading": "stop", "go_on_reading": "go on"}
"""Those that need no number."""


def _label(subject: Subject, event: Wire, effects: Sequence[Wire]) -> str:
    shown: list[str] = []
    for effect in effects:
        short = SHORT.get(effect["kind"])
        number = effect.get("transaction", effect.get("checkpoint"))
        if short is not None and number is not None:
            shown.append(f"{short}{number}")
        elif effect["kind"] in ALONE:
            shown.append(ALONE[effect["kind"]])
    label = subject.say(event)
    return f"{label} / {' '.join(shown)}" if shown else label
