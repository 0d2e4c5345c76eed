"""What a function looks at: stand-ins for the parts of a state that note when their value matters.

A stand-in can be handed on, put into a record, or left where it is, and nothing is noted. Whatever is done
to it that depends on its value (comparing, counting, going through it, asking for a field) is done to the
value itself, and its part is noted as read, once and in order. So a function that sees stand-ins does what it
does with the values, and what it has read before each of its decisions is known and not declared.

What a stand-in cannot notice is that it is looked at as an object (`is`, `type`, `isinstance`), and what a
function keeps from another call. Whoever uses stand-ins has to look for both (`model.engines.frames`).
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any


class Reading:
    """The parts that a call has read, in order."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Another call: nothing is read."""
        self.parts: list[int] = []
        self._known: set[int] = set()

    def __contains__(self, part: int) -> bool:
        return part in self._known

    def note(self, part: int) -> None:
        """The part's value matters."""
        if part not in self._known:
            self._known.add(part)
            self.parts.append(part)


class StandIn:
    """Stands for the value of a part, in one call after another."""

    __slots__ = ("_part", "_reading", "_value")

    def __init__(self, part: int, value: Any, reading: Reading) -> None:  # noqa: ANN401 - any part's value
        self._part = part
        self._value = value
        self._reading = reading

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(read(self), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(read(self))

    def __hash__(self) -> int:
        return hash(read(self))

    def __bool__(self) -> bool:
        return bool(read(self))


def read(stand_in: StandIn) -> Any:  # noqa: ANN401
    """The value, which is noted as read."""
    stand_in._reading.note(stand_in._part)
    return stand_in._value


def settled(value: Any) -> Any:  # noqa: ANN401
    """The value without stand-ins; those that are in it are read."""
    if type(value) is StandIn:
        return read(value)
    if not isinstance(value, tuple):
        return value
    inner = [settled(item) for item in value]
    if all(new is old for new, old in zip(inner, value, strict=True)):
        return value
    return type(value)(*inner) if hasattr(value, "_fields") else tuple(inner)


def _forwarded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda stand_in, *others: function(read(stand_in), *others)


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda stand_in, other: function(other, read(stand_in))


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "getitem", "contains", "index", "neg"):
    setattr(StandIn, f"__{_name}__", _forwarded(getattr(operator, _name)))
for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(StandIn, f"__{_name}__", _forwarded(getattr(operator, _name)))
    setattr(StandIn, f"__r{_name}__", _reflected(getattr(operator, _name)))
for _name, _function in (("len", len), ("repr", repr), ("divmod", divmod)):
    setattr(StandIn, f"__{_name}__", _forwarded(_function))
