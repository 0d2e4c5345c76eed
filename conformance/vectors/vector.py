"""One test vector: a configuration, and the steps of a run with the required effects and states."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from conformance.adapters.protocol import Effects, Wire, canonical
from conformance.drive.oracle import Oracle
from conformance.errors import InputError
from model.components import WireError


class VectorError(InputError):
    """A vector that cannot be read, or that the model does not know; the message says what was expected."""


class Expected(NamedTuple):
    """One event, with the required effects and state."""

    event: Wire
    effects: Effects
    state: Wire
    """After the event; if the event is refused, the previous state."""
    rules: tuple[str, ...]
    refused: bool = False
    """Whether the protocol does not allow the event in this state. Then the answer is an error."""


class Vector(NamedTuple):
    """One run."""

    id: str
    """A digest of component, configuration and events, which stays when the expected answers change."""
    origin: str
    """The source of the run: a named `scenario`, a golden `transcript`, the `path` of a step function that
    z3 reads, a `tour` of a small model, or a random `walk`."""
    component: str
    config: Wire
    steps: tuple[Expected, ...]

    @property
    def events(self) -> tuple[Wire, ...]:
        """The events, in order."""
        return tuple(step.event for step in self.steps)


def vector_of(origin: str, component: str, config: Wire, events: Sequence[Wire]) -> Vector:
    """The model's answers to these events. Raises VectorError if it does not know the configuration."""
    try:
        edges = Oracle(component, config).transcript(events)
    except (WireError, KeyError) as unknown:
        raise VectorError(f"the model cannot play {component} with {dict(config)}: {unknown}") from unknown
    steps = tuple(
        Expected(event, edge.effects, edge.after.observed, edge.rules, edge.refused is not None)
        for event, edge in zip(events, edges, strict=True)
    )
    return Vector(identify(component, config, events), origin, component, config, steps)


def identify(component: str, config: Wire, events: Sequence[Wire]) -> str:
    """Twelve hexadecimal digits of the hash of the component, the configuration and the events."""
    return hashlib.sha256(canonical([component, config, list(events)])).hexdigest()[:12]


def encode(vector: Vector) -> bytes:
    """A line of JSON, with its end; a step has `refused` only if it is true."""
    steps = [
        {
            "event": step.event,
            **({"refused": True} if step.refused else {"effects": step.effects}),
            "state": step.state,
            "rules": step.rules,
        }
        for step in vector.steps
    ]
    line = {**vector._asdict(), "steps": steps}
    return orjson.dumps(line, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def decode(line: bytes, where: str) -> Vector:
    """The vector of a line; raises VectorError, which names `where`."""
    try:
        read: Mapping[str, Any] = orjson.loads(line)
        steps = tuple(_step(step) for step in read["steps"])
        vector = Vector(read["id"], read["origin"], read["component"], read["config"], steps)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        raise VectorError(f"{where}: expected a line of `vectors write`, got {wrong!r}") from wrong
    if vector.id != identify(vector.component, vector.config, vector.events):
        raise VectorError(f"{where}: vector {vector.id} was changed by hand; write the vectors again")
    return vector


def _step(read: Mapping[str, Any]) -> Expected:
    refused = read.get("refused", False)
    effects = [] if refused else read["effects"]
    objects = [read["event"], read["state"], *effects]
    if not all(isinstance(one, dict) for one in objects):
        raise TypeError("an event, effects and a state are objects")
    if not all(isinstance(one.get("kind"), str) for one in (read["event"], *effects)):
        raise TypeError("an event and an effect have a kind")
    return Expected(read["event"], effects, read["state"], tuple(read["rules"]), refused)
