"""The triangle: TLC's state graph, the explorer's graph and the z3 relation, state for state, edge for edge.

The same closed model is written in TLA+ and in Python. TLC dumps its graph, and the explorer visits the model
in Python. For every step of the explorer, the relation that z3 reads is evaluated, too. A node consists of
the component, its environment and the words of the last step, so equal edges have the same event and effects.
The first difference is reported with the two sides that differ, and with the rules that the model fires at
this edge.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conformance.cases.directed import shape_of
from conformance.compare.projection import Node, Projection, Words
from conformance.components.registry import projection_of
from model.checker.explore import Graph, explore
from model.checker.prove import Case
from model.checker.relation import DifferentCaseError, NotDeterministicError, Relation
from model.events import Effects, Event, Rules
from spec.manifest import Model
from spec.stategraph import StateGraph, state_graph

Edge = tuple[Node, str, Node]
Numbered = tuple[int, str, int]

OUTSIDE = "TLC differs from the explorer and z3"
INSIDE = "the explorer differs from the z3 relation"


class Difference(NamedTuple):
    """The first state and action in which TLC, the explorer and z3 do not agree."""

    sides: str
    """OUTSIDE or INSIDE: the two sides that differ. The rule decides which of them is right."""
    rules: Rules
    """The rules that the model fires at this edge; empty if the model has no such edge."""
    story: str


class Agreement(NamedTuple):
    """The compared states and edges of one model, and the first difference if there is one."""

    model: str
    states: int
    edges: int
    steps: int
    """Distinct steps of the component that were compared with z3's relation; 0 where it has no case."""
    difference: Difference | None


def triangle(model: Model, kept: Path | None = None) -> Agreement:
    """Compare one model of spec/manifests; `kept`: a folder that may already have TLC's dump of its graph.

    Raises TlcError if TLC fails, ProjectionError if no projection is declared.
    """
    return compare(model.name, state_graph(model, kept=kept), projection_of(model))


def compare(name: str, dumped: StateGraph, projection: Projection) -> Agreement:
    """Compare TLC's graph with the explorer's graph and with the z3 relation."""
    explored = explore(projection.closed_model)
    numbers = _Numbers()
    edges = dict(_edges(explored, projection, numbers))
    nodes = {fingerprint: numbers.of(projection.node(state)) for fingerprint, state in dumped.nodes.items()}
    tlc = {(nodes[source], action, nodes[target]) for source, action, target in dumped.edges}
    start: Node = (projection.closed_model.state, projection.closed_model.environment, ())
    difference = _two_as_one(dumped, nodes)
    if {nodes[fingerprint] for fingerprint in dumped.initial} != {numbers.of(start)}:
        difference = Difference(OUTSIDE, (), f"the initial states differ; the explorer starts in {start}")
    steps = 0
    if difference is None and projection.cases is not None:
        steps, difference = _Relations(projection.cases()).compare(explored)
    if difference is None:
        difference = numbers.first_difference(tlc, edges)
    return Agreement(name, len(nodes), len(tlc), steps, difference)


def _two_as_one(dumped: StateGraph, nodes: dict[int, int]) -> Difference | None:
    """The difference if two states of TLA+ correspond to one node, else None."""
    first: dict[int, int] = {}
    for fingerprint, number in nodes.items():
        other = first.setdefault(number, fingerprint)
        if other != fingerprint:
            one, two = dumped.nodes[other], dumped.nodes[fingerprint]
            differences = [
                f"    {name}: {one[name]} and {two[name]}" for name in sorted(one) if one[name] != two[name]
            ]
            story = "\n".join(["two states of TLA+ are one of the model; they differ in", *differences])
            return Difference(OUTSIDE, (), story)
    return None


class _Numbers:
    """Nodes by numbers, so that those of a large model are hashed once and not with each edge."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}

    def of(self, node: Node) -> int:
        """The number of a node."""
        return self._numbers.setdefault(node, len(self._numbers))

    def first_difference(self, tlc: set[Numbered], explored: dict[Numbered, Rules]) -> Difference | None:
        """The first difference between the two sets of edges."""
        if tlc == explored.keys():
            return None
        nodes = tuple(self._numbers)
        return _first_difference(
            {(nodes[source], action, nodes[target]) for source, action, target in tlc},
            {
                (nodes[source], action, nodes[target]): rules
                for (source, action, target), rules in explored.items()
            },
        )


def _edges(explored: Graph, projection: Projection, numbers: _Numbers) -> Iterator[tuple[Numbered, Rules]]:
    """The explorer's edges between nodes that carry the words of the step that led to them."""
    known: dict[tuple[int, Words], int] = {}

    def number(node: int, step_words: Words) -> int:
        found = known.get((node, step_words))
        if found is None:
            found = known[node, step_words] = numbers.of((*explored.nodes[node], step_words))
        return found

    words: dict[int, set[Words]] = {0: {()}}
    words_of = [projection.words(edge.event, edge.step.effects) for edge in explored.transitions]
    for edge, step_words in zip(explored.transitions, words_of, strict=True):
        words.setdefault(edge.target, set()).add(step_words)
    for edge, step_words in zip(explored.transitions, words_of, strict=True):
        target = number(edge.target, step_words)
        for before in words[edge.source]:
            yield (number(edge.source, before), edge.action, target), edge.step.rules


def _first_difference(tlc: set[Edge], explored: dict[Edge, Rules]) -> Difference | None:
    """The first edge that only one of the graphs has, else None. Here z3 agrees with the explorer."""
    only_tlc = tlc - explored.keys()
    only_explorer = explored.keys() - tlc
    if not only_tlc and not only_explorer:
        return None
    common = {edge[0] for edge in tlc} & {edge[0] for edge in explored}  # edges from these nodes come first
    first = min((*only_tlc, *only_explorer), key=lambda edge: (edge[0] not in common, _order(edge)))
    source, action, target = first
    if first in explored:
        rules, has, has_not = explored[first], "the explorer and z3", "TLC"
    else:
        twins = [
            rules
            for edge, rules in explored.items()
            if edge[:2] == (source, action) and edge[2][2][:1] == target[2][:1]
        ]
        rules, has, has_not = (twins[0] if twins else ()), "TLC", "the explorer and z3"
    others = [edge for edge in (*only_tlc, *only_explorer) if edge[0] == source and edge != first]
    story = [
        f"{has} go{'es' if has == 'TLC' else ''} with {action} from",
        f"    {_shown(source)}",
        "  to",
        f"    {_shown(target)}",
        f"  {has_not} do{'es' if has_not == 'TLC' else ''} not.",
        *(
            f"  the other side has: {edge[1]} to {_shown(edge[2])}\n"
            f"  different in {'; '.join(_differing_places(target, edge[2]))}"
            for edge in sorted(others, key=lambda edge: (edge[1] != action, _order(edge)))[:1]
        ),
    ]
    return Difference(OUTSIDE, rules, "\n".join(story))


def _order(edge: Edge) -> tuple[int, str]:
    """The sort key of edges: small ids in the environment's memory first."""
    return (sum(edge[0][1]), repr(edge))


def _differing_places(one: Any, two: Any, place: str = "") -> Iterator[str]:  # noqa: ANN401 - any part of a node
    """The places at which two nodes, or parts of them, differ."""
    if one == two:
        return
    if type(one) is type(two) and isinstance(one, tuple) and len(one) == len(two):
        names = getattr(one, "_fields", range(len(one)))
        for name, left, right in zip(names, one, two, strict=True):
            yield from _differing_places(left, right, f"{place}.{name}" if place else str(name))
    else:
        yield f"{place}: {one} and {two}"


def _shown(node: Node) -> str:
    state, environment, words = node
    return f"{state}, environment {environment}, words {words}"


class _Relations:
    """The z3 relation of a closed model: one compiled relation for each case."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._by_shape: dict[Any, list[Relation]] = {}
        for case in cases:
            self._by_shape.setdefault(shape_of(case.state, case.event), []).append(Relation(case))

    def step(self, state: Any, event: Event) -> tuple[Any, Effects]:  # noqa: ANN401 - any component's state
        """The next state and the effects, by the relation for states and events of this shape."""
        for relation in self._by_shape[shape_of(state, event)]:
            try:
                return relation.step(state, event)
            except DifferentCaseError:
                continue
        raise NotDeterministicError(f"no case has {event} in {state}")

    def compare(self, explored: Graph) -> tuple[int, Difference | None]:
        """Compare every distinct step of the explorer. Returns how many, and the first difference or None."""
        compared: set[int] = set()
        for edge in explored.transitions:
            if id(edge.step) in compared:
                continue
            compared.add(id(edge.step))
            state = explored.nodes[edge.source][0]
            try:
                after, effects = self.step(state, edge.event)
            except NotDeterministicError as error:
                return len(compared), Difference(INSIDE, edge.step.rules, str(error))
            if (after, effects) != (edge.step.state, edge.step.effects):
                story = (
                    f"in {state} with {edge.event}\n  z3 leads to      {after} {effects}\n"
                    f"  the explorer to  {edge.step.state} {edge.step.effects}"
                )
                return len(compared), Difference(INSIDE, edge.step.rules, story)
        return len(compared), None
