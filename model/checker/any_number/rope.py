"""Ropes: sequences of named elements and of groups of any size.

An example is the channels of a gate at an event: first the group of the channels before the event's channel,
then that channel, then the group of the channels behind it. A rope has one cell for each of these. The cell
of a group is a `Many`, the cell of a named element is its value. In a rope of effects, a `Many` holds the
effects for the members of a group, in the order of the group. It has several cases. Each member contributes
the values of the case whose condition holds for it, or no value.

A rope accepts three kinds of indexes. A plain int counts elements from the first or the last one; the path
then first decides which groups are empty. A `Position` counts cells. A `Place` is the index of a member.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, SupportsIndex

import z3

from model.checker.any_number.all_paths import TRUE, conjunction, disjunction
from model.checker.any_number.iteration import Steps, collectors
from model.checker.any_number.members import (
    Behaviour,
    Many,
    Place,
    Position,
    UpTo,
    equation,
    mentions,
    names_its_member,
)
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError


class Length(SymbolicInt):
    """The number of elements of a rope that has groups. It compares as greater than every `Position`."""

    __slots__ = ("cells",)

    def __init__(self, cells: tuple[Any, ...], term: z3.ArithRef) -> None:
        super().__init__(term)
        self.cells = cells

    def __neg__(self) -> "FromTheEnd":
        return FromTheEnd(self)

    def __sub__(self, other: object) -> Any:  # noqa: ANN401 - a Position or a symbol
        """Minus 1, for a last element that is named: the position of this element. Else a difference."""
        if other == 1 and self.cells and not isinstance(self.cells[-1], Many):
            return Position(len(self.cells) - 1)
        return super().__sub__(other)

    def __rmul__(self, one: tuple[Any, ...]) -> "Rope":  # type: ignore[misc]
        """A rope of this length, whose elements all have the value in `one`."""
        (value,) = one
        return Rope(_constant(cell, value) for cell in self.cells)

    def __gt__(self, other: object) -> Any:  # noqa: ANN401 - a bool or a symbol
        return True if isinstance(other, Position) else super().__gt__(other)

    def __ge__(self, other: object) -> Any:  # noqa: ANN401
        return True if isinstance(other, Position) else super().__ge__(other)

    def __le__(self, other: object) -> Any:  # noqa: ANN401
        return False if isinstance(other, Position) else super().__le__(other)

    def __lt__(self, other: object) -> Any:  # noqa: ANN401
        return False if isinstance(other, Position) else super().__lt__(other)


class FromTheEnd(NamedTuple):
    """The negated length of a rope. It is an index from the end, as in `effects[-len(expected) :]`."""

    length: Length


def _constant(cell: Any, value: Any) -> Any:  # noqa: ANN401
    if not isinstance(cell, Many):
        return value
    if not cell.every:
        raise SymbolicUseError("a filtered rope has no fixed length")
    return Many(cell.group, cell.variable, [Behaviour(TRUE, (value,))], every=True)


class Rope(tuple[Any, ...]):
    """A sequence of cells. It derives from `tuple` only because the model tests types with `isinstance`."""

    __slots__ = ()

    @property
    def cells(self) -> tuple[Any, ...]:
        """The cells as a plain tuple."""
        return tuple(tuple.__iter__(self))

    def __iter__(self) -> Iterator[Any]:
        return Steps(self.cells)

    def __bool__(self) -> bool:
        cells = self.cells
        if any(not isinstance(cell, Many) for cell in cells):
            return True
        return any(is_present(cell) for cell in cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple):
            return NotImplemented
        return _are_equal(self.cells, cells_of(other))

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        raise SymbolicUseError("a hash of a rope was requested")

    def __len__(self) -> int:
        raise SymbolicUseError("the length of a rope was requested as a number")

    def __add__(self, other: tuple[Any, ...]) -> "Rope":
        return Rope((*self.cells, *cells_of(other)))

    def __radd__(self, other: tuple[Any, ...]) -> "Rope":
        return Rope((*cells_of(other), *self.cells))

    def __contains__(self, value: object) -> bool:
        found = []
        for cell in self.cells:
            if isinstance(cell, Many):
                index = cell.group.another([used for one in collectors for used in one.variables])
                inner = Many(cell.group, index, cell.at(index), every=cell.every)
                alike = [conjunction([one.condition, equation(part, value)])
                         for one in inner.behaviours for part in one.values]  # fmt: skip
                found.append(inner.exists(disjunction(alike)))
            else:
                found.append(equation(cell, value))
        return bool(SymbolicBool(disjunction(found)))

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        if isinstance(key, slice):
            return self._part(key)
        if isinstance(key, Place):
            for cell in self.cells:
                if isinstance(cell, Many) and cell.group is key.group:
                    return cell.member(key.term)
            raise SymbolicUseError(f"{key} is no place of {self!r}")
        if isinstance(key, Position):
            found = self.cells[int(key)]
            if isinstance(found, Many):
                raise SymbolicUseError("the element at the position of a group was requested; use a Place")
            return found
        near = _near_end(self.cells, abs(key) if key < 0 else key + 1, from_the_end=key < 0)
        return near[key] if not isinstance(near[key], Many) else SomeOf(near[key])

    def _part(self, key: slice) -> "Rope":
        start, stop = key.start, key.stop
        if isinstance(start, Place | UpTo):
            return self._from(start)
        if isinstance(stop, UpTo):
            return self._up_to(stop.place)
        if isinstance(start, SymbolicInt) and not isinstance(start, Length):
            start = _near(start)
        if isinstance(stop, SymbolicInt) and not isinstance(stop, Length):
            stop = _near(stop)
        cells = self.cells
        if type(start) is int or type(stop) is int:
            ends = (type(start) is int and start < 0) or (type(stop) is int and stop < 0)
            number = max(abs(end) for end in (start, stop) if type(end) is int)
            cells = _near_end(cells, number, from_the_end=ends)
            place = -number if ends else number - 1
            if number and number <= len(cells) and isinstance(cells[place], Many):
                if (start if ends else stop) is None or None not in (start, stop):
                    raise SymbolicUseError(f"a slice leaves out one member of {cells[place]!r}")
                cells = tuple(
                    SomeOf(cell) if at == place % len(cells) else cell for at, cell in enumerate(cells)
                )
        return Rope(cells[slice(_cell_index(start), _cell_index(stop))])

    def _up_to(self, place: Place) -> "Rope":
        """The part up to and including a member of a group."""
        for position, cell in enumerate(self.cells):
            if isinstance(cell, Many) and cell.group is place.group:
                variable = cell.group.unused_in(place.term)
                cases = [one._replace(condition=conjunction([variable <= place.term, one.condition]))
                         for one in cell.at(variable)]  # fmt: skip
                return Rope((*self.cells[:position], Many(cell.group, variable, cases, every=False)))
        raise SymbolicUseError(f"{place} is no place of {self!r}")

    def _from(self, start: Place | UpTo) -> "Rope":
        """The part that begins at a member of a group or, for UpTo, right behind this member."""
        place = start.place if isinstance(start, UpTo) else start
        for position, cell in enumerate(self.cells):
            if isinstance(cell, Many) and cell.group is place.group:
                variable = cell.group.unused_in(place.term)
                is_in = variable > place.term if isinstance(start, UpTo) else variable >= place.term
                cases = [one._replace(condition=conjunction([is_in, one.condition]))
                         for one in cell.at(variable)]  # fmt: skip
                rest = Many(cell.group, variable, cases, every=False)
                return Rope((rest, *self.cells[position + 1 :]))
        raise SymbolicUseError(f"{place} is no place of {self!r}")

    def __repr__(self) -> str:
        return repr(self.cells)


class SomeOf:
    """An unknown one of the values that the members of a group contribute."""

    def __init__(self, many: Many) -> None:
        self.many = many

    def __eq__(self, other: object) -> bool:
        if type(other) in self.many.types():
            raise SymbolicUseError(f"{self.many!r} was compared with {other!r}")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        raise SymbolicUseError("a hash of some element was requested")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """The value of the attribute. Raises SymbolicUseError unless all possible elements have the same."""
        found = [getattr(value, name) for one in self.many.behaviours for value in one.values]
        if name.startswith("_") or any(not _is_same(one, found[0], self.many) for one in found):
            raise SymbolicUseError(f"{name} of some of {self.many!r} was requested")
        return found[0]


def _is_same(value: Any, other: Any, many: Many) -> bool:  # noqa: ANN401
    if isinstance(value, SymbolicInt | SymbolicBool):
        return (
            type(other) is type(value)
            and value.term.eq(other.term)
            and not mentions(value.term, many.variable)
        )
    return type(value) is type(other) and isinstance(value, int | str) and value == other


def cells_of(sequence: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cells of a rope or the elements of a tuple."""
    return sequence.cells if isinstance(sequence, Rope) else sequence


def joined(cells: Sequence[Any]) -> tuple[Any, ...]:
    """A rope, or a tuple if every element is named."""
    return Rope(cells) if any(isinstance(cell, Many) for cell in cells) else tuple(cells)


def _cell_index(key: Any) -> SupportsIndex | None:  # noqa: ANN401
    if isinstance(key, Length):
        return len(key.cells)
    if isinstance(key, FromTheEnd):
        return -len(key.length.cells)
    return None if key is None else int(key)


def _near(number: SymbolicInt) -> int:
    """The number as an int, 0 or 1. Raises SymbolicUseError if it may be another number.

    The function decides the number on the current path, which forks.
    """
    for known in (0, 1):
        if number == known:
            return known
    raise SymbolicUseError(f"a slice of a rope has the bound {number}; use 0 or 1", number.term)


def is_present(many: Many) -> bool:
    """Whether some member contributes a value. The current path forks."""
    return bool(SymbolicBool(many.contributes()))


def _near_end(cells: tuple[Any, ...], number: int, *, from_the_end: bool) -> tuple[Any, ...]:
    """The cells without the empty groups before the first `number` elements, or behind the last ones.

    Each such group forks the current path. Raises SymbolicUseError if a group that is not empty precedes one
    of these elements, because the group may have several members.
    """
    rest = list(cells[::-1] if from_the_end else cells)
    kept: list[Any] = []
    while rest and len(kept) < number:
        if isinstance(rest[0], Many) and not is_present(rest[0]):
            rest.pop(0)
            continue
        if isinstance(rest[0], Many) and len(kept) < number - 1:
            raise SymbolicUseError(f"an element behind one of {rest[0]!r} was requested")
        kept.append(rest.pop(0))
    kept.extend(rest)
    return tuple(kept[::-1] if from_the_end else kept)


def _are_equal(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Whether both sequences have the same elements. The current path forks."""
    if [_kind(cell) for cell in left] == [_kind(cell) for cell in right]:
        return all(bool(one == other) for one, other in zip(left, right, strict=True))
    left = tuple(cell for cell in left if not isinstance(cell, Many) or is_present(cell))
    right = tuple(cell for cell in right if not isinstance(cell, Many) or is_present(cell))
    for one, other in zip(left, right, strict=False):
        if _kind(one) is _kind(other):
            if one != other:
                return False
        elif isinstance(one, Many) and isinstance(other, Many):
            if one.types() & other.types() and not (names_its_member(one) and names_its_member(other)):
                raise SymbolicUseError(f"{one!r} was compared with {other!r}")
            return False
        else:
            many, value = (one, other) if isinstance(one, Many) else (other, one)
            if type(value) in many.types() and not names_its_member(many):
                raise SymbolicUseError(f"{many!r} was compared with {value!r}")
            return False
    return len(left) == len(right)


def _kind(cell: Any) -> object:  # noqa: ANN401
    return cell.group if isinstance(cell, Many) else None
