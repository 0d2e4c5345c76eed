"""Shapes of states: the fixed part of a record, and the fields that vary within declared bounds.

A record of the model divides into a skeleton (its records, lengths, words, and ints without bounds) and the
values of its fields: every boolean, and every int whose name has declared bounds. Records of one skeleton
differ only in fields, so a state is the number of a skeleton and a few small ints. A field may hold a symbol
(`model.checker.symbolic`) instead of a value.
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
    """A place of a skeleton whose value varies within declared bounds."""

    path: str
    """The path from the root, elements by position: `state.blocked.0`."""
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
    """A record without its fields."""

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

    On a path (`model.checker.paths`) it forks if a pinned field is a symbol. Raises OutsideError if a value
    leaves its bounds, and UndeclaredError if a symbol has none.
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
    """The value as a number; on a path, the run forks for each value that a symbol may have."""
    for number in range(lowest, highest + 1):
        if value == number:
            return number
    raise OutsideError(f"{path} leaves its bounds {lowest} to {highest}; widen them")


def put_together(skeleton: Any, values: Sequence[Value]) -> Any:  # noqa: ANN401 - any record of the model
    """The record of a skeleton with these values in its fields."""
    remaining = iter(values)

    def record(part: Any) -> Any:  # noqa: ANN401
        if isinstance(part, Hole):
            return next(remaining)
        if isinstance(part, Skeleton):
            inner = [record(item) for item in part.parts]
            return tuple(inner) if part.kind is tuple else part.kind(*inner)
        return part

    return record(skeleton)
