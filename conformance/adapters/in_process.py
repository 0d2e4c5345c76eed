"""Adapters for implementations in this process: objects with `apply(event)` and `observe()`.

`InProcess` is generic over a mapping from component names to factories of such objects. `model_adapter`
plugs in the reference model, which also reports which rules fired.
"""

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from conformance.adapters import protocol
from conformance.version import own_version
from model.components import COMPONENTS, Component, WireError
from spec.vocabulary import types, vocabulary

Refusals = tuple[type[Exception], ...]


class Instance(Protocol):
    """A component with state. Its events, effects and observable state have wire form."""

    def apply(self, event: protocol.Wire) -> protocol.Effects:
        """Take one event and return its effects."""

    def observe(self) -> protocol.Wire:
        """The whole observable state."""


INJECT = "inject"
"""The event and the capability of a gate whose task the coordinator may trigger directly."""


def offer_of(component: str) -> protocol.Offer:
    """The offer of an implementation that has all modes, profiles and levels of a component."""
    known = vocabulary()[component]
    words = {option.name: tuple(types()[option.type].get("enum", ())) for option in known.config}
    injects = tuple(event.kind for event in known.events if event.kind == INJECT)
    return protocol.Offer(
        words.get("mode", ()), words.get("profile", ()), (*words.get("level", ()), *injects)
    )


def proposed_of(component: str) -> tuple[str, ...]:
    """The proposed generations of a component. No released jar has them, so no implementation offers them."""
    profiles = (types()[one.type] for one in vocabulary()[component].config if one.name == "profile")
    return tuple(name for one in profiles for name in one.get("proposed", ()))


class InProcess:
    """An adapter for instances that are made by factories.

    An exception of a type in `refused` is the answer `error`, one in `unsupported` the answer `unsupported`.
    Any other exception is the answer `crashed`.
    """

    def __init__(
        self,
        implementation: str,
        components: Mapping[str, Callable[[protocol.Wire], Instance]],
        refused: Refusals,
        unsupported: Refusals = (),
    ) -> None:
        self._implementation = implementation
        self._components = components
        self._refused = refused
        self._unsupported = unsupported
        self._instance: Instance | None = None

    def hello(self) -> protocol.Hello:
        """The name, our version, and all components of the mapping."""
        offers = {name: offer_of(name) for name in self._components}
        for name, offer in offers.items():
            known = vocabulary()[name].capabilities
            options = (
                *(protocol.FIRST_ID, protocol.RESTORED, protocol.CLEANING, protocol.IO_FAILURES),
                protocol.RESTORED_SAVEPOINT,
            )
            takes = tuple(word for word in options if word in known)
            offers[name] = offer._replace(capabilities=(*offer.capabilities, *takes))
        return protocol.Hello(self._implementation, own_version(), "python", offers)

    def new(self, component: str, config: protocol.Wire) -> protocol.Made | protocol.Failure:
        """Make an instance. The previous instance is dropped, even if this fails."""
        self._instance = None
        factory = self._components.get(component)
        if factory is None:
            return protocol.Unsupported(f"component {component!r}; offered: {', '.join(self._components)}")
        return self.make(factory, config)

    def make(
        self, factory: Callable[[protocol.Wire], Instance], config: protocol.Wire
    ) -> protocol.Made | protocol.Failure:
        """Make an instance with the factory. All later calls of `apply` go to this instance."""
        self._instance = None
        try:
            self._instance = factory(config)
        except self._unsupported as error:
            return protocol.Unsupported(str(error))
        except self._refused as error:
            return protocol.Errored(str(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a crash is an answer
            return _crashed(error)
        return protocol.Made()

    def apply(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Apply a batch of events. A refused event ends the batch; the events before it stay applied."""
        instance = self._instance
        if instance is None:
            return protocol.Errored("there is no instance; send `new` first")
        effects: list[protocol.Effects] = []
        return self.answer(instance, effects, map(instance.apply, events))

    def answer(
        self, instance: Instance, effects: list[protocol.Effects], coming: Iterable[protocol.Effects]
    ) -> protocol.Applied | protocol.Failure:
        """The answer to a batch. Adds the effects of each event in `coming` to `effects`.

        If an event is refused, the answer names its position.
        """
        try:
            effects.extend(coming)
            return protocol.Applied(effects, instance.observe())
        except self._refused as error:
            return protocol.Errored(str(error), len(effects))
        except self._unsupported as error:
            return protocol.Unsupported(str(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a crash is an answer
            self._instance = None
            return _crashed(error)

    def bye(self) -> None:
        """Drop the instance."""
        self._instance = None


def _crashed(error: BaseException) -> protocol.Crashed:
    return protocol.Crashed(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


class ModelInstance:
    """One component of the model with its current state. Each event replaces the state."""

    def __init__(self, component: Component, config: protocol.Wire) -> None:
        self._component = component
        self._state: Any = component.new(config)
        self.fired: list[tuple[str, ...]] = []
        """The rules that fired, one tuple for each event so far."""

    def apply(self, event: protocol.Wire) -> protocol.Effects:
        """Take one event. Raises WireError if the event is refused; the state then stays as it was."""
        self._state, effects, rules = self._component.apply(self._state, event)
        self.fired.append(rules)
        return effects

    def observe(self) -> protocol.Wire:
        """The observable state."""
        return self._component.observe(self._state)


class ModelAdapter(InProcess):
    """The reference model. Its answers also name the rules that fired at each event."""

    def __init__(self, components: Mapping[str, Component]) -> None:
        def factory(component: Component) -> Callable[[protocol.Wire], Instance]:
            return lambda config: ModelInstance(component, config)

        instances = {name: factory(component) for name, component in components.items()}
        super().__init__("barrierspec-model", instances, (WireError,))

    def apply(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Apply a batch of events; the answer also names the rules that fired."""
        answer = super().apply(events)
        if isinstance(answer, protocol.Applied) and isinstance(self._instance, ModelInstance):
            fired = self._instance.fired
            answer = answer._replace(rules=tuple(fired))
            fired.clear()
        return answer


def model_adapter(components: Mapping[str, Component] = COMPONENTS) -> ModelAdapter:
    """The adapter of the reference model, or of another mapping from names to components of a model."""
    return ModelAdapter(components)
