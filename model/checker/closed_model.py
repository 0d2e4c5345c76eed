"""Closed models: a component with one declared environment, small enough to see every state.

A node is the component's state beside what the environment remembers (how far each channel has come,
which ids were used). The environment decides which events may come; bounds are guards. The gate and
the store stand in TLA+ with the very same environment (spec/models/GateModel.tla, StoreModel.tla).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from model.events import Event, Step

Environment = tuple[int, ...]
Offered = Iterator[tuple[str, Event]]
Offers = Callable[[Any], Offered]
"""From the component's state: the actions and events that may come as far as it is concerned."""


class Portions(NamedTuple):
    """How a closed model comes apart, so that one can see how little each of its moves looks at."""

    movers: tuple[Offers, ...]
    """What the closed model offers, in its order, each by itself."""
    by_member: tuple[str, ...]
    """The names of collections that are never longer or shorter: each member is a part of its own."""
    growing: Mapping[str, Any] = {}
    """The names of collections that grow and shrink, `name.*` for the members of one, each with a member that
    comes apart as all of them do; None: they do not come apart."""


class ClosedModel(NamedTuple):
    """A component closed by an environment."""

    name: str
    component: str
    """As the properties name it."""
    state: Any
    """The component at the start."""
    environment: Environment
    """What the environment remembers at the start."""
    offers: Offers
    allows: Callable[[Environment, Event], Environment | None]
    """What the environment remembers after the event; None if it does not let it happen now."""
    step: Callable[[Any, Event], Step[Any]]
    toured: bool = True
    """Its runs mean the same on the wire; not so where a bound is set lower than the protocol has it."""
    portions: Portions | None = None
    """Of a closed model with too many shapes for a kernel: a composition, a large coordinator."""
