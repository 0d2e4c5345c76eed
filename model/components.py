"""The model's components on the wire (docs/adapter-protocol.md).

A `Component` makes a state from a configuration, applies one event given as a wire object, and shows the
observable part of a state. An illegal event raises `WireError` and changes nothing: the step functions only
receive events that the protocol permits. `COMPONENTS` maps names to components.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from model import fields
from model.channel.wire import effect_of_channel, key_of_channel, new_channel, observe_channel, step_channel
from model.coordinator.wire.coordinator import (
    effect_of_coordinator,
    new_coordinator,
    observe_coordinator,
    step_coordinator,
)
from model.coordinator.wire.failures import new_counting, observe_counting, step_counting
from model.events import Effect, Rules, Step
from model.fields import Wire, WireError
from model.gate.wire.gate import key_of_gate, new_gate, observe_gate, step_gate
from model.offsets.wire import new_reader, observe_reader, step_reader
from model.sink.wire import new_sink, observe_sink, step_sink
from model.source.wire import new_source, observe_source, step_source
from model.store.wire import effect_of_store, new_store, observe_store, step_store
from model.subtask.wire import effect_of_subtask, new_subtask, observe_subtask, step_subtask

__all__ = ["COMPONENTS", "PARTS", "Component", "Wire", "WireError"]


def plain_effect(state: object, effect: Effect) -> dict[str, object]:
    """An effect whose fields are the wire's fields."""
    return fields.to_wire(effect)


def itself(state: Hashable) -> Hashable:
    """A state that holds only the protocol's own ints, booleans and names."""
    return state


class Component(NamedTuple):
    """One component of the protocol, driven by wire objects."""

    name: str
    new: Callable[[Wire], Any]
    """Creates a state from a configuration. Raises WireError."""
    step: Callable[[Any, Wire], Step[Any]]
    """Takes one event in wire form. Raises WireError and then changes nothing."""
    observe: Callable[[Any], dict[str, object]]
    """Returns the observable state in wire form."""
    effect: Callable[[Any, Effect], dict[str, object]] = plain_effect
    """Returns one effect in wire form, given the state after the step."""
    key: Callable[[Any], Hashable] = itself
    """Returns a value that differs between two states, also if Python compares them as equal."""

    def apply(self, state: Any, event: Wire) -> tuple[Any, list[dict[str, object]], Rules]:  # noqa: ANN401
        """Applies one wire event: the next state, the effects as wire objects, the fired rules."""
        after, effects, rules = self.step(state, event)
        return after, [self.effect(after, effect) for effect in effects], rules


COMPONENTS: Mapping[str, Component] = {
    component.name: component
    for component in (
        Component("gate", new_gate, step_gate, observe_gate, key=key_of_gate),
        Component("channel", new_channel, step_channel, observe_channel, effect_of_channel, key_of_channel),
        Component("subtask", new_subtask, step_subtask, observe_subtask, effect_of_subtask),
        Component(
            "coordinator", new_coordinator, step_coordinator, observe_coordinator, effect_of_coordinator
        ),
        Component("store", new_store, step_store, observe_store, effect_of_store),
        Component("sink", new_sink, step_sink, observe_sink),
        Component("offsets", new_reader, step_reader, observe_reader),
        Component("source", new_source, step_source, observe_source),
    )
}

PARTS: Mapping[str, Component] = {
    "failures": Component("failures", new_counting, step_counting, observe_counting),
}
"""Parts of a component for tests of released generations; the wire's page does not list them."""
