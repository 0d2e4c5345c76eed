"""Breadth-first exploration of a closed model: every reachable state, every transition, shortest runs.

The engine knows no rule. It evaluates each property once for every distinct component state or step,
remembers for each node how it was first reached, and gives back the labelled graph or the shortest
run to a violation.
"""

from typing import Any, NamedTuple

from model.closed import World
from model.events import Event, Step
from model.properties import Property

Node = tuple[Any, tuple[int, ...]]


class Transition(NamedTuple):
    """One edge of the state graph."""

    source: int
    action: str
    event: Event
    step: Step[Any]
    target: int


class Violation(NamedTuple):
    """Properties that do not hold, and the shortest run that shows it."""

    rules: tuple[str, ...]
    """The rules that the last event breaks, in the order of the index."""
    properties: tuple[str, ...]
    run: tuple[Event, ...]
    state: object
    """The component before the last event, or the state itself for a state property."""


class Graph(NamedTuple):
    """The reachable part of a closed model."""

    world: World
    nodes: tuple[Node, ...]
    """In the order of discovery; the first is the start."""
    transitions: tuple[Transition, ...]
    """Empty if only counted."""
    transition_count: int
    depth: int
    """Number of events on the longest shortest run."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""


class TooManyStatesError(RuntimeError):
    """The closed model has more states than allowed."""


def explore(
    world: World,
    properties: tuple[Property, ...] = (),
    *,
    keep_transitions: bool = True,
    limit: int = 5_000_000,
) -> Graph:
    """Explore `world` until nothing new appears, a property fails, or `limit` nodes are known.

    Raises TooManyStatesError beyond the limit.
    """
    search = _Search(world, properties)
    start: Node = (world.state, world.environment)
    nodes: list[Node] = [start]
    index: dict[Node, int] = {start: 0}
    parents: list[tuple[int, Event]] = [(-1, ())]
    transitions: list[Transition] = []
    count = depth = 0
    frontier = [0]
    allows, moves_of = world.allows, search.moves
    broken = search.broken_states(world.state)
    if broken:
        return search.graph(nodes, (), 0, 0, violation(broken, (), world.state))
    while frontier:
        found: list[int] = []
        for source in frontier:
            state, environment = nodes[source]
            for action, event, step, broken in moves_of(state):
                after = allows(environment, event)
                if after is None:
                    continue
                count += 1
                node = (step.state, after)
                target = index.get(node)
                if target is None:
                    target = len(nodes)
                    index[node] = target
                    nodes.append(node)
                    parents.append((source, event))
                    found.append(target)
                if keep_transitions:
                    transitions.append(Transition(source, action, event, step, target))
                if broken:
                    run = (*run_to(parents, source), event)
                    shown = violation(broken, run, state)
                    return search.graph(nodes, transitions, count, depth + 1, shown)
        if len(nodes) > limit:
            raise TooManyStatesError(f"{world.name}: more than {limit} states; use smaller bounds")
        frontier = found
        depth += bool(found)
    return search.graph(nodes, transitions, count, depth, None)


def run_to(parents: list[tuple[int, Event]], node: int) -> tuple[Event, ...]:
    """The events of the run by which the node was first reached."""
    events: list[Event] = []
    while node > 0:
        node, event = parents[node]
        events.append(event)
    return tuple(reversed(events))


def violation(broken: tuple[Property, ...], run: tuple[Event, ...], state: object) -> Violation:
    """The broken properties with the run that breaks them."""
    rules = tuple(dict.fromkeys(known.rule for known in broken))
    return Violation(rules, tuple(known.name for known in broken), run, state)


Move = tuple[str, Event, Step[Any], tuple[Property, ...]]


class _Search:
    """The moves of each component state, each stepped and checked once."""

    def __init__(self, world: World, properties: tuple[Property, ...]) -> None:
        self.world = world
        self.over_steps = [known for known in properties if known.over_steps]
        self.over_states = [known for known in properties if not known.over_steps]
        self.known: dict[Any, tuple[Move, ...]] = {}
        self.rules: set[str] = set()

    def moves(self, state: Any) -> tuple[Move, ...]:  # noqa: ANN401 - any component's state
        """What the component may do next, with the properties that each move breaks."""
        moves = self.known.get(state)
        if moves is None:
            moves = tuple(self._move(state, action, event) for action, event in self.world.offers(state))
            self.known[state] = moves
        return moves

    def _move(self, state: Any, action: str, event: Event) -> Move:  # noqa: ANN401
        step = self.world.step(state, event)
        self.rules.update(step.rules)
        broken = tuple(
            known for known in self.over_steps if not known.holds(state, event, step.effects, step.state)
        )
        return action, event, step, (*broken, *self.broken_states(step.state))

    def broken_states(self, state: Any) -> tuple[Property, ...]:  # noqa: ANN401
        """The state properties that do not hold."""
        return tuple(known for known in self.over_states if not known.holds(state))

    def graph(
        self,
        nodes: list[Node],
        transitions: list[Transition] | tuple[()],
        count: int,
        depth: int,
        violation: Violation | None,
    ) -> Graph:
        """What was found."""
        return Graph(
            self.world, tuple(nodes), tuple(transitions), count, depth, violation, frozenset(self.rules)
        )
