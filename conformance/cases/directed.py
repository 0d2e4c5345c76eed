"""Directed cases: for each path that z3 reads in a step function, the shortest run that takes it.

A path is a conjunction of decisions. Its guard, a formula of z3, is evaluated on the transitions of small
state graphs. The first transition that satisfies the guard, with the shortest run that leads to it, is the
test case of the path. For some of the paths that no graph takes, z3 proves that no run takes them
(`model.checker.reachable`); the other ones are reported as beyond the bounds of the graphs.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from conformance.components.registry import COMPONENTS as REGISTRY
from model.checker.explore import Graph, explore
from model.checker.prove import Case
from model.checker.reachable import never_taken
from model.checker.relation import relations_of
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.closed_model_runs import Script, component_on_wire, script
from model.events import Event
from model.gate.environment.unrestricted_channels import closed_free_models
from model.gate.profiles import PROFILES
from model.gate.proofs.path_cases import gate_path_cases


class Directed(NamedTuple):
    """The cases of one component, or of one mode and profile."""

    scripts: tuple[Script, ...]
    paths: int
    """The number of paths of the cases."""
    hit: int
    """The number of paths that a script takes."""
    excluded: int
    """The number of paths that no run takes, whatever its ids and its length: z3 has proved it."""

    @property
    def beyond(self) -> int:
        """The number of other paths: no run in the graphs takes them, and z3 has not excluded them."""
        return self.paths - self.hit - self.excluded


def directed_cases(graphs: Sequence[Graph], cases: Iterable[Case], *, proves: bool = True) -> Directed:
    """A run for every path of `cases` that some transition of `graphs` takes. The graphs keep transitions.

    `proves`: z3 tries to exclude each other path. If False, all other paths are counted as `beyond`.
    """
    relations = relations_of(cases)
    left = [set(range(len(relation))) for relation in relations]
    by_shape: dict[Any, list[int]] = {}
    for number, relation in enumerate(relations):
        by_shape.setdefault(shape_of(relation.case.state, relation.case.event), []).append(number)
    scripts: list[Script] = []
    states: set[Any] = set()
    for graph in graphs:
        runs_to = _shortest_runs(graph)
        states.update(state for state, _ in graph.nodes)
        forms = [_form(state) for state, _ in graph.nodes]
        seen: set[int] = set()
        for transition in graph.transitions:
            if id(transition.step) in seen:
                continue
            seen.add(id(transition.step))
            state = graph.nodes[transition.source][0]
            for number in by_shape.get((*_kind(transition.event), forms[transition.source]), ()):
                for path in relations[number].enabled(state, transition.event, list(left[number])):
                    left[number].discard(path)
                    run = (*runs_to[transition.source], transition.event)
                    scripts.append(script(graph.closed, run))
    total, missing = sum(len(relation) for relation in relations), sum(len(paths) for paths in left)
    excluded = 0
    if proves and missing:
        excluded = sum(len(paths) for paths in never_taken(relations, states, left))
    return Directed(tuple(scripts), total, total - missing, excluded)


def directed_at(mode: str, profile: str, channels: int = 3) -> Directed:
    """The cases of the gate of a mode and a profile, in an environment that permits every event.

    `channels`: the maximum number of channels; only mode exactly-once has gates with more than two.
    """
    graphs = [explore(closed) for closed in closed_free_models(mode, PROFILES[profile], channels)]
    return directed_cases(graphs, gate_path_cases(mode, PROFILES[profile], channels))


GATES = (
    ("exactly-once", "flink-1.14", 3),
    ("at-least-once", "flink-1.14", 2),
    ("alternating", "flink-1.14", 1),
)
"""(mode, profile, maximum number of channels) of directed cases, unless the run is thorough."""
MODES = ("exactly-once", "at-least-once", "unaligned", "alternating")


def every_gate() -> Iterator[tuple[str, str]]:
    """Every mode, with every profile that has the mode."""
    for mode in MODES:
        for profile in PROFILES.values():
            if profile.has_unaligned or mode in MODES[:2]:
                yield mode, profile.name


def directed_for(component: str, graphs: Sequence[Graph], *, thorough: bool) -> Iterator[Directed]:
    """The directed cases of a component. `graphs`: its state graphs; those of the gate are made here."""
    if component != "gate":
        yield directed_cases(graphs, REGISTRY[component].cases(), proves=thorough)
    else:
        yield from (directed_at(*gate) for gate in (every_gate() if thorough else GATES))


def _shortest_runs(graph: Graph) -> list[tuple[Event, ...]]:
    """For each node the shortest run to it."""
    runs_to: list[tuple[Event, ...] | None] = [None] * len(graph.nodes)
    runs_to[0] = ()
    for transition in graph.transitions:  # breadth first: the source is known before its transitions
        if runs_to[transition.target] is None:
            before = runs_to[transition.source]
            assert before is not None
            runs_to[transition.target] = (*before, transition.event)
    return [run or () for run in runs_to]


def shape_of(state: Any, event: Event) -> Any:  # noqa: ANN401 - any component's state
    """The parts of a state and an event that a case fixes: lengths, words, classes, the event's position."""
    return (*_kind(event), _form(state))


def _kind(event: Event) -> tuple[object, int | None]:
    """The kind of an event, and its position (channel or task) if a case fixes it."""
    position = event[0] if event and type(event[0]) is int and event[-1] in _POSITIONED else None
    return event[-1], position


_POSITIONED = (
    "announce",
    "barrier",
    "receive_barrier",
    "cancel",
    "end_of_partition",
    "acknowledge",
    "decline",
)


def _form(value: Any) -> Any:  # noqa: ANN401 - any part of a record
    if isinstance(value, SymbolicBool | bool):
        return "?"
    if isinstance(value, SymbolicInt | int):
        return "#"
    if isinstance(value, tuple):
        return tuple(_form(part) for part in value)
    return value


def graphs_of(component: str) -> Iterator[Graph]:
    """The state graphs of the closed models of a component, all its modes and levels, with transitions."""
    from model.closed_models import closed_models

    for closed in closed_models():
        if component_on_wire(closed.component) == component and closed.toured:
            yield explore(closed)
