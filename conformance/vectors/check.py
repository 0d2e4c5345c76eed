"""Plays vectors: compares the answers of an implementation or of the current model with the vector's."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from conformance.adapters.in_process import INJECT, model_adapter
from conformance.adapters.protocol import Adapter, Hello, Offer, Unsupported, Wire, canonical
from conformance.divergence import Answer, Divergence
from conformance.drive.lockstep import replay
from conformance.drive.oracle import GOES_ON, Edge, Node
from conformance.generators import generate
from conformance.vectors.vector import Vector


class Difference(NamedTuple):
    """The first step of a vector whose answer differs."""

    vector: Vector
    step: int
    """The number of the step, from 1; 0 if no instance could be made."""
    written: object
    received: object

    def lines(self) -> list[str]:
        """The difference as text: the answer in the vector, then the actual one."""
        event = self.vector.steps[self.step - 1].event if self.step else "new"
        return [
            f"{self.vector.component} {self.vector.id} ({self.vector.origin}), step {self.step}: {event}",
            f"  - {self.written}",
            f"  + {self.received}",
        ]


def is_offered(vector: Vector, offers: Mapping[str, Offer]) -> bool:
    """Whether `hello` offers the component with the vector's mode, generation and level.

    A vector that does not name them has mode exactly-once, the newest generation, and level polled.
    """
    offer = offers.get(vector.component)
    if offer is None:
        return False
    if not generate.injects(vector.component, offer) and _has_injection(vector):
        return False
    known = _model_offers()[vector.component].profiles
    left_out: Wire = {"mode": "exactly-once", "level": "polled", "profile": known[-1] if known else None}
    return generate.fits({**left_out, **vector.config}, generate.offered(vector.component, offer))


def _has_injection(vector: Vector) -> bool:
    return any(step.event["kind"] == INJECT for step in vector.steps)


@cache
def _model_offers() -> Mapping[str, Offer]:
    hello = model_adapter().hello()
    assert isinstance(hello, Hello)
    return hello.components


class Written:
    """An oracle that gives the answers of a vector instead of the model's."""

    def __init__(self, vector: Vector) -> None:
        self.component, self.config = vector.component, vector.config
        self.start = Node(0, {})
        self._steps = vector.steps

    def step(self, node: Node, event: Wire) -> Edge:
        """The next step of the vector; `node.state` is its position."""
        step = self._steps[node.state]
        after = Node(node.state + 1, step.state)
        edge = Edge(b"", step.effects, step.rules, after, "an error" if step.refused else None)
        edge.fails = edge.fails and self.component not in GOES_ON
        return edge


def check(vector: Vector, adapter: Adapter) -> Difference | Unsupported | None:
    """Play a vector. Returns None if every answer is the vector's, `Unsupported` if the case is declined."""
    played = replay(Written(vector), adapter, vector.events)
    found = played.divergence
    if isinstance(played.stopped, Unsupported):
        return played.stopped
    if played.stopped is not None:
        at = played.steps
        written: object = list(vector.steps[at - 1].effects) if at else "an instance"
        return Difference(vector, at, written, played.stopped.describe())
    return None if found is None else Difference(vector, found.step, *_differing(found))


def _differing(found: Divergence) -> tuple[object, object]:
    """The value in the vector and the actual value, which differ."""
    expected, got = found.expected, found.got
    if expected.refused is not None:
        return expected.refused, got.effects if isinstance(got, Answer) else got
    if not isinstance(got, Answer):
        return list(expected.effects), got.describe()
    if canonical(got.effects) != canonical(expected.effects):
        return list(expected.effects), list(got.effects)
    shared = [name for name in expected.state if name in got.state]
    return {name: expected.state[name] for name in shared}, {name: got.state[name] for name in shared}
