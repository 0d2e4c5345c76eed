"""The model's components in the adapter protocol (docs/adapter-protocol.md).

`COMPONENTS` maps the names of the vocabulary to components. A `Component` makes a state from a configuration,
applies one event in wire form, and returns the observable part of a state. For an illegal event it raises
`WireError` and changes nothing. So the step functions only receive events that the protocol permits.
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
"""Parts of components that the suite compares with released Flinks. No page of docs/ describes them."""
