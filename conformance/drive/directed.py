"""Directed cases: for each path that z3 reads in a step function, the shortest run that takes it.

A path is a conjunction of decisions. Its guard, as z3 holds it, is evaluated on the transitions of the
closed models; the first transition that satisfies it, with the shortest run that leads there, is the
path's test case. Paths that no closed model takes are counted: they need a state that the small
bounds do not reach, or that the invariants allow and the protocol never enters.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from model.components.script import Script, component_on_wire, script
from model.engines.explore import Graph, explore
from model.engines.prove import Case
from model.engines.relation import Relation
from model.engines.symbolic import SymbolicBool, SymbolicInt
from model.events import Event


class Directed(NamedTuple):
    """The cases of one component."""

    scripts: tuple[Script, ...]
    paths: int
    """All paths of the relation that were looked for."""
    hit: int


def directed_cases(graphs: Sequence[Graph], cases: Iterable[Case]) -> Directed:
    """A run for every path of `cases` that some transition of `graphs` takes; graphs keep transitions."""
    relations = [Relation(case) for case in cases]
    total = sum(len(relation) for relation in relations)
    by_shape: dict[Any, list[Relation]] = {}
    for relation in relations:
        by_shape.setdefault(shape_of(relation.case.state, relation.case.event), []).append(relation)
    taken: set[tuple[int, int]] = set()
    scripts: list[Script] = []
    for graph in graphs:
        ways = _ways(graph)
        seen: set[tuple[int, int]] = set()
        for transition in graph.transitions:
            state = graph.nodes[transition.source][0]
            once = (id(transition.step), 0)
            if once in seen:
                continue
            seen.add(once)
            for relation in by_shape.get(shape_of(state, transition.event), ()):
                for path in relation.enabled(state, transition.event):
                    if (id(relation), path) not in taken:
                        taken.add((id(relation), path))
                        run = (*ways[transition.source], transition.event)
                        scripts.append(script(graph.world, run))
    return Directed(tuple(scripts), total, len(taken))


def _ways(graph: Graph) -> list[tuple[Event, ...]]:
    """For each node the shortest run to it."""
    ways: list[tuple[Event, ...] | None] = [None] * len(graph.nodes)
    ways[0] = ()
    for transition in graph.transitions:  # breadth first: the source is known before its transitions
        if ways[transition.target] is None:
            before = ways[transition.source]
            assert before is not None
            ways[transition.target] = (*before, transition.event)
    return [way or () for way in ways]


def shape_of(state: Any, event: Event) -> Any:  # noqa: ANN401 - any component's state
    """What a case fixes of a state and an event: lengths, words, classes, and the event's position."""
    position = event[0] if event and type(event[0]) is int and event[-1] in _POSITIONED else None
    return (event[-1], position, _form(state))


_POSITIONED = ("announce", "barrier", "cancel", "end_of_partition", "acknowledge_message", "decline_message")


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
    from model.closed.worlds import small_worlds

    for world in small_worlds():
        if component_on_wire(world.component) == component and world.toured:
            yield explore(world)
