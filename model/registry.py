"""Properties: the rules as predicates over a state or over a step of the model.

A state property `holds(state)` must be true in every reachable state. A step property `holds(before, event,
effects, after)` must be true for every step from a reachable state. Both are Python functions over the
model's records. The explorer evaluates them, and the prover evaluates the same code on symbols.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

from model.event_frames import Frame
from model.events import Effects, Event

FRAME_OF = "frame of "
"""The prefix of the name of each property that states a frame."""


class Start(NamedTuple):
    """The creation of a component, as the first event of an induction. No component has a step for it."""

    kind: str = "start"


class Property(NamedTuple):
    """One predicate that states a rule over one component."""

    rule: str
    component: str
    over_steps: bool
    holds: Callable[..., bool]
    over_starts: bool = False
    """The property restricts only the state of a new component (`Registry.initial`)."""
    part: Callable[[Any], Any] | None = None
    """Returns the part of a state to which the property applies, if this part is another component."""
    events: tuple[type, ...] = ()
    """The property restricts only steps for events of these classes. Empty: every step, or states."""

    @property
    def name(self) -> str:
        """The name of the predicate's function. The rule index uses it."""
        return self.holds.__name__

    def concerns(self, event: Event) -> bool:
        """Whether the property restricts steps for this event. Otherwise it is true for all of them."""
        return not self.events or type(event) in self.events

    @property
    def is_frame(self) -> bool:
        """Whether the property is the frame of an event."""
        return self.name.startswith(FRAME_OF)


class Registry:
    """The properties of one component, in the order of registration. Its methods are decorators."""

    def __init__(self, component: str) -> None:
        self.component = component
        self.properties: list[Property] = []

    def state(self, rule: str) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
        """Registers a predicate over every reachable state."""

        def add(holds: Callable[..., bool]) -> Callable[..., bool]:
            self.properties.append(Property(rule, self.component, False, holds))
            return holds

        return add

    def initial(self, rule: str) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
        """Registers a predicate over the state of a new component, as in a `start_case` of the prover."""

        def add(holds: Callable[..., bool]) -> Callable[..., bool]:
            @wraps(holds)
            def starts(before: object, event: Event, effects: Effects, after: object) -> bool:
                return type(event) is not Start or holds(after)

            stated = Property(rule, self.component, True, starts, over_starts=True, events=(Start,))
            self.properties.append(stated)
            return holds

        return add

    def step(self, rule: str, *events: type) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
        """Registers a predicate over every step, or over every step for an event of these classes."""

        def add(holds: Callable[..., bool]) -> Callable[..., bool]:
            @wraps(holds)
            def of_these(before: object, event: Event, effects: Effects, after: object) -> bool:
                return type(event) not in events or holds(before, event, effects, after)

            stated = of_these if events else holds
            self.properties.append(Property(rule, self.component, True, stated, events=events))
            return holds

        return add

    def part(self, other: "Registry", part: Callable[[Any], Any]) -> None:
        """Registers the state properties of `other`, the registry of a part of this component.

        `part` returns this part of a state. The properties keep their rules. Properties of a new part are
        included. Step properties are omitted, because a step of the part is not a step of the whole.
        """

        def add(found: Property) -> None:
            @wraps(found.holds)
            def holds(*states: object) -> bool:
                return found.holds(*states[:-1], part(states[-1]))

            self.properties.append(found._replace(component=self.component, holds=holds, part=part))

        for found in other.properties:
            if found.over_starts or not found.over_steps:
                add(found)

    def frames(self, frames: Mapping[type, Frame]) -> None:
        """Registers the frame of each class of event as a step property."""

        def add(kind: type, frame: Frame) -> None:
            def holds(before: object, event: Event, effects: Effects, after: object) -> bool:
                return frame.holds(before, effects, after)

            holds.__name__ = f"{FRAME_OF}{kind.__name__}"
            holds.__doc__ = (
                f"Changes at most: {frame.changes or 'nothing'}. Effects: {frame.effects or 'none'}."
            )
            self.step(frame.rule, kind)(holds)

        for kind, frame in frames.items():
            add(kind, frame)
