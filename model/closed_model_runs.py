"""Runs of the closed models in the form of the adapter protocol: configuration, opening, events.

In this form, a tour or a directed case of a closed model can be sent to any implementation. The *opening* is
a sequence of events. It leads from the state of a new component to the initial state of the closed model.
"""

from collections.abc import Iterable
from typing import NamedTuple

from model.checker.closed_model import ClosedModel
from model.component import WireObject
from model.components import COMPONENTS
from model.events import Event

_BY_MODEL = {closed: name for name, component in COMPONENTS.items() for closed in component.closed_as}


def component_on_wire(component: str) -> str:
    """Returns the component of the adapter protocol for a closed model's component: `gate` for `tracker`."""
    return _BY_MODEL.get(component, component)


class Script(NamedTuple):
    """One run of a closed model, ready to be sent."""

    component: str
    config: WireObject
    opening: tuple[WireObject, ...]
    events: tuple[WireObject, ...]


def script(closed: ClosedModel, run: Iterable[Event]) -> Script:
    """Returns the run in wire form. Handles of acknowledged states are `state-<position of the event>`."""
    name = component_on_wire(closed.component)
    component = COMPONENTS[name]
    config = component.config_of(closed.state)
    tasks = len(config.get("tasks", ()))
    events = tuple(component.event(event, f"state-{place}", tasks) for place, event in enumerate(run))
    return Script(name, config, component.opening(closed.state), events)
