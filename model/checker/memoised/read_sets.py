"""Read sets: stand-ins for the parts of a state, which record that a function reads their value.

A function can pass a stand-in on, put it into a record, or leave it in place, and none of this is recorded.
Every operation that depends on its value (comparison, arithmetic, iteration, access to a field) uses the
value itself, and its part is recorded as read, once and in order. So a function behaves on stand-ins as on
the values, and its read set before each of its decisions is known without a declaration. A growing collection
has a stand-in for each member, and for the presence of each member.

A stand-in cannot detect that its identity or type is read (`is`, `type`, `isinstance`), nor that a function
keeps state between calls. `model.checker.memoised.moves` checks for both.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any


class Reading:
    """The parts that a call has read, in order."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Starts another call with an empty read set."""
        self.parts: list[int] = []
        self._known: set[int] = set()

    def __contains__(self, part: int) -> bool:
        return part in self._known

    def note(self, part: int) -> None:
        """Records that the part's value is read."""
        if part not in self._known:
            self._known.add(part)
            self.parts.append(part)


class StandIn:
    """Represents the value of a part, in one call after another."""

    __slots__ = ("_part", "_reading", "_value")

    def __init__(self, part: int, value: Any, reading: Reading) -> None:  # noqa: ANN401 - any part's value
        self._part = part
        self._value = value
        self._reading = reading

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(read(self), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(read(self))

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401
        return read(self)[at]

    def __hash__(self) -> int:
        return hash(read(self))

    def __bool__(self) -> bool:
        return bool(read(self))


class Members:
    """Represents a growing collection. Iteration reads the presence of its members.

    A slice without the first members (`[1:]`) is another such collection, and reads nothing.
    """

    __slots__ = ("_members", "_present")

    def __init__(self, present: tuple[StandIn, ...], members: tuple[Any, ...]) -> None:
        self._present = present
        self._members = members

    def __iter__(self) -> Iterator[Any]:
        for present, member in zip(self._present, self._members, strict=True):
            if not present:
                return
            yield member

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401
        if isinstance(at, slice):
            begins = at.start is not None and at.start >= 0 and at.stop is None and at.step is None
            return Members(self._present[at], self._members[at]) if begins else _opened(self)[at]
        if 0 <= at < len(self._present) and self._present[at]:
            return self._members[at]
        return _opened(self)[at]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(_opened(self), name)

    def __hash__(self) -> int:
        return hash(_opened(self))

    def __bool__(self) -> bool:
        return bool(self._present) and bool(self._present[0])


def slots_of(collection: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - Members, a tuple, or None for none
    """The presence of each member, and the member. It reads nothing."""
    if type(collection) is Members:
        return list(zip(collection._present, collection._members, strict=True))
    return [(True, member) for member in collection or ()]


def known_to_be_false(value: Any) -> bool:  # noqa: ANN401 - a stand-in or not
    """The value is false. A stand-in must also have been read."""
    if type(value) is StandIn:
        return not value._value and value._part in value._reading
    return not value


def part_of(stand_in: StandIn) -> int:
    """The part that the stand-in represents. It reads nothing."""
    return stand_in._part


def read(stand_in: StandIn) -> Any:  # noqa: ANN401
    """The value, which is recorded as read."""
    stand_in._reading.note(stand_in._part)
    return stand_in._value


def settled(value: Any) -> Any:  # noqa: ANN401
    """The value without stand-ins. The values of the stand-ins in it are read."""
    if type(value) is StandIn:
        return read(value)
    if type(value) is Members:
        return tuple(map(settled, value))
    if not isinstance(value, tuple):
        return value
    inner = [settled(item) for item in value]
    if all(new is old for new, old in zip(inner, value, strict=True)):
        return value
    return type(value)(*inner) if hasattr(value, "_fields") else tuple(inner)


def _opened(stand_in: Any) -> Any:  # noqa: ANN401
    return tuple(iter(stand_in)) if type(stand_in) is Members else read(stand_in)


def _forwarded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda stand_in, *others: function(_opened(stand_in), *others)


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda stand_in, other: function(other, _opened(stand_in))


def _open(kind: type[StandIn] | type[Members]) -> None:
    """Adds the methods that depend on the represented value."""
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "contains", "index", "neg"):
        setattr(kind, f"__{name}__", _forwarded(getattr(operator, name)))
    for name in ("add", "sub", "mul", "floordiv", "mod"):
        setattr(kind, f"__{name}__", _forwarded(getattr(operator, name)))
        setattr(kind, f"__r{name}__", _reflected(getattr(operator, name)))
    for name, function in (("len", len), ("repr", repr), ("divmod", divmod)):
        setattr(kind, f"__{name}__", _forwarded(function))


_open(StandIn)
_open(Members)
