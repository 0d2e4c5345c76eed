"""The parts of a composed state, and a small number for each value that a part has had.

A node of a closed model with portions is taken apart through its records, and through the collections that
these name, down to parts: numbers, words, and small collections. A collection that grows and shrinks comes
apart into its members, each with a part that says whether it is present; what is not present has absent
parts. Values are numbered as they are met, so that a state is a row of small numbers, which
`model.checker.frames.places` packs into a few words. Nothing is hashed away: equal numbers are equal
values.

What stands for the parts of a node may be their values or `model.checker.frames.read_sets`'s stand-ins.
"""

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

from model.checker.closed_model import ClosedModel
from model.checker.compiled.program import Node
from model.checker.frames.places import Numbers
from model.checker.frames.read_sets import StandIn, known_to_be_false, part_of, settled, slots_of

ENVIRONMENT = "environment"
ROOM = 8
"""For so many members of a collection that grows there are parts at first."""
PRESENT = "present"


class Absent:
    """In the place of a part: there is no such member."""


ABSENT = Absent()
"""Its number is 0."""
NOTHING = (False, None)
"""In the place of a member: none is present."""


class Record(NamedTuple):
    """A record, or a collection that is never longer or shorter."""

    kind: type[tuple[Any, ...]]
    members: tuple["Shape", ...]


class Growing(NamedTuple):
    """A collection that grows and shrinks."""

    number: int
    """Which of all it is."""
    members: tuple[tuple[int, "Shape", tuple[int, ...]], ...]
    """The part that says whether it is there, the member, and its parts; there is room for so many."""


Shape: TypeAlias = int | Record | Growing
"""A number is that of a part, which does not come apart."""
Changes = list[tuple[int, Any]]
"""Parts, and what stands at their place now."""


class ComesApartError(TypeError):
    """A state does not come apart as the first one did."""


class NoRoomError(Exception):
    """A collection has more members than there are parts for; the argument is its path."""


class Parts:
    """The parts of a closed model's nodes, and their values so far."""

    def __init__(self, closed: ClosedModel, room: Mapping[str, int] | None = None) -> None:
        """`room`: by path of a collection that grows, for how many members there are parts."""
        assert closed.portions is not None
        self._portions = closed.portions
        self._room = room or {}
        self._fixed = {*closed.portions.by_member, ENVIRONMENT}
        self._growing: list[tuple[str, Growing]] = []
        self._most: list[int] = []
        self.grown = 0
        """Counts what was met for the first time: values, and members."""
        self._copied: set[str] = set()
        self.names: list[str] = []
        whole = Node(closed.state, closed.environment)
        self.shape = self._shape_of(whole, "")
        self.values: list[list[Any]] = []
        """By part. Those of members, and all that go by the same name, have one list: they can be copied."""
        self._numbers: list[dict[Any, int]] = []
        self._number_parts()
        self.start = self.numbers(whole)

    def _shape_of(self, value: Any, path: str, inside: bool = False) -> Shape:  # noqa: ANN401
        grows = _named(path, self._portions.growing)
        if grows is not None:
            return self._comes_apart(value, self._portions.growing[grows], path)
        fields = getattr(value, "_fields", None)
        if fields is None and type(value) is tuple and _named(path, self._fixed) is not None:
            fields = tuple(map(str, range(len(value))))
        if fields is None:
            return self._part(path, inside)
        members = zip(fields, value, strict=True)
        shapes = (self._shape_of(one, f"{path}.{field}" if path else field, inside) for field, one in members)
        return Record(type(value), tuple(shapes))

    def _comes_apart(self, value: Any, member: Any, path: str) -> Growing:  # noqa: ANN401
        room = max(self._room.get(path, ROOM), len(value) if type(value) is tuple else 0)
        paths = [f"{path}.{at}" for at in range(room)]
        present = tuple(self._part(f"{one}.{PRESENT}", True) for one in paths)
        members: Iterable[Shape] = (self._part(one, True) for one in paths)
        if member is not None:
            members = (self._shape_of(member, one, True) for one in paths)
        shapes = tuple((part, shape, parts_of(shape)) for part, shape in zip(present, members, strict=True))
        growing = Growing(len(self._growing), shapes)  # after those in its members
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
        """Of each part, how many values it may have; members count up to so many beyond those met so far."""
        counts = [len(values) for values in self.values]
        for (_, shape), most in zip(self._growing, self._most, strict=True):
            for part, _, inner in shape.members[most + beyond :]:
                for unused in (part, *inner):
                    counts[unused] = 1
        return counts

    def number(self, part: int, value: Any) -> int:  # noqa: ANN401 - any part's value, or what stands for it
        """The number of a value, which may be new. Raises ComesApartError for None, which `is` tells."""
        if value is None:
            raise ComesApartError(f"{self.names[part]} is None, for which nothing can stand in")
        known = self._numbers[part]
        number = known.get(value)
        if number is None:
            value = settled(value)
            number = known[value] = len(known)
            self.values[part].append(value)
            self.grown += 1
        return number

    def alike(self, part: int, other: int) -> bool:
        """The same numbers mean the same values."""
        return self.values[part] is self.values[other]

    def numbers(self, node: Node) -> Numbers:
        """The row of a node. Raises ComesApartError and NoRoomError."""
        row = [0] * len(self.names)
        for part, value in self.different(None, node):
            row[part] = self.number(part, value)
        return tuple(row)

    def different(self, before: Node | None, after: Node) -> Changes:
        """The parts at whose place another object stands, and what. Raises as `numbers` does."""
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
                raise ComesApartError(f"expected a {name} of {len(shape.members)}, got {after}")
            olds = repeat(None) if before is None else before
            for member, old, new in zip(shape.members, olds, after, strict=False):
                self._compare(member, old, new, changes)

    def _compare_growing(self, shape: Growing, before: Any, after: Any, changes: Changes) -> None:  # noqa: ANN401
        olds, news = slots_of(before), slots_of(after)
        if any(present for present, _ in news[len(shape.members) :]):
            raise NoRoomError(self._growing[shape.number][0])
        for at, (part, member, inner) in enumerate(shape.members):
            was, old = olds[at] if at < len(olds) else NOTHING
            there, new = news[at] if at < len(news) else NOTHING
            if there is True and new is None:
                raise ComesApartError(f"{self._growing[shape.number][0]}.{at} is None")
            self._compare(part, was, there, changes)
            if new is not None:
                self._compare(member, old, new, changes)
                if at >= self._most[shape.number] and not self._is_own(shape, there):
                    self._most[shape.number] = at + 1
                    self.grown += 1
            elif old is not None and not known_to_be_false(was):
                changes.extend([(one, ABSENT) for one in inner])

    def _is_own(self, shape: Growing, there: Any) -> bool:  # noqa: ANN401 - a truth or its stand-in
        """It was a later member of the collection, as `[k:]` moves them: there are no more than before."""
        return type(there) is StandIn and any(part_of(there) == part for part, _, _ in shape.members)


def parts_of(shape: Shape) -> tuple[int, ...]:
    """Every part in it."""
    if isinstance(shape, int):
        return (shape,)
    if type(shape) is Record:
        return tuple(part for member in shape.members for part in parts_of(member))
    assert type(shape) is Growing
    return tuple(part for present, _, inner in shape.members for part in (present, *inner))


def _named(path: str, names: Iterable[str]) -> str | None:
    """The one of some names that is the end of a path, in which each member is called `*`."""
    generic = "." + ".".join("*" if name.isdigit() else name for name in path.split("."))
    return next((name for name in names if generic.endswith("." + name)), None)


def _field(path: str) -> str:
    """The name of the field that a part belongs to, whichever member it is."""
    return next(name for name in reversed(path.split(".")) if not name.isdigit())
