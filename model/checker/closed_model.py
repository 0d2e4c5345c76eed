"""Closed models: a component with one declared environment, small enough to visit every state.

A node is the component's state together with the environment's state, such as the highest id of each channel
or the used ids. The environment decides which events may arrive. Bounds are guards: the environment permits
no event beyond them. Many closed models have a TLA+ module with the same environment, such as
spec/gate/AlignedModel.tla.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from model.events import Event, Step

Environment = tuple[int, ...]
Offered = Iterator[tuple[str, Event]]
Offers = Callable[[Any], Offered]
"""A function from the component's state to the events that it permits, each with the name of its action."""


class Portions(NamedTuple):
    """The division of a closed model into parts, so that the read set of each move is small."""

    movers: tuple[Offers, ...]
    """The functions that together make the offers of the closed model, in order. Each one is a *mover*."""
    by_member: tuple[str, ...]
    """Names of collections with a fixed length. Each member is a separate part."""
    growing: Mapping[str, Any] = {}
    """By the name of a collection that grows and shrinks: an example member. `name.*` names a member itself.

    All members divide into parts like the example. If the example is None, members do not divide.
    """


class ClosedModel(NamedTuple):
    """A component together with an environment, which decides which events may come."""

    name: str
    component: str
    """The name of the component in `model.properties`."""
    state: Any
    """The initial state of the component."""
    environment: Environment
    """The initial state of the environment."""
    offers: Offers
    allows: Callable[[Environment, Event], Environment | None]
    """The environment's state after the event, or None if it does not permit the event now."""
    step: Callable[[Any, Event], Step[Any]]
    toured: bool = True
    """Whether the suite sends runs of this closed model to implementations."""
    portions: Portions | None = None
    """The division into parts. A closed model with too many shapes for a kernel needs it."""
    forgets: tuple[str, ...] = ()
    """Fields, such as `gate.first`, that keep their initial value, because TLA+ does not have them."""


def forgetting(closed: ClosedModel, *fields: str) -> ClosedModel:
    """The same closed model, but after each step these fields have their initial value again.

    The caller names only fields that no step reads.
    """

    def step(state: Any, event: Event) -> Step[Any]:  # noqa: ANN401 - any component's state
        taken = closed.step(state, event)
        after = taken.state
        for field in fields:
            after = _initial(after, closed.state, *field.split("."))
        return taken._replace(state=after)

    return closed._replace(step=step, toured=False, forgets=fields)


def _initial(state: Any, start: Any, field: str, *inner: str) -> Any:  # noqa: ANN401 - any record
    value = getattr(start, field)
    return state._replace(**{field: _initial(getattr(state, field), value, *inner) if inner else value})
