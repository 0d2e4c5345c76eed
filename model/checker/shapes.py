"""Shapes of states: the fixed part of a record, and the fields that vary within declared bounds.

A record of the model divides into a *skeleton* and *fields*. The skeleton holds its inner records, lengths,
words, and ints without bounds. The fields are all booleans, and all ints whose name has declared bounds.
Records with the same skeleton differ only in the values of fields. So a state is the number of a skeleton and
a few small ints. A field may hold a symbol (`model.checker.symbolic`) instead of a value.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from model.checker.bounds import FieldBounds
from model.checker.symbolic import SymbolicBool, SymbolicInt

Value = Any
"""The value of a field: an int, a bool, or a symbol of either."""


class OutsideError(ValueError):
    """A field would have a value outside its declared bounds."""


class UndeclaredError(ValueError):
    """An int varies and has no declared bounds."""


class Field(NamedTuple):
    """A place in a skeleton, whose value varies within declared bounds."""

    path: str
    """The path from the root, with positions for elements of tuples, as in `state.blocked.0`."""
    name: str
    """The name of its declared bounds."""
    is_bool: bool
    lowest: int
    highest: int

    @property
    def bits(self) -> int:
        """Number of bits of a value."""
        return (self.highest - self.lowest).bit_length()


class Skeleton(NamedTuple):
    """An inner record of a skeleton: a class, and the skeletons of its parts."""

    kind: type
    parts: tuple[Any, ...]


class Hole(NamedTuple):
    """Marks the place of a field in a skeleton."""

    is_bool: bool
    name: str


def taken_apart(
    value: Any,  # noqa: ANN401 - any record of the model
    bounds: FieldBounds,
    path: str,
    names: tuple[str, ...] = (),
) -> tuple[Any, list[Field], list[Value]]:
    """The skeleton of a record, its fields in order, and their values.

    If a pinned field is a symbol, the current path (`model.checker.paths`) forks. Raises OutsideError if a
    value is outside its bounds, and UndeclaredError if a symbol has no bounds.
    """
    fields: list[Field] = []
    values: list[Value] = []

    def skeleton(part: Any, path: str, names: tuple[str, ...]) -> Any:  # noqa: ANN401
        if isinstance(part, tuple):
            labels = getattr(part, "_fields", None)
            if labels is None:
                inner = (skeleton(item, f"{path}.{place}", names) for place, item in enumerate(part))
                return Skeleton(tuple, tuple(inner))
            inner = (
                skeleton(item, f"{path}.{label}", (*names, label))
                for label, item in zip(labels, part, strict=True)
            )
            return Skeleton(type(part), tuple(inner))
        if isinstance(part, bool | SymbolicBool):
            fields.append(Field(path, names[-1], True, 0, 1))
            values.append(part)
            return Hole(True, names[-1])
        if not isinstance(part, int | SymbolicInt):
            return part
        declared = bounds.of(names)
        if declared is None:
            if isinstance(part, SymbolicInt):
                raise UndeclaredError(f"{path} varies and has no bounds; declare some for {names[-1]!r}")
            return part
        name, (lowest, highest) = declared
        if name in bounds.pinned:
            return _settled(part, lowest, highest, path)
        if isinstance(part, int) and not lowest <= part <= highest:
            raise OutsideError(f"{path} is {part}, its bounds are {lowest} to {highest}; widen them")
        fields.append(Field(path, name, False, lowest, highest))
        values.append(part)
        return Hole(False, name)

    return skeleton(value, path, names), fields, values


def _settled(value: Value, lowest: int, highest: int, path: str) -> int:
    """The value as a number. The current path forks for each value that a symbol may have."""
    for number in range(lowest, highest + 1):
        if value == number:
            return number
    raise OutsideError(f"{path} leaves its bounds {lowest} to {highest}; widen them")


def put_together(skeleton: Any, values: Sequence[Value]) -> Any:  # noqa: ANN401 - any record of the model
    """The record with this skeleton and these values of its fields, in order."""
    remaining = iter(values)

    def record(part: Any) -> Any:  # noqa: ANN401
        if isinstance(part, Hole):
            return next(remaining)
        if isinstance(part, Skeleton):
            inner = [record(item) for item in part.parts]
            return tuple(inner) if part.kind is tuple else part.kind(*inner)
        return part

    return record(skeleton)
