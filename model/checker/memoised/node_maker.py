"""Composes nodes from their parts, or from stand-ins for the parts."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from model.checker.memoised.bit_layout import Numbers
from model.checker.memoised.state_parts import Growing, Parts, Record, Shape, parts_of

REMEMBERED = 48
"""Records with at most this number of parts are cached by the values of their parts."""

Member = Callable[[int, int], Any]
"""A function from a part and the number of its value to the value, or to its stand-in."""
Collection = Callable[[tuple[Any, ...], tuple[Any, ...]], Any]
"""Makes a growing collection. Arguments: whether each member is present, and the members."""


class Maker:
    """Makes a record from the numbers of its parts."""

    def __init__(
        self, parts: Parts, member: Member, collection: Collection, shape: Shape | None = None
    ) -> None:
        self._shape = parts.shape if shape is None else shape
        self._member, self._collection = member, collection
        self._makers = [Maker(parts, member, collection, one) for one in _inner(self._shape)]
        own = parts_of(self._shape)
        self._key = itemgetter(*own) if 1 < len(own) <= REMEMBERED else None
        self._made: dict[Any, Any] = {}

    def made(self, numbers: Numbers) -> Any:  # noqa: ANN401 - a record
        """The record of a row. A record with few parts is the same object for the same numbers."""
        if self._key is None:
            return self._make(numbers)
        key = self._key(numbers)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(numbers)
        return made

    def _make(self, numbers: Numbers) -> Any:  # noqa: ANN401
        shape = self._shape
        if type(shape) is Growing:
            present = tuple(self._member(part, numbers[part]) for part, _, _ in shape.members)
            return self._collection(present, tuple(maker.made(numbers) for maker in self._makers))
        if type(shape) is Record:
            made = [maker.made(numbers) for maker in self._makers]
            return tuple(made) if shape.kind is tuple else shape.kind(*made)
        assert type(shape) is int
        return self._member(shape, numbers[shape])


def _inner(shape: Shape) -> tuple[Shape, ...]:
    if type(shape) is Record:
        return shape.members
    return tuple(member for _, member, _ in shape.members) if type(shape) is Growing else ()
