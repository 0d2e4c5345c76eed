"""Groups of any size, the values that their members contribute to a rope, and indexes.

An index is a `Position` (the number of a named element's cell in its rope) or a `Place` (of a member of a
group).
"""

from collections.abc import Sequence
from itertools import count, product
from typing import Any, NamedTuple

import z3

from model.checker.any_number.all_paths import FALSE, conjunction, disjunction, negation, truth, truth_of
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError, int_term

_NUMBERS = count()


class Group:
    """An ordered group of any size, also of size 0. Indexes count from 0.

    `distinct`: whether any two elements have different values. If so, a property states this, and the proof
    shows it.
    """

    def __init__(self, name: str, *, distinct: bool = False) -> None:
        self.name = name
        self.distinct = distinct
        self.size = z3.Int(f"number of {name}")
        self.variable = z3.Int(f"any of {name}")
        """The index variable that the conditions and values of a cell use by default."""

    def another(self, used: Sequence[z3.ArithRef]) -> z3.ArithRef:
        """An index variable that is not in `used`."""
        found, tries = self.variable, 0
        while any(found.eq(one) for one in used):
            tries += 1
            found = z3.Int(f"any of {self.name}, {tries}")
        return found

    def fresh(self) -> z3.ArithRef:
        """A new index variable, which occurs nowhere else."""
        return z3.Int(f"one of {self.name}, {next(_NUMBERS)}")

    def unused_in(self, term: z3.ExprRef) -> z3.ArithRef:
        """An index variable that does not occur in the term."""
        used: list[z3.ArithRef] = []
        while mentions(term, found := self.another(used)):
            used.append(found)
        return found

    def has(self, index: z3.ArithRef) -> z3.BoolRef:
        """The term: the index is at least 0 and below the size of the group."""
        return z3.And(index >= 0, index < self.size)

    def __repr__(self) -> str:
        return self.name


class Position(int):
    """The number of a named element's cell in its rope, from 0."""

    def __add__(self, other: int) -> "Position":
        return Position(int(self) + other)

    def __sub__(self, other: Any) -> "Position":  # noqa: ANN401 - an int or a Length
        return Position(int(self) - (len(other.cells) if hasattr(other, "cells") else other))


class Place:
    """The index of a member of a group. It never equals an index of another group or of a named element."""

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
        raise SymbolicUseError("a hash of a place was requested", self.term)

    def __repr__(self) -> str:
        return f"{self.term}"


class UpTo(NamedTuple):
    """The position right behind a member, as in `ids[: place + 1]`."""

    place: Place


class Behaviour(NamedTuple):
    """One case of a member: a condition, and the values that the member contributes if it holds."""

    condition: z3.BoolRef
    values: tuple[Any, ...]


class Many:
    """The cell of a rope that stands for all members of a group."""

    __slots__ = ("behaviours", "every", "group", "variable")

    def __init__(
        self, group: Group, variable: z3.ArithRef, behaviours: Sequence[Behaviour], *, every: bool
    ) -> None:
        self.group = group
        self.variable = variable
        self.behaviours = tuple(one for one in behaviours if one.values and truth_of(one.condition) >= 0)
        """The cases of the member at index `variable`. Their conditions exclude each other."""
        self.every = every
        """Whether each member has exactly one value. Then a value has the same index as its member."""

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
        """The value of the member at an index, as one symbol: a truth value or an int.

        Raises SymbolicUseError unless each member has exactly one value.
        """
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
        """The term: some member contributes a value."""
        return self.exists(disjunction([one.condition for one in self.behaviours]))

    def exists(self, term: z3.BoolRef) -> z3.BoolRef:
        """The term: some member satisfies `term`, in which `variable` is the index of the member."""
        term = z3.simplify(term)
        if truth_of(term) < 0:
            return term
        if not mentions(term, self.variable):
            return conjunction([self.group.size > 0, term])
        return z3.Exists([self.variable], conjunction([self.group.has(self.variable), term]))

    def types(self) -> set[type]:
        """The types of all values that members may contribute."""
        return {type(value) for one in self.behaviours for value in one.values}

    def __eq__(self, other: object) -> Any:  # noqa: ANN401 - a symbol
        if not isinstance(other, Many) or other.group is not self.group:
            raise SymbolicUseError(f"{self!r} was compared with {other!r}")
        mine, theirs = self.behaviours, other.at(self.variable)
        both = [
            conjunction([one.condition, another.condition, equation(one.values, another.values)])
            for one, another in product(mine, theirs)
        ]
        neither = negation(disjunction([one.condition for one in (*mine, *theirs)]))
        differs = self.exists(negation(disjunction([*both, neither])))
        if (self.every and other.every) or names_its_member(self) or names_its_member(other):
            return SymbolicBool(negation(differs))
        return SymbolicBool(disjunction([negation(differs), _unknown(self, other)]))

    def __ne__(self, other: object) -> Any:  # noqa: ANN401 - a symbol
        return SymbolicBool(negation((self == other).term))

    def __hash__(self) -> int:
        raise SymbolicUseError("a hash of many elements was requested")

    def __bool__(self) -> bool:
        raise SymbolicUseError("the truth of many elements was requested")

    def __repr__(self) -> str:
        cases = ", ".join(f"{list(one.values)} if {one.condition}" for one in self.behaviours)
        return f"<each of {self.group}: {cases}>"


def names_its_member(many: Many) -> bool:
    """Whether the values of two members always differ, because each value holds the place of its member."""
    return many.group.distinct or all(
        any(
            isinstance(part, Place) and part.term.eq(many.variable)
            for part in (value if isinstance(value, tuple) else (value,))
        )
        for one in many.behaviours
        for value in one.values
    )


def _unknown(one: Many, other: Many) -> z3.BoolRef:
    """A free symbol: it states whether two filtered sequences are equal although their members differ.

    They can be equal, because different members may contribute equal values, such as two deletions of one
    state. A proof has to hold for both values of the symbol.
    """
    return z3.Bool(f"{one!r} equals {other!r}")


def equation(left: Any, right: Any) -> z3.BoolRef:  # noqa: ANN401 - any values of the model
    """The term: the two values are equal. Records of different classes are never equal."""
    if isinstance(left, tuple) and isinstance(right, tuple) and not hasattr(left, "cells"):
        if type(left) is not type(right) or len(left) != len(right):
            return FALSE
        return conjunction([equation(one, other) for one, other in zip(left, right, strict=True)])
    return truth(lambda: left == right)


def replaced(value: Any, pairs: Sequence[tuple[z3.ExprRef, z3.ExprRef]]) -> Any:  # noqa: ANN401
    """The value with each first term of `pairs` replaced by the second one."""
    if isinstance(value, SymbolicBool):
        return SymbolicBool(z3.substitute(value.term, *pairs))
    if isinstance(value, SymbolicInt):
        return SymbolicInt(z3.substitute(value.term, *pairs))
    if isinstance(value, Place):
        return Place(value.group, z3.substitute(value.term, *pairs))
    if hasattr(value, "cells"):
        return type(value)(replaced(cell, pairs) for cell in value.cells)
    if isinstance(value, Many):
        if any(mentions(term, value.variable) for _, term in pairs):  # avoids a capture
            fresh = value.group.fresh()
            value = Many(value.group, fresh, value.at(fresh), every=value.every)
        cases = [Behaviour(z3.substitute(one.condition, *pairs), replaced(one.values, pairs))
                 for one in value.behaviours]  # fmt: skip
        return Many(value.group, value.variable, cases, every=value.every)
    if isinstance(value, tuple):
        parts = [replaced(part, pairs) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def mentions(term: z3.ExprRef, constant: z3.ExprRef) -> bool:
    """Whether the constant occurs in the term."""
    other = z3.Const(f"not {constant}", constant.sort())
    return not z3.substitute(term, (constant, other)).eq(term)
