"""Ropes: sequences with named elements and any number of others between them.

The channels of a gate at an event are those before the event's channel, that channel, and those behind it. A
rope has one cell for each: `Many` for a group of any size, the value itself for a named element. A cell of
effects holds those that the members of a group cause, in the order of the group: each member causes the
values of that one of the cell's cases whose condition holds, or none.

An index is a `Position` (of a named element among the cells) or a `Place` (of a member of a group). A plain
int counts elements from an end, as in a sequence of effects; then cells that may be empty are decided first.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, SupportsIndex

import z3

from model.checker.any_number.syntactic import FALSE, TRUE, conjunction, disjunction, negation, truth, truth_of
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError, int_term


class Group:
    """Any number of elements, also none, in an order; indexes count from 0.

    `distinct`: the values of two elements differ, by a property that the proof assumes and shows.
    """

    def __init__(self, name: str, *, distinct: bool = False) -> None:
        self.name = name
        self.distinct = distinct
        self.size = z3.Int(f"number of {name}")
        self.variable = z3.Int(f"any of {name}")
        """The index in the cases of a cell."""

    def another(self, used: Sequence[z3.ArithRef]) -> z3.ArithRef:
        """A variable for an index that is not used."""
        found, tries = self.variable, 0
        while any(found.eq(one) for one in used):
            tries += 1
            found = z3.Int(f"any of {self.name}, {tries}")
        return found

    def unused_in(self, term: z3.ExprRef) -> z3.ArithRef:
        """A variable for an index that the term does not mention."""
        used: list[z3.ArithRef] = []
        while mentions(term, found := self.another(used)):
            used.append(found)
        return found

    def has(self, index: z3.ArithRef) -> z3.BoolRef:
        """The index is that of a member."""
        return z3.And(index >= 0, index < self.size)

    def __repr__(self) -> str:
        return self.name


class Position(int):
    """The position of a named element among the cells of its rope."""

    def __add__(self, other: int) -> "Position":
        return Position(int(self) + other)

    def __sub__(self, other: Any) -> "Position":  # noqa: ANN401 - an int or a Length
        return Position(int(self) - (len(other.cells) if isinstance(other, Length) else other))


class Place:
    """The index of a member of a group; equal to no element outside of the group."""

    __slots__ = ("group", "term")

    def __init__(self, group: Group, term: z3.ArithRef) -> None:
        self.group = group
        self.term = term

    def __eq__(self, other: object) -> Any:  # noqa: ANN401 - a bool or a symbol
        if not isinstance(other, Place) or other.group is not self.group:
            return False
        return SymbolicBool(self.term == other.term)

    def __ne__(self, other: object) -> Any:  # noqa: ANN401
        if not isinstance(other, Place) or other.group is not self.group:
            return True
        return SymbolicBool(self.term != other.term)

    def __add__(self, one: int) -> "UpTo":
        assert one == 1
        return UpTo(self)

    def __hash__(self) -> int:
        raise SymbolicUseError("a hash of a place was asked", self.term)

    def __repr__(self) -> str:
        return f"{self.term}"


class UpTo(NamedTuple):
    """The end of a part that ends with a member, as in `ids[: place + 1]`."""

    place: Place


class Behaviour(NamedTuple):
    """What the members of a group contribute under a condition."""

    condition: z3.BoolRef
    values: tuple[Any, ...]


class Many:
    """A cell for the members of a group."""

    __slots__ = ("behaviours", "every", "group", "variable")

    def __init__(
        self, group: Group, variable: z3.ArithRef, behaviours: Sequence[Behaviour], *, every: bool
    ) -> None:
        self.group = group
        self.variable = variable
        self.behaviours = tuple(one for one in behaviours if one.values and truth_of(one.condition) >= 0)
        """Of the member at `variable`; the conditions exclude each other."""
        self.every = every
        """Each member has exactly one value, so that the members' places are the positions of the values."""

    def at(self, term: z3.ArithRef) -> tuple[Behaviour, ...]:
        """The cases of the member at an index."""
        if term.eq(self.variable):
            return self.behaviours
        pairs = ((self.variable, term),)
        return tuple(
            Behaviour(z3.substitute(one.condition, *pairs), replaced(one.values, pairs))
            for one in self.behaviours
        )

    def member(self, term: z3.ArithRef) -> Any:  # noqa: ANN401
        """The value of the member at an index, a truth value or an int, as one symbol."""
        if not self.every:
            raise SymbolicUseError("an element of a filtered rope has no place")
        known = self.at(term)
        if len(known) == 1:
            return known[0].values[0]
        values = [one.values[0] for one in known]
        if all(isinstance(value, bool | SymbolicBool) for value in values):
            return SymbolicBool(
                disjunction([conjunction([one.condition, truth(lambda v=one.values[0]: v)]) for one in known])  # type: ignore[misc]
            )
        found = int_term(values[-1])
        for one in known[:-1]:
            found = z3.If(one.condition, int_term(one.values[0]), found)
        return SymbolicInt(found)

    def contributes(self) -> z3.BoolRef:
        """Some member contributes a value."""
        return self.exists(disjunction([one.condition for one in self.behaviours]))

    def exists(self, term: z3.BoolRef) -> z3.BoolRef:
        """Some member is like this; `term` is about the member at `variable`."""
        term = z3.simplify(term)
        if truth_of(term) < 0:
            return term
        if not mentions(term, self.variable):
            return conjunction([self.group.size > 0, term])
        return z3.Exists([self.variable], conjunction([self.group.has(self.variable), term]))

    def types(self) -> set[type]:
        """The types of the values."""
        return {type(value) for one in self.behaviours for value in one.values}

    def __eq__(self, other: object) -> Any:  # noqa: ANN401 - a symbol
        if not isinstance(other, Many) or other.group is not self.group:
            raise SymbolicUseError(f"{self!r} was compared with {other!r}")
        mine, theirs = self.behaviours, other.at(self.variable)
        if not (self.every and other.every) and not (_names_its_member(self) or _names_its_member(other)):
            raise SymbolicUseError(f"filtered values do not tell their members apart: {self!r}, {other!r}")
        both = [
            conjunction([one.condition, another.condition, equation(one.values, another.values)])
            for one, another in product(mine, theirs)
        ]
        neither = negation(disjunction([one.condition for one in (*mine, *theirs)]))
        differs = self.exists(negation(disjunction([*both, neither])))
        return SymbolicBool(negation(differs))

    def __ne__(self, other: object) -> Any:  # noqa: ANN401 - a symbol
        return SymbolicBool(negation((self == other).term))

    def __hash__(self) -> int:
        raise SymbolicUseError("a hash of many elements was asked")

    def __bool__(self) -> bool:
        raise SymbolicUseError("the truth of many elements was asked")

    def __repr__(self) -> str:
        cases = ", ".join(f"{list(one.values)} if {one.condition}" for one in self.behaviours)
        return f"<each of {self.group}: {cases}>"


def _names_its_member(many: Many) -> bool:
    """Each value holds the place of its member, so values of two members differ."""
    return many.group.distinct or all(
        isinstance(value, tuple)
        and any(isinstance(part, Place) and part.term.eq(many.variable) for part in value)
        for one in many.behaviours
        for value in one.values
    )


def equation(left: Any, right: Any) -> z3.BoolRef:  # noqa: ANN401 - any values of the model
    """The term of the equality of two values; records of other classes differ, like effects of other kinds."""
    if isinstance(left, tuple) and isinstance(right, tuple) and not isinstance(left, Rope):
        if type(left) is not type(right) or len(left) != len(right):
            return FALSE
        return conjunction([equation(one, other) for one, other in zip(left, right, strict=True)])
    return truth(lambda: left == right)


def replaced(value: Any, pairs: Sequence[tuple[z3.ExprRef, z3.ExprRef]]) -> Any:  # noqa: ANN401
    """The value with terms replaced."""
    if isinstance(value, SymbolicBool):
        return SymbolicBool(z3.substitute(value.term, *pairs))
    if isinstance(value, SymbolicInt):
        return SymbolicInt(z3.substitute(value.term, *pairs))
    if isinstance(value, Place):
        return Place(value.group, z3.substitute(value.term, *pairs))
    if isinstance(value, Rope):
        return Rope(replaced(cell, pairs) for cell in value.cells)
    if isinstance(value, Many):
        cases = [Behaviour(z3.substitute(one.condition, *pairs), replaced(one.values, pairs))
                 for one in value.behaviours]  # fmt: skip
        return Many(value.group, value.variable, cases, every=value.every)
    if isinstance(value, tuple):
        parts = [replaced(part, pairs) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def mentions(term: z3.ExprRef, constant: z3.ExprRef) -> bool:
    """The constant occurs in the term."""
    other = z3.Const(f"not {constant}", constant.sort())
    return not z3.substitute(term, (constant, other)).eq(term)


class Length(SymbolicInt):
    """The number of elements of a rope that has groups; any `Position` is below it."""

    __slots__ = ("cells",)

    def __init__(self, cells: tuple[Any, ...], term: z3.ArithRef) -> None:
        super().__init__(term)
        self.cells = cells

    def __neg__(self) -> "FromTheEnd":
        return FromTheEnd(self)

    def __sub__(self, other: object) -> Any:  # noqa: ANN401 - a Position or a symbol
        """The position of the last element, if that is named."""
        if other == 1 and self.cells and not isinstance(self.cells[-1], Many):
            return Position(len(self.cells) - 1)
        return super().__sub__(other)

    def __rmul__(self, one: tuple[Any, ...]) -> "Rope":
        """As many equal elements."""
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
    """A negative length, as in `effects[-len(expected) :]`."""

    length: Length


def _constant(cell: Any, value: Any) -> Any:  # noqa: ANN401
    if not isinstance(cell, Many):
        return value
    if not cell.every:
        raise SymbolicUseError("a filtered rope has no fixed length")
    return Many(cell.group, cell.variable, [Behaviour(TRUE, (value,))], every=True)


class Rope(tuple[Any, ...]):
    """A sequence of cells. It is a tuple only for Python's own tests of types."""

    __slots__ = ()

    @property
    def cells(self) -> tuple[Any, ...]:
        """The cells as a plain tuple."""
        return tuple(tuple.__iter__(self))

    def __iter__(self) -> Iterator[Any]:
        from model.checker.any_number.walks import steps_of  # noqa: PLC0415 - walks are over ropes

        return steps_of(self)

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
        raise SymbolicUseError("a hash of a rope was asked")

    def __len__(self) -> int:
        raise SymbolicUseError("the length of a rope was asked as a number")

    def __add__(self, other: tuple[Any, ...]) -> "Rope":  # type: ignore[override]
        return Rope((*self.cells, *cells_of(other)))

    def __radd__(self, other: tuple[Any, ...]) -> "Rope":
        return Rope((*cells_of(other), *self.cells))

    def __contains__(self, value: object) -> bool:
        found = []
        for cell in self.cells:
            if isinstance(cell, Many):
                alike = [conjunction([one.condition, equation(part, value)])
                         for one in cell.behaviours for part in one.values]  # fmt: skip
                found.append(cell.exists(disjunction(alike)))
            else:
                found.append(equation(cell, value))
        return bool(SymbolicBool(disjunction(found)))

    def __getitem__(self, key: Any) -> Any:  # type: ignore[override]  # noqa: ANN401
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
                raise SymbolicUseError("a position of unnamed elements was asked")
            return found
        cells = _settled(self.cells, from_the_end=key < 0)
        return cells[key] if not isinstance(cells[key], Many) else SomeOf(cells[key])

    def _part(self, key: slice) -> "Rope":
        start, stop = key.start, key.stop
        if isinstance(start, Place):
            return self._from(start)
        if isinstance(stop, UpTo):
            return self._up_to(stop.place)
        if isinstance(start, SymbolicInt) and not isinstance(start, Length):
            start = _near(start)
        cells = self.cells
        if type(start) is int or type(stop) is int:
            ends = (type(start) is int and start < 0) or (type(stop) is int and stop < 0)
            number = max(abs(end) for end in (start, stop) if type(end) is int)
            cells = _settled(cells, from_the_end=ends)
            near = cells[-number:] if ends else cells[:number]
            if any(isinstance(cell, Many) for cell in near):
                cells = tuple(SomeOf(cell) if isinstance(cell, Many) else cell for cell in cells)
        return Rope(cells[slice(_cell_index(start), _cell_index(stop))])

    def _up_to(self, place: Place) -> "Rope":
        """The part that ends with a member of a group."""
        for position, cell in enumerate(self.cells):
            if isinstance(cell, Many) and cell.group is place.group:
                variable = cell.group.unused_in(place.term)
                cases = [one._replace(condition=conjunction([variable <= place.term, one.condition]))
                         for one in cell.at(variable)]  # fmt: skip
                return Rope((*self.cells[:position], Many(cell.group, variable, cases, every=False)))
        raise SymbolicUseError(f"{place} is no place of {self!r}")

    def _from(self, place: Place) -> "Rope":
        """The part that begins with a member of a group."""
        for position, cell in enumerate(self.cells):
            if isinstance(cell, Many) and cell.group is place.group:
                variable = cell.group.unused_in(place.term)
                cases = [one._replace(condition=conjunction([variable >= place.term, one.condition]))
                         for one in cell.at(variable)]  # fmt: skip
                rest = Many(cell.group, variable, cases, every=False)
                return Rope((rest, *self.cells[position + 1 :]))
        raise SymbolicUseError(f"{place} is no place of {self!r}")

    def __repr__(self) -> str:
        return repr(self.cells)


class SomeOf(NamedTuple):
    """One of the elements of a cell that is not empty: it is unknown which."""

    many: Many

    def __eq__(self, other: object) -> bool:
        if type(other) in self.many.types():
            raise SymbolicUseError(f"{self.many!r} was compared with {other!r}")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


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
    """On a path: the number, which has to be 0 or 1."""
    for known in (0, 1):
        if number == known:
            return known
    raise SymbolicUseError(f"a part begins at {number}", number.term)


def is_present(many: Many) -> bool:
    """On a path: some member contributes a value."""
    return bool(SymbolicBool(many.contributes()))


def _settled(cells: tuple[Any, ...], *, from_the_end: bool) -> tuple[Any, ...]:
    """The cells without empty ones next to an end; on a path, the run forks."""
    kept = list(cells)
    end = -1 if from_the_end else 0
    while kept and isinstance(kept[end], Many) and not is_present(kept[end]):
        kept.pop(end)
    return tuple(kept)


def _are_equal(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Both sequences have the same elements; on a path, the run forks."""
    if [_kind(cell) for cell in left] == [_kind(cell) for cell in right]:
        return all(bool(one == other) for one, other in zip(left, right, strict=True))
    left = tuple(cell for cell in left if not isinstance(cell, Many) or is_present(cell))
    right = tuple(cell for cell in right if not isinstance(cell, Many) or is_present(cell))
    for one, other in zip(left, right, strict=False):
        if _kind(one) is _kind(other):
            if not one == other:
                return False
        elif isinstance(one, Many) and isinstance(other, Many):
            if one.types() & other.types() and not (_names_its_member(one) and _names_its_member(other)):
                raise SymbolicUseError(f"{one!r} was compared with {other!r}")
            return False
        else:
            many, value = (one, other) if isinstance(one, Many) else (other, one)
            if type(value) in many.types() and not _names_its_member(many):
                raise SymbolicUseError(f"{many!r} was compared with {value!r}")
            return False
    return len(left) == len(right)


def _kind(cell: Any) -> object:  # noqa: ANN401
    return cell.group if isinstance(cell, Many) else None
