"""The base class of every component, which takes an event, returns effects, and has an observable state.

A component does no I/O and reads no clock. The runtime and the conformance suite carry out its effects. Each
event is a dataclass. `handle` takes an event as this dataclass, and `apply` takes it as an object of the
wire, that is, as a JSON object of the adapter protocol (module `wire`). Both call the method whose name is
the kind of the event, with the fields in order: `gate.barrier(0, 5)`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, TypeVar, get_args

from impl.core.effects import Effect
from impl.core.errors import ConfigError, ProtocolError, UnsupportedError
from impl.core.events import Event
from impl.core.wire import Wire

NO_CHECKPOINT: Final = -1
"""The value for "no checkpoint". It is below every checkpoint id, because ids are at least 0."""
Effects = tuple[Effect, ...]
EventT = TypeVar("EventT", bound=Event)
EffectT = TypeVar("EffectT", bound=Effect)


def events_of(union: object) -> Mapping[str, type[Event]]:
    """The event classes of a union type, by kind."""
    return MappingProxyType({event.kind: event for event in get_args(union)})


class Component(ABC, Generic[EventT, EffectT]):
    """A state machine of the protocol. A caller passes events by typed methods, by `handle` or by `apply`."""

    _events: ClassVar[Mapping[str, type[Any]]]

    def handle(self, event: EventT) -> tuple[EffectT, ...]:
        """Apply one typed event; returns its effects in order.

        Raises ProtocolError if the event belongs to another component or is illegal in this state. The state
        is then unchanged.
        """
        if self._events.get(event.kind) is not type(event):
            raise self._unknown(repr(event))
        return self._take(type(event), event.values())

    def _take(self, word: type[EventT], values: Iterable[object]) -> tuple[EffectT, ...]:
        effects: tuple[EffectT, ...] = getattr(self, word.kind)(*values)
        return effects

    def apply(self, event: Mapping[str, object]) -> list[Wire]:
        """Apply one event of the wire; returns its effects in order, as objects of the wire.

        Raises ProtocolError if the event is outside the protocol or illegal in this state. The state is then
        unchanged.
        """
        kind = event.get("kind")
        word = self._events.get(kind) if isinstance(kind, str) else None
        if word is None:
            raise self._unknown(f"kind {kind!r}")
        return [effect.wire() for effect in self._take(word, word.parse(event))]

    def _unknown(self, got: str) -> ProtocolError:
        return ProtocolError(
            f"{type(self).__name__} takes the events {', '.join(self._events)}; got {got}; send one of those"
        )

    @abstractmethod
    def observe(self) -> dict[str, Any]:
        """The observable state, as an object of the wire."""


def require_checkpoint_id(checkpoint: int) -> None:
    """Raise ProtocolError if the checkpoint id is negative."""
    if checkpoint < 0:
        raise ProtocolError(
            f"a checkpoint id is an int from 0 on, got {checkpoint}; "
            "send only ids that a coordinator has drawn"
        )


def only_keys(config: Mapping[str, object], known: Collection[str]) -> None:
    """Raise ConfigError if the configuration has a key that is not in `known`."""
    unknown = sorted(set(config) - set(known))
    if unknown:
        keys = ", ".join(known) or "none"
        raise ConfigError(f"known configuration keys are {keys}; got also {unknown}; leave those out")


def positive_int(config: Mapping[str, object], key: str, default: int | None = None) -> int:
    """The int under `key`.

    Raises ConfigError if it is not an int of at least 1, or missing without a default.
    """
    value = config.get(key, default)
    if type(value) is not int or value < 1:
        raise ConfigError(f"{key} must be an int from 1 on, got {value!r}; correct the configuration")
    return value


def any_int(config: Mapping[str, object], key: str, default: int) -> int:
    """The int under `key`, whose bounds the caller checks. Raises ConfigError if the value is not an int."""
    value = config.get(key, default)
    if type(value) is not int:
        raise ConfigError(f"{key} must be an int, got {value!r}; correct the configuration")
    return value


def supported(config: Mapping[str, object], key: str, offered: Collection[str], default: str) -> str:
    """The name under `key`. Raises UnsupportedError if the name is not in `offered`."""
    value = config.get(key, default)
    if not isinstance(value, str) or value not in offered:
        raise UnsupportedError(
            f"{key} is offered as {', '.join(offered)}; got {value!r}; choose one of those"
        )
    return value
