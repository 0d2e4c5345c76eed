"""The oracle: one component of the model, which gives the permitted answer to each event.

The model is pure, so its answer to an event in a state never changes. The oracle keeps the part of its
state graph that was walked already and runs the model only for new edges; random walks return to the same
states so often that this is several times faster.
"""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import orjson

from conformance.adapters.protocol import Effects, Wire, canonical
from model.components import COMPONENTS, PARTS, Component, WireError

GOES_ON = frozenset({"coordinator", "source"})
"""Components that continue after the effect `fail`: in the real system they throw an exception and go on."""
NODES_KEPT = 100_000
"""The number of states that are cached; when it is reached, the oracle clears the cache."""

CHANNELS_OF_A_NODE = 100
"""A gate with k times this number of channels has states k times as large, so fewer are cached."""


class Node:
    """One state of the model, with its observable part and the edges that were walked so far."""

    __slots__ = ("_spelled", "edges", "mark", "observed", "state")

    def __init__(self, state: Any, observed: Wire) -> None:  # noqa: ANN401 - the model's own state
        self.state = state
        self.observed = observed
        self.edges: dict[bytes, Edge] = {}
        self.mark: int | None = None
        """The hash of the state, which `conformance.cases.guided` sets."""
        self._spelled: bytes | None = None

    @property
    def spelled(self) -> bytes:
        """The observable state as canonical JSON, which is compared. Computed at its first use."""
        if self._spelled is None:
            self._spelled = canonical(self.observed)
        return self._spelled


class Edge:
    """The answer that the model expects to one event in one state.

    `refused` is None, or the reason why the protocol does not allow the event in this state. Then the
    implementation has to answer with an error, and `after` is the previous state.
    """

    __slots__ = ("after", "effects", "fails", "marks", "refused", "rules", "sent", "spelled")

    def __init__(
        self, sent: bytes, effects: Effects, rules: tuple[str, ...], after: Node, refused: str | None
    ) -> None:
        self.sent = sent
        """The event, as it is sent."""
        self.marks: tuple[int, int] | None = None
        """The hashes of the transition and of its path, which `conformance.cases.guided` sets."""
        self.effects = effects
        self.spelled = canonical(effects)
        self.rules = rules
        self.after = after
        self.refused = refused
        self.fails = any(effect["kind"] == "fail" for effect in effects)
        """Whether the task fails. Then the instance is not used again, and its state is not observed."""


class Expects(Protocol):
    """The source of the permitted answers: the model, or its recorded answers."""

    component: str
    config: Wire
    start: Node

    def step(self, node: Node, event: Wire) -> Edge:
        """The permitted answer to `event` in the state `node`."""


class Oracle:
    """The model of one component under one configuration."""

    def __init__(self, component: str, config: Wire, models: "Models | None" = None) -> None:
        """Raises WireError if the configuration is outside the protocol."""
        self._nodes: dict[Hashable, Node] = {}
        channels = config.get("channels")
        many = channels // CHANNELS_OF_A_NODE if type(channels) is int else 0
        self._kept = NODES_KEPT // (1 + max(0, many))
        self.component = component
        self.config = config
        self._model: Component = (models or {**COMPONENTS, **PARTS})[component]
        self.start = self._node(self._model.new(config))

    def __del__(self) -> None:
        """Cut the cycles of the graph: it is large, and Python frees cycles late."""
        for node in self._nodes.values():
            node.edges.clear()

    def step(self, node: Node, event: Wire) -> Edge:
        """The expected answer to `event` in `node`."""
        key = orjson.dumps(event)
        edge = node.edges.get(key)
        if edge is None:
            edge = node.edges[key] = self._computed(node, event, key)
        return edge

    def transcript(self, events: Sequence[Wire]) -> list[Edge]:
        """The expected answer to each event of a sequence."""
        node, edges = self.start, []
        for event in events:
            edge = self.step(node, event)
            edges.append(edge)
            node = edge.after
        return edges

    def key(self, node: Node) -> Hashable:
        """The identity of the node's state."""
        return self._model.key(node.state)

    def fired(self) -> set[str]:
        """The rules on the edges that were walked and are remembered."""
        edges = (edge for node in self._nodes.values() for edge in node.edges.values())
        return {rule for edge in edges for rule in edge.rules}

    def _computed(self, node: Node, event: Wire, sent: bytes) -> Edge:
        try:
            state, effects, rules = self._model.apply(node.state, event)
        except WireError as refused:
            return Edge(sent, (), (), node, str(refused))
        edge = Edge(sent, effects, rules, self._node(state), None)
        edge.fails = edge.fails and self.component not in GOES_ON
        return edge

    def _node(self, state: Any) -> Node:  # noqa: ANN401 - the model's own state
        key = self._model.key(state)
        node = self._nodes.get(key)
        if node is None:
            if len(self._nodes) >= self._kept:
                self.forget()
            node = self._nodes[key] = Node(state, self._model.observe(state))
        return node

    @property
    def remembered(self) -> int:
        """The number of cached states."""
        return len(self._nodes)

    def forget(self) -> None:
        """Clear the cache. A case that is under way keeps its own node."""
        self._nodes.clear()
        if hasattr(self, "start"):
            self.start.edges.clear()
            self._nodes[self._model.key(self.start.state)] = self.start


class Oracles:
    """One oracle for each configuration of a component, kept so that later cases use its cached states."""

    def __init__(self, component: str) -> None:
        self._component = component
        self._by_config: dict[bytes, Oracle] = {}

    def of(self, config: Wire) -> Oracle:
        """The oracle of a configuration."""
        key = canonical(config)
        oracle = self._by_config.get(key)
        if oracle is None:
            oracle = self._by_config[key] = Oracle(self._component, config)
        return oracle


Models = dict[str, Component]
"""The components that an `Oracle` may use in place of those of the model, by name."""
