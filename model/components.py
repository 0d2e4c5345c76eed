"""The model's components in the adapter protocol (docs/adapter-protocol.md), by the names of the vocabulary.

A `Component` makes a state from a configuration, applies one event given as a wire object, and shows the
observable part of a state. An illegal event raises `WireError` and changes nothing, because the step
functions only receive events that the protocol permits. `COMPONENTS` maps names to components.
"""

from collections.abc import Mapping
from importlib import import_module

from model.component import Component
from model.coordinator.wire import failures
from model.fields import Wire, WireError
from spec.vocabulary import vocabulary

__all__ = ["COMPONENTS", "PARTS", "Component", "Wire", "WireError"]

COMPONENTS: Mapping[str, Component] = {
    name: import_module(f"model.{name}.wire").COMPONENT for name in vocabulary()
}

PARTS: Mapping[str, Component] = {"failures": failures.COMPONENT}
"""Parts of a component for tests of released generations. docs/adapter-protocol.md does not list them."""
