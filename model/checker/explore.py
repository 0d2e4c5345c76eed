"""Breadth-first exploration of a closed model: every reachable state, every transition, shortest runs.

The explorer contains no rule of the protocol. It evaluates each property once for every distinct component
state or step. For each node it stores the move that first reached the node. The result is the state graph, or
the shortest run to a violation.
"""

from typing import Any, NamedTuple

from model.checker.closed_model import ClosedModel, Environment
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
    """The rules that the last event breaks, in the order of the properties."""
    properties: tuple[str, ...]
    run: tuple[Event, ...]
    state: object
    """The component's state before the last event. If the run is empty, the initial state."""


class Graph(NamedTuple):
    """The reachable part of a closed model."""

    closed: ClosedModel
    nodes: tuple[Node, ...]
    """In the order of discovery. The first one is the start."""
    transitions: tuple[Transition, ...]
    """Empty if the transitions are only counted."""
    transition_count: int
    depth: int
    """The length in events of the shortest run to the node that is farthest from the start."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""


class TooManyStatesError(RuntimeError):
    """The closed model has more states than allowed."""


def explore(
    closed: ClosedModel,
    properties: tuple[Property, ...] = (),
    *,
    keep_transitions: bool = True,
    limit: int = 5_000_000,
) -> Graph:
    """Explores `closed` until it finds no new node or a property fails.

    Raises TooManyStatesError if there are more than `limit` nodes.
    """
    search = _Search(closed, properties)
    start = (search.component(closed.state), search.environment(closed.environment))
    nodes: list[Numbers] = [start]
    index: dict[Numbers, int] = {start: 0}
    parents: list[tuple[int, Event]] = [(-1, ())]
    transitions: list[Transition] = []
    count = depth = 0
    frontier = [0]
    moves_of, permitted, permit = search.moves, search.permitted, search.permit
    broken = search.broken[start[0]]
    if broken:
        return search.graph(nodes, (), 0, 0, violation(broken, (), closed.state))
    while frontier:
        found: list[int] = []
        for source in frontier:
            component, environment = nodes[source]
            known_here = permitted[environment]
            for action, event, number, step, broken, becomes in moves_of(component):
                after = known_here.get(number)
                if after is None:
                    after = permit(environment, number, event)
                if after == REFUSED:
                    continue
                count += 1
                node = (becomes, after)
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
                    shown = violation(broken, run, search.components[component])
                    return search.graph(nodes, transitions, count, depth + 1, shown)
        if len(nodes) > limit:
            raise TooManyStatesError(f"{closed.name}: more than {limit} states; use smaller bounds")
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


REFUSED = -1
"""Replaces the number of the environment after an event that the environment does not permit."""

Numbers = tuple[int, int]
"""A node inside the search: the numbers of its component state and of its environment."""

Move = tuple[str, Event, int, Step[Any], tuple[Property, ...], int]
"""Action, event and its number, the step, the broken properties, the number of the state after."""


class _Search:
    """The moves of each component state. Each step is taken and checked once.

    Component states, environments and events get numbers at their first occurrence. So two ints identify a
    node, and the search never hashes a whole node.
    """

    def __init__(self, closed: ClosedModel, properties: tuple[Property, ...]) -> None:
        self.closed = closed
        self.over_steps = [known for known in properties if known.over_steps]
        self.over_states = [known for known in properties if not known.over_steps]
        self._concerned: dict[type, tuple[Property, ...]] = {}
        """By class of event: the step properties that concern it."""
        self.rules: set[str] = set()
        self.components: list[Any] = []
        self.environments: list[Environment] = []
        self.permitted: list[dict[int, int]] = []
        """For each environment: from an event's number to the environment after it, or REFUSED."""
        self.broken: list[tuple[Property, ...]] = []
        """For each component state: the state properties that do not hold."""
        self._moves: list[tuple[Move, ...] | None] = []
        self._component_numbers: dict[Any, int] = {}
        self._environment_numbers: dict[Environment, int] = {}
        self._event_numbers: dict[Event, int] = {}

    def component(self, state: Any) -> int:  # noqa: ANN401 - any component's state
        """The number of a component state."""
        number = self._component_numbers.setdefault(state, len(self.components))
        if number == len(self.components):
            self.components.append(state)
            self.broken.append(tuple(known for known in self.over_states if not known.holds(state)))
            self._moves.append(None)
        return number

    def environment(self, environment: Environment) -> int:
        """The number of an environment."""
        number = self._environment_numbers.setdefault(environment, len(self.environments))
        if number == len(self.environments):
            self.environments.append(environment)
            self.permitted.append({})
        return number

    def permit(self, environment: int, number: int, event: Event) -> int:
        """The number of the environment after an event, or REFUSED.

        The search computes it once for each pair.
        """
        after = self.closed.allows(self.environments[environment], event)
        answer = REFUSED if after is None else self.environment(after)
        self.permitted[environment][number] = answer
        return answer

    def moves(self, component: int) -> tuple[Move, ...]:
        """The moves of a component state, with the properties that each breaks."""
        moves = self._moves[component]
        if moves is None:
            state = self.components[component]
            moves = tuple(self._move(state, action, event) for action, event in self.closed.offers(state))
            self._moves[component] = moves
        return moves

    def _move(self, state: Any, action: str, event: Event) -> Move:  # noqa: ANN401
        step = self.closed.step(state, event)
        self.rules.update(step.rules)
        concerned = self._concerned.get(type(event))
        if concerned is None:
            concerned = tuple(known for known in self.over_steps if known.concerns(event))
            self._concerned[type(event)] = concerned
        broken = tuple(
            known for known in concerned if not known.holds(state, event, step.effects, step.state)
        )
        number = self._event_numbers.setdefault(event, len(self._event_numbers))
        becomes = self.component(step.state)
        return action, event, number, step, (*broken, *self.broken[becomes]), becomes

    def graph(
        self,
        nodes: list[Numbers],
        transitions: list[Transition] | tuple[()],
        count: int,
        depth: int,
        violation: Violation | None,
    ) -> Graph:
        """The explored graph."""
        found = tuple((self.components[state], self.environments[after]) for state, after in nodes)
        return Graph(self.closed, found, tuple(transitions), count, depth, violation, frozenset(self.rules))
