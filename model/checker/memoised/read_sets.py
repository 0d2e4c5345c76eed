"""Read sets: stand-ins replace the parts of a state, and record which values a function reads.

If a function passes a stand-in on or puts it into a record, nothing is recorded. If an operation depends on
the value (comparison, arithmetic, iteration, access to a field), the stand-in performs it on the value, and
records that the part was read, once and in order. So a function behaves on stand-ins as on the values, and
its read set is known at each of its decisions. A growing collection has a stand-in for each member, and one
for the presence of each member.

A stand-in cannot detect that a function reads its identity or type (`is`, `type`, `isinstance`), or that a
function keeps state between calls. `model.checker.memoised.moves` checks for both.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any


class Reading:
    """The parts that a call has read, in order."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Starts the record of another call, with an empty read set."""
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
    """Replaces one value of a part. Later calls of functions use the same stand-in again."""

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
    """Replaces a growing collection. Iteration reads the presence of its members.

    A slice such as `[1:]` makes another `Members`, and reads nothing.
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
    """For each member, whether it is present, and the member. Records no read."""
    if type(collection) is Members:
        return list(zip(collection._present, collection._members, strict=True))
    return [(True, member) for member in collection or ()]


def known_to_be_false(value: Any) -> bool:  # noqa: ANN401 - a stand-in or not
    """Whether the value is false. For a stand-in, also whether the function has read it."""
    if type(value) is StandIn:
        return not value._value and value._part in value._reading
    return not value


def part_of(stand_in: StandIn) -> int:
    """The part whose value the stand-in replaces. Records no read."""
    return stand_in._part


def read(stand_in: StandIn) -> Any:  # noqa: ANN401
    """The value of a stand-in. Records that its part is read."""
    stand_in._reading.note(stand_in._part)
    return stand_in._value


def settled(value: Any) -> Any:  # noqa: ANN401
    """The value, in which values replace the stand-ins. Records that their parts are read."""
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
