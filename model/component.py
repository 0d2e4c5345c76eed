"""The interface between a component of the model and the adapter protocol.

Each module `model.<component>.wire` defines the interface of its component as `COMPONENT`.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from model.events import Effect, Event, Rules, Step
from model.fields import Wire, Words

WireObject = dict[str, Any]


def itself(state: Hashable) -> Hashable:
    """Returns the state. It is the `key` of a component if different states never compare as equal."""
    return state


def no_opening(state: object) -> tuple[WireObject, ...]:
    """Returns no event: the `opening` if closed models start in the state of a new component."""
    return ()


class Component(NamedTuple):
    """One component of the protocol, which takes and returns wire objects."""

    name: str
    words: Words
    new: Callable[[Wire], Any]
    """Creates a state from a configuration. Raises WireError if the configuration is not valid."""
    step: Callable[[Any, Wire], Step[Any]]
    """Takes one event in wire form. Raises WireError if it is not legal, and then changes nothing."""
    observe: Callable[[Any], WireObject]
    """Returns the observable state in wire form."""
    config_of: Callable[[Any], WireObject]
    """Returns the configuration of a closed model, given the initial state of the closed model."""
    names: Callable[[Any, Effect, WireObject], WireObject] | None = None
    """Completes the wire form of an effect with names, such as task ids, from the state after the step."""
    key: Callable[[Any], Hashable] = itself
    """Returns a hashable value that differs for different states, even if Python compares them as equal."""
    opening: Callable[[Any], tuple[WireObject, ...]] = no_opening
    """Returns the events that lead from a new component to the initial state of a closed model."""
    script: Callable[[Event, WireObject, str, int], WireObject] | None = None
    """Completes the wire form of an event of a closed model.

    The arguments are the event, its wire form, a handle for an acknowledged state, and the number of tasks.
    """
    closed_as: tuple[str, ...] = ()
    """Other names that closed models use for the component, one for each mode or level."""

    def effect(self, state: Any, effect: Effect) -> WireObject:  # noqa: ANN401 - any component's state
        """Returns one effect in wire form, given the state after the step."""
        wire = self.words.write_effect(effect)
        return wire if self.names is None else self.names(state, effect, wire)

    def apply(self, state: Any, event: Wire) -> tuple[Any, list[WireObject], Rules]:  # noqa: ANN401
        """Applies one wire event. Returns the next state, the effects as wire objects and the fired rules."""
        after, effects, rules = self.step(state, event)
        return after, [self.effect(after, effect) for effect in effects], rules

    def event(self, event: Event, handle: str = "", tasks: int = 1) -> WireObject:
        """Returns one event of a closed model in wire form."""
        wire = self.words.write(event)
        return wire if self.script is None else self.script(event, wire, handle, tasks)
