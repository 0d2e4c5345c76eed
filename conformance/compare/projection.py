"""Projections: how a model in TLA+ corresponds to a closed model in Python.

A projection makes the closed model from the constants of a TLA+ configuration. It translates each state of
TLA+ into a node: a state of the closed model with the words of the last step. A word is an event or an effect
as a tuple. The components declare their projections (`conformance.components`).
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.components.tla_records import Record
from conformance.vectors.tla.text import Word, plain
from model.checker.closed_model import ClosedModel
from model.components import COMPONENTS, Component
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, CoordinatorProfile
from model.events import Effect, Event
from model.gate.profiles import NEWEST, PROFILES, Profile
from spec.manifest import Model
from spec.values import State

if TYPE_CHECKING:
    from model.checker.prove import Case

Words = tuple[Word, ...]
"""The value of `out`: the event and its effects, each as a tuple that begins with its kind."""

Node = tuple[Any, tuple[int, ...], Words]
"""A node of the compared graph: the component, the environment's memory, the words of the last step."""


class Given(NamedTuple):
    """The configuration of a TLA+ model: its constants, and the operators that it replaces."""

    numbers: Mapping[str, int | bool]
    sets: Mapping[str, tuple[int, ...]]
    replaced: Mapping[str, str]

    def number(self, name: str) -> int:
        """The value of a constant that is a number."""
        return int(self.numbers[name])

    def flag(self, name: str) -> bool:
        """The value of a constant that is a truth value."""
        return bool(self.numbers[name])

    @property
    def gates(self) -> Profile:
        """The generation of the gate (`Switches <- Flink_1_9`); the newest if none is picked."""
        picked = self.generation("Switches", "Flink_")
        return NEWEST if picked is None else PROFILES[f"flink-{picked}"]

    @property
    def coordinators(self) -> CoordinatorProfile:
        """The generation of the coordinator; the newest if none is picked."""
        picked = self.generation("CoordinatorSwitches", "Coordinator_")
        return NEWEST_COORDINATOR if picked is None else COORDINATOR_PROFILES[picked]

    def generation(self, name: str, prefix: str) -> str | None:
        """The generation that the operator `name` is replaced by (`Flink_1_9` is 1.9); None if it is not."""
        picked = self.replaced.get(name)
        return None if picked is None else picked.removeprefix(prefix).replace("_", ".")


def given_by(model: Model) -> Given:
    """The configuration of a model of spec/manifests."""
    constants = dict(model.configuration.constants)
    sets = {name: value for name, value in constants.items() if isinstance(value, tuple)}
    numbers = {name: value for name, value in constants.items() if not isinstance(value, tuple)}
    return Given(numbers, sets, dict(model.configuration.replaced))


class Projection(NamedTuple):
    """One closed model in Python, and its correspondence to a model in TLA+."""

    closed_model: ClosedModel
    node: Callable[[State], Node]
    """Translates a state of TLA+."""
    words: Callable[[Event, tuple[Effect, ...]], Words]
    """Translates the event and the effects of one step of the closed model."""
    cases: "Callable[[], list[Case]] | None" = None
    """The symbolic cases that cover the closed model's steps.

    None if there would be too many shapes. Then only TLC and the explorer are compared.
    """


def of_step(
    event: Callable[[Event], Word], effect: Callable[[Effect], Word]
) -> Callable[[Event, tuple[Effect, ...]], Words]:
    """A function that returns the words of a step, from those of its event and effects. Words are cached."""
    event_word, effect_word = cache(event), cache(effect)
    return lambda taken, effects: (event_word(taken), *map(effect_word, effects))


def _same(one: object) -> object:
    return one


def plain_event(component: Component, hook: Callable[[Wire], Word] | None = None) -> Callable[[Event], Word]:
    """A function that returns the word of an event: `hook` of its wire object; default: kind and fields."""
    if hook is None:
        return lambda event: plain(component.name, component.event(event), _same)
    return lambda event: hook(component.event(event))


def plain_effect(
    component: Component, hook: Callable[[Wire], Word] | None = None
) -> Callable[[Effect], Word]:
    """A function that returns the word of an effect: `hook` of its wire object; default: kind and fields."""
    write = component.words.write_effect
    if hook is None:
        return lambda effect: plain(component.name, write(effect), _same)
    return lambda effect: hook(write(effect))


def projected(
    closed: ClosedModel,
    component: str,
    state: tuple[str, Record],
    *,
    beside: Callable[[State], tuple[int, ...]] = lambda state: (),
    event: Callable[[Wire], Word] | None = None,
    effect: Callable[[Wire], Word] | None = None,
    cases: "Callable[[], list[Case]] | None" = None,
) -> Projection:
    """The projection of a component that is one record in TLA+, in the variable that `state` names.

    `beside`: reads the environment's memory. `event` and `effect`: make their words, if these are not plain.
    """
    variable, record = state
    on_wire = COMPONENTS[component]

    def node(there: State) -> Node:
        return record.read(there[variable], closed.state), beside(there), there["out"]

    return Projection(
        closed, node, of_step(plain_event(on_wire, event), plain_effect(on_wire, effect)), cases
    )


def by_channel(channels: int) -> Callable[[State], tuple[int, ...]]:
    """The environment's memory of a gate: the last id of each channel."""
    return lambda state: tuple(state["last"][channel] for channel in range(channels))
