"""Python's functions for sequences, over ropes: `all`, `any`, `tuple`, `zip`, `enumerate`, `len`, `sum`, ...

`iteration` describes how a generator expression iterates over a rope, and how cells collect the values that
it yields. From these cells `tuple` makes a rope, and `any` and `all` make quantified terms. Over plain
sequences each function has its meaning in Python.

A `for` statement over a rope raises SymbolicUseError unless its groups are empty, because the statement may
treat one member differently from another. Generator expressions and comprehensions cannot do so.
"""

import builtins
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product
from typing import Any

import z3

from model.checker.any_number import sums
from model.checker.any_number.all_paths import TRUE, conjunction, disjunction, negation, truth, truth_of
from model.checker.any_number.iteration import Collector, collectors
from model.checker.any_number.members import Behaviour, Many, Place, Position
from model.checker.any_number.rope import Length, Rope, SomeOf, cells_of, is_present, joined
from model.checker.paths import running
from model.checker.symbolic import SymbolicBool, SymbolicUseError, bool_term


def _collected(iterated: Iterable[Any]) -> list[Any]:
    """The elements of a sequence or a generator expression, as cells of a rope."""
    if isinstance(iterated, Rope):
        return list(iterated.cells)
    collector = Collector(iterated)
    runs = len(running)
    collectors.append(collector)
    try:
        for value in iterated:
            collector.levels[-1].append(value)
    finally:
        del running[runs:]
        collectors.remove(collector)
    return collector.levels[0]


# ---------------------------------------------------------------- the functions


def any_(iterated: Iterable[Any]) -> Any:  # noqa: ANN401 - a bool or a symbol
    """Whether some element is true: a bool, or a symbol."""
    return _symbol(disjunction([_exists(cell) for cell in _collected(iterated)]))


def all_(iterated: Iterable[Any]) -> Any:  # noqa: ANN401 - a bool or a symbol
    """Whether every element is true: a bool, or a symbol."""
    return _symbol(negation(disjunction([_exists(cell, denied=True) for cell in _collected(iterated)])))


def _symbol(term: z3.BoolRef) -> Any:  # noqa: ANN401
    known = truth_of(term)
    return known > 0 if known else SymbolicBool(term)


def _exists(cell: Any, *, denied: bool = False) -> z3.BoolRef:  # noqa: ANN401
    """The term: some element of the cell is true; with `denied`: some element is false."""
    if isinstance(cell, Many):
        holds = [
            conjunction([one.condition, disjunction([_exists(value, denied=denied) for value in one.values])])
            for one in cell.behaviours
        ]
        return cell.exists(disjunction(holds))
    term = bool_term(cell) if isinstance(cell, bool | SymbolicBool) else truth(lambda: cell)
    return negation(term) if denied else term


class _TupleFunction:
    """Replaces the class `tuple`, both in calls and in types such as `tuple[int, ...]`."""

    def __call__(self, iterated: Iterable[Any] = ()) -> tuple[Any, ...]:
        """The elements in order, as a rope if there are groups, else as a tuple."""
        return joined(_collected(iterated))

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        return tuple.__class_getitem__(key)


tuple_ = _TupleFunction()


def sum_(iterated: Iterable[Any]) -> Any:  # noqa: ANN401 - an int or a symbol
    """The sum of ints."""
    total: Any = 0
    for cell in _collected(iterated):
        value = sums.over(cell) if isinstance(cell, Many) else int(cell) if isinstance(cell, bool) else cell
        total = value + total
    return total


def len_(sequence: Any) -> Any:  # noqa: ANN401 - an int or a Length
    """The number of elements."""
    if not isinstance(sequence, Rope):
        return len(sequence)
    if not any(isinstance(cell, Many) for cell in sequence.cells):
        return len(sequence.cells)
    term: z3.ArithRef = z3.IntVal(0)
    for cell in sequence.cells:
        term = term + (sums.number(cell) if isinstance(cell, Many) else 1)
    return Length(sequence.cells, z3.simplify(term))


def zip_(*sequences: Any, strict: bool = False) -> Any:  # noqa: ANN401 - an iterable of tuples
    """Tuples of the elements at the same position."""
    if not any(isinstance(one, Rope) for one in sequences):
        return zip(*sequences, strict=strict)
    cells = list(zip(*(cells_of(one) for one in sequences), strict=True))
    return Rope(_together(one) for one in cells)


def _together(cells: tuple[Any, ...]) -> Any:  # noqa: ANN401 - a tuple or a Many
    if not any(isinstance(cell, Many) for cell in cells):
        return cells
    first = cells[0]
    if any(not isinstance(cell, Many) or not cell.every or cell.group is not first.group for cell in cells):
        raise SymbolicUseError(f"elements of different places were zipped: {cells}")
    cases = [
        Behaviour(
            conjunction([one.condition for one in behaviours]),
            (builtins.tuple(one.values[0] for one in behaviours),),
        )
        for behaviours in product(*(cell.at(first.variable) for cell in cells))
    ]
    return Many(first.group, first.variable, cases, every=True)


def enumerate_(sequence: Any) -> Any:  # noqa: ANN401 - an iterable of pairs
    """Each element with its index: an int, or over a rope a `Position` or `Place`.

    The index is None for a member that does not have exactly one value.
    """
    if not isinstance(sequence, Rope):
        return enumerate(sequence)
    return Rope(
        _numbered(cell) if isinstance(cell, Many) else (Position(place), cell)
        for place, cell in enumerate(sequence.cells)
    )


def _numbered(cell: Many) -> Many:
    place: Any = Place(cell.group, cell.variable) if cell.every else None
    cases = [
        one._replace(values=builtins.tuple((place, value) for value in one.values)) for one in cell.behaviours
    ]
    return Many(cell.group, cell.variable, cases, every=cell.every)


def range_(*ends: Any) -> Any:  # noqa: ANN401 - a range or a rope of places
    """The indexes of all elements, for the length of a rope. Raises SymbolicUseError for a filtered rope."""
    if len(ends) != 1 or not isinstance(ends[0], Length):
        return range(*ends)
    return Rope(place for place, _ in (_first(cell, n) for n, cell in enumerate(ends[0].cells)))


def _first(cell: Any, position: int) -> tuple[Any, None]:  # noqa: ANN401
    if not isinstance(cell, Many):
        return Position(position), None
    if not cell.every:
        raise SymbolicUseError("the places of a filtered rope were requested")
    place = Place(cell.group, cell.variable)
    return Many(cell.group, cell.variable, [Behaviour(TRUE, (place,))], every=True), None


def combinations_(sequence: Any, number: int) -> Any:  # noqa: ANN401 - an iterable of pairs
    """Every pair of elements, in the order of the sequence. A rope permits only `number` 2."""
    if not isinstance(sequence, Rope) or number != 2:
        return combinations(sequence, number)
    cells = sequence.cells
    return Rope(
        pair
        for position, cell in enumerate(cells)
        for pair in (_pairs_of(cell, cells[position + 1 :]) if isinstance(cell, Many)
                     else _with_each(cell, cells[position + 1 :]))
    )  # fmt: skip


def _pairs_of(cell: Many, later: tuple[Any, ...]) -> Iterator[Many]:
    """The pairs of each member with the later members of its group and with the elements behind the group."""
    first, second = cell.group.fresh(), cell.group.fresh()
    behind = [one._replace(condition=conjunction([second > first, one.condition])) for one in cell.at(second)]
    others = (Many(cell.group, second, behind, every=False), *later)
    cases = [
        one._replace(values=tuple(pair for value in one.values for pair in _with_each(value, others)))
        for one in cell.at(first)
    ]
    yield Many(cell.group, first, cases, every=False)


def _with_each(value: Any, cells: tuple[Any, ...]) -> Iterator[Any]:  # noqa: ANN401
    """The pairs of a value with the elements of the cells."""
    for cell in cells:
        if not isinstance(cell, Many):
            yield (value, cell)
            continue
        variable = cell.group.fresh()
        cases = [
            one._replace(values=tuple((value, other) for other in one.values)) for one in cell.at(variable)
        ]
        yield Many(cell.group, variable, cases, every=False)


def next_(iterated: Any, *default: Any) -> Any:  # noqa: ANN401
    """The first element, or the default. Raises SymbolicUseError if the first cell is a group."""
    if not hasattr(iterated, "gi_frame"):
        return next(iterated, *default)
    found = _collected(iterated)
    if found and not isinstance(found[0], Many):
        return found[0]
    if found or not default:
        raise SymbolicUseError(f"the first of {found} was requested")
    return default[0]


def max_(*values: Any) -> Any:  # noqa: ANN401
    """The greatest value. Raises SymbolicUseError if a group contributes values."""
    known = _collected(values[0]) if len(values) == 1 else list(values)
    if any(isinstance(one, Many) for one in known):
        raise SymbolicUseError(f"the greatest of {known} was requested")
    return max(known)


def map_(function: Callable[..., Any], iterated: Iterable[Any]) -> Iterable[Any]:
    """The results of the function for each element."""
    return (function(one) for one in iterated)


def type_(value: Any) -> type:  # noqa: ANN401
    """The class of a value. For a `SomeOf`, the one class of all elements that it may be.

    Raises SymbolicUseError for a group.
    """
    if isinstance(value, Many):
        raise SymbolicUseError(f"the type of {value!r} was requested")
    if isinstance(value, SomeOf):
        (found,) = value.many.types()
        return found
    return type(value)


def display(*parts: tuple[bool, Any]) -> tuple[Any, ...]:
    """The value of a tuple such as `(*a, b)`. `parts`: whether each part has a star, and its value."""
    cells: list[Any] = []
    for is_starred, value in parts:
        if is_starred:
            cells.extend(cells_of(value) if isinstance(value, builtins.tuple) else _collected(value))
        else:
            cells.append(value)
    is_rope = any(isinstance(value, Rope) for _, value in parts)
    return Rope(cells) if is_rope else joined(cells)


def cells_in(sequence: Any) -> Iterator[Any]:  # noqa: ANN401 - an iterable
    """The named elements, for a `for` statement. Raises SymbolicUseError if a group contributes values.

    The function decides this on the current path, which forks for each group.
    """
    if not isinstance(sequence, Rope):
        yield from sequence
        return
    for cell in sequence.cells:
        if not isinstance(cell, Many):
            yield cell
        elif is_present(cell):
            raise SymbolicUseError(f"a statement iterates over {cell!r}; write an expression")


def not_(value: Any) -> Any:  # noqa: ANN401 - a bool or a symbol
    """`not value`. For a symbol the result is a symbol, so that the path does not fork."""
    return SymbolicBool(negation(value.term)) if isinstance(value, SymbolicBool) else not value


WORDS: dict[str, Callable[..., Any]] = {
    "all": all_,
    "any": any_,
    "combinations": combinations_,
    "enumerate": enumerate_,
    "len": len_,
    "map": map_,
    "max": max_,
    "next": next_,
    "range": range_,
    "sum": sum_,
    "tuple": tuple_,
    "type": type_,
    "zip": zip_,
}
"""By the name of a Python function: the function that replaces it in a module that is compiled again."""
