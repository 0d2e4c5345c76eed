"""Explores a component of the adapter protocol or a closed model, breadth first, for a picture."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import networkx as nx

from conformance.adapters.protocol import Wire
from model.checker.closed_model import ClosedModel
from model.checker.explore import TooManyStatesError, explore
from model.components import COMPONENTS, PARTS, WireError
from model.events import Event

MOST = 40
"""Maximum number of states in a picture; a larger picture cannot be read."""


class TooLargeError(ValueError):
    """A graph has more states than a picture can show."""


class Subject(NamedTuple):
    """The content of a picture of one component of the adapter protocol."""

    name: str
    """The name of the file."""
    component: str
    config: Wire
    opening: Sequence[Wire]
    events: Sequence[Wire]
    show: Callable[[dict[str, Any]], tuple[str, ...]]
    """The lines inside a state, made from its observable fields."""
    label_of: Callable[[Wire], str]
    """An event as the label of an arrow."""
    may: Callable[[dict[str, Any], Wire], bool] = lambda seen, event: True
    """Whether an event is drawn in a state, given its observable fields. It keeps the picture small."""


class Closed(NamedTuple):
    """The content of a picture of a closed model; fields as in `Subject`."""

    name: str
    closed_model: ClosedModel
    opening: Sequence[Event]
    show: Callable[[Any], tuple[str, ...]]
    label_of: Callable[[str, Event], str]
    """An action and its event as the label of an arrow."""
    may: Callable[[str, Event], bool]
    """Whether the action with this event is drawn."""


class Arrow(NamedTuple):
    """All events that lead from one state to another."""

    source: int
    target: int
    labels: tuple[str, ...]
    leads_back: bool
    """Whether the target was found before the source, and a path leads from the target to the source."""


class Drawn(NamedTuple):
    """The states and arrows of a picture. State 0 is the start."""

    states: tuple[tuple[str, ...], ...]
    arrows: tuple[Arrow, ...]


def walk(subject: Subject) -> Drawn:
    """Return the graph of every state that the events lead to.

    Events that are refused, that fail the task, or that change nothing are left out. Raises TooLargeError.
    """
    component = {**COMPONENTS, **PARTS}[subject.component]
    start = component.new(subject.config)
    for event in subject.opening:
        start, _, _ = component.apply(start, event)

    numbers, found = {component.key(start): 0}, [start]
    labels: dict[tuple[int, int], list[str]] = {}
    for source, state in enumerate(found):  # the loop appends to `found`
        seen = component.observe(state)
        for event in (one for one in subject.events if subject.may(seen, one)):
            try:
                after, effects, _ = component.apply(state, event)
            except WireError:
                continue
            if any(effect["kind"] == "fail" for effect in effects):
                continue
            target = numbers.setdefault(component.key(after), len(found))
            if target == len(found):
                found.append(after)
            if target == MOST:
                raise TooLargeError(f"{subject.name}: more than {MOST} states; give it fewer events")
            labels.setdefault((source, target), []).append(_label(subject, event, effects))
    return Drawn(tuple(subject.show(component.observe(state)) for state in found), _arrows(labels))


def walk_closed(closed: Closed) -> Drawn:
    """Return the graph of a closed model from the state after its opening events. Raises TooLargeError."""
    closed_model = closed.closed_model
    start = closed_model.state
    for event in closed.opening:
        start = closed_model.step(start, event).state

    def offers(state: Any) -> Iterator[tuple[str, Event]]:  # noqa: ANN401 - a state of any component
        return (offer for offer in closed_model.offers(state) if closed.may(*offer))

    try:
        found = explore(closed_model._replace(state=start, offers=offers), limit=MOST)
    except TooManyStatesError as large:
        raise TooLargeError(str(large)) from large
    states = tuple(tuple(line for line in closed.show(state) if line) for state, _ in found.nodes)
    labels: dict[tuple[int, int], list[str]] = {}
    for edge in found.transitions:
        labels.setdefault((edge.source, edge.target), []).append(closed.label_of(edge.action, edge.event))
    return Drawn(states, _arrows(labels))


def _arrows(labels: Mapping[tuple[int, int], Sequence[str]]) -> tuple[Arrow, ...]:
    """One arrow for each pair of different states that some event connects."""
    graph = nx.DiGraph(list(labels))
    return tuple(
        Arrow(source, target, tuple(some), target < source and nx.has_path(graph, target, source))
        for (source, target), some in labels.items()
        if source != target
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
"""Short names of effects that an arrow shows after a slash. An arrow omits effects not here or in ALONE."""
ALONE = {"fail_job": "the job fails", "stop_reading": "stop", "go_on_reading": "go on"}
"""Effects that need no number, with their labels."""


def _label(subject: Subject, event: Wire, effects: Sequence[Wire]) -> str:
    shown: list[str] = []
    for effect in effects:
        short = SHORT.get(effect["kind"])
        number = effect.get("transaction", effect.get("checkpoint"))
        if short is not None and number is not None:
            shown.append(f"{short}{number}")
        elif effect["kind"] in ALONE:
            shown.append(ALONE[effect["kind"]])
    label = subject.label_of(event)
    return f"{label} / {' '.join(shown)}" if shown else label
