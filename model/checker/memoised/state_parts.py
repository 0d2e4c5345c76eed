"""Divides a composed state into parts, and gives a small number to each value that a part has had.

A node of a closed model with portions divides into its records, and into the members of the collections that
its portions name. A *part* does not divide further: it is a number, a word or a small collection. Each member
of a collection that grows and shrinks has a further part, which states whether the member is present. The
other parts of an absent member have the value ABSENT. A value gets its number at its first occurrence. So a
state is a row of small numbers, which `model.checker.memoised.bit_layout` packs into a few words. Equal
numbers of a part represent equal values.

The parts of a node may be values or stand-ins of `model.checker.memoised.read_sets`.
"""

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

from model.checker.closed_model import ClosedModel
from model.checker.compiled.program import Node
from model.checker.memoised.bit_layout import Numbers
from model.checker.memoised.read_sets import StandIn, known_to_be_false, part_of, settled, slots_of

ENVIRONMENT = "environment"
INITIAL_MEMBERS = 8
"""Number of members for which a growing collection has parts at first."""
PRESENT = "present"


class Absent:
    """The value of the parts of an absent member."""


ABSENT = Absent()
"""The value of the parts of an absent member. Its number is 0."""
NOTHING = (False, None)
"""The value of an absent member."""


class Record(NamedTuple):
    """A record, or a collection with a fixed length."""

    kind: type[tuple[Any, ...]]
    members: tuple["Shape", ...]


class Growing(NamedTuple):
    """A collection that grows and shrinks."""

    number: int
    """The number of this collection among all growing collections."""
    members: tuple[tuple[int, "Shape", tuple[int, ...]], ...]
    """By member: the part that states its presence, the member's shape, and its parts."""


Shape: TypeAlias = int | Record | Growing
"""An int is the number of a part, which does not divide further."""
Changes = list[tuple[int, Any]]
"""Changed parts, with their new values."""


class IndivisibleError(TypeError):
    """A state does not divide into parts like the first one."""


class CapacityError(Exception):
    """A collection has more members than it has parts for. The argument is the path of the collection."""


class Parts:
    """The parts of a closed model's nodes, and their values so far."""

    def __init__(self, closed: ClosedModel, capacity: Mapping[str, int] | None = None) -> None:
        """`capacity`: by path of a growing collection, the number of members that have parts."""
        assert closed.portions is not None
        self._portions = closed.portions
        self._capacity = capacity or {}
        self._fixed = {*closed.portions.by_member, ENVIRONMENT}
        self._growing: list[tuple[str, Growing]] = []
        self._most: list[int] = []
        self.grown = 0
        """Number of first occurrences of values and members so far."""
        self._copied: set[str] = set()
        self.names: list[str] = []
        whole = Node(closed.state, closed.environment)
        self.shape = self._shape_of(whole, "")
        self.values: list[list[Any]] = []
        """By part: its values so far. All parts of members with one field name share a list.

        So a value can be copied from one of these parts to another by its number.
        """
        self._numbers: list[dict[Any, int]] = []
        self._number_parts()
        self.start = self.numbers(whole)

    def _shape_of(self, value: Any, path: str, inside: bool = False) -> Shape:  # noqa: ANN401
        grows = _named(path, self._portions.growing)
        if grows is not None:
            return self._divide(value, self._portions.growing[grows], path)
        fields = getattr(value, "_fields", None)
        if fields is None and type(value) is tuple and _named(path, self._fixed) is not None:
            fields = tuple(map(str, range(len(value))))
        if fields is None:
            return self._part(path, inside)
        members = zip(fields, value, strict=True)
        shapes = (self._shape_of(one, f"{path}.{field}" if path else field, inside) for field, one in members)
        return Record(type(value), tuple(shapes))

    def _divide(self, value: Any, member: Any, path: str) -> Growing:  # noqa: ANN401
        capacity = max(self._capacity.get(path, INITIAL_MEMBERS), len(value) if type(value) is tuple else 0)
        paths = [f"{path}.{at}" for at in range(capacity)]
        present = tuple(self._part(f"{one}.{PRESENT}", True) for one in paths)
        members: Iterable[Shape] = (self._part(one, True) for one in paths)
        if member is not None:
            members = (self._shape_of(member, one, True) for one in paths)
        shapes = tuple((part, shape, parts_of(shape)) for part, shape in zip(present, members, strict=True))
        growing = Growing(len(self._growing), shapes)  # collections in its members have smaller numbers
        self._growing.append((path, growing))
        self._most.append(0)
        return growing

    def _part(self, path: str, inside: bool) -> int:
        if inside:
            self._copied.add(_field(path))
        self.names.append(path)
        return len(self.names) - 1

    def _number_parts(self) -> None:
        shared: dict[str, list[Any]] = {field: [ABSENT] for field in self._copied}
        shared[PRESENT] = [False, True]
        numbers = {field: {value: number for number, value in enumerate(shared[field])} for field in shared}
        for name in self.names:
            self.values.append(shared.get(_field(name), []))
            self._numbers.append(numbers.get(_field(name), {}))

    def counts(self, beyond: int = 0) -> list[int]:
        """By part: the number of its values. A part of a member that no state has had counts as 1.

        `beyond`: for this number of further members of each collection, all values count.
        """
        counts = [len(values) for values in self.values]
        for (_, shape), most in zip(self._growing, self._most, strict=True):
            for part, _, inner in shape.members[most + beyond :]:
                for unused in (part, *inner):
                    counts[unused] = 1
        return counts

    def number(self, part: int, value: Any) -> int:  # noqa: ANN401 - any part's value, or what stands for it
        """The number of a value, which may be new.

        Raises IndivisibleError for None: a model tests it with `is`, which a stand-in cannot detect.
        """
        if value is None:
            raise IndivisibleError(f"{self.names[part]} is None, for which nothing can stand in")
        known = self._numbers[part]
        number = known.get(value)
        if number is None:
            value = settled(value)
            number = known[value] = len(known)
            self.values[part].append(value)
            self.grown += 1
        return number

    def alike(self, part: int, other: int) -> bool:
        """Whether equal numbers of the two parts represent equal values."""
        return self.values[part] is self.values[other]

    def numbers(self, node: Node) -> Numbers:
        """The row of a node.

        Raises IndivisibleError if the node does not divide like the first one, and CapacityError if a
        collection has more members than it has parts for.
        """
        row = [0] * len(self.names)
        for part, value in self.different(None, node):
            row[part] = self.number(part, value)
        return tuple(row)

    def different(self, before: Node | None, after: Node) -> Changes:
        """The parts whose object is not the same in both nodes, with the new object. Raises as `numbers`."""
        changes: Changes = []
        self._compare(self.shape, before, after, changes)
        return changes

    def _compare(self, shape: Shape, before: Any, after: Any, changes: Changes) -> None:  # noqa: ANN401
        if before is after and after is not None:
            return
        if isinstance(shape, int):
            changes.append((shape, after))
        elif type(shape) is Growing:
            self._compare_growing(shape, before, after, changes)
        elif type(shape) is Record:
            if type(after) is not shape.kind or len(after) != len(shape.members):
                name = shape.kind.__name__
                raise IndivisibleError(f"expected a {name} of {len(shape.members)}, got {after}")
            olds = repeat(None) if before is None else before
            for member, old, new in zip(shape.members, olds, after, strict=False):
                self._compare(member, old, new, changes)

    def _compare_growing(self, shape: Growing, before: Any, after: Any, changes: Changes) -> None:  # noqa: ANN401
        olds, news = slots_of(before), slots_of(after)
        if any(present for present, _ in news[len(shape.members) :]):
            raise CapacityError(self._growing[shape.number][0])
        for at, (part, member, inner) in enumerate(shape.members):
            was, old = olds[at] if at < len(olds) else NOTHING
            there, new = news[at] if at < len(news) else NOTHING
            if there is True and new is None:
                raise IndivisibleError(f"{self._growing[shape.number][0]}.{at} is None")
            self._compare(part, was, there, changes)
            if new is not None:
                self._compare(member, old, new, changes)
                if at >= self._most[shape.number] and not self._is_own(shape, there):
                    self._most[shape.number] = at + 1
                    self.grown += 1
            elif old is not None and not known_to_be_false(was):
                changes.extend([(one, ABSENT) for one in inner])

    def _is_own(self, shape: Growing, there: Any) -> bool:  # noqa: ANN401 - a truth or its stand-in
        """Whether `there` is the presence of another member, which a slice `[k:]` has moved.

        Then the collection has not grown.
        """
        return type(there) is StandIn and any(part_of(there) == part for part, _, _ in shape.members)


def parts_of(shape: Shape) -> tuple[int, ...]:
    """Every part of the shape."""
    if isinstance(shape, int):
        return (shape,)
    if type(shape) is Record:
        return tuple(part for member in shape.members for part in parts_of(member))
    assert type(shape) is Growing
    return tuple(part for present, _, inner in shape.members for part in (present, *inner))


def _named(path: str, names: Iterable[str]) -> str | None:
    """The first of `names` with which the path ends, or None. In a name, `*` represents any position."""
    generic = "." + ".".join("*" if name.isdigit() else name for name in path.split("."))
    return next((name for name in names if generic.endswith("." + name)), None)


def _field(path: str) -> str:
    """The name of the field of a part, without the positions of members."""
    return next(name for name in reversed(path.split(".")) if not name.isdigit())
