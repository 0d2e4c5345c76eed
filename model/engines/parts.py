"""The parts of a composed state, and a small number for each value that a part has had.

A node of a composed world is taken apart through its records, and through the collections that its portions
name, down to parts: numbers, words, and collections that grow and shrink. Values of a part are numbered as
they are met, so that a state is a row of small numbers, and `Places` packs that row into a few 64-bit words.
Nothing is hashed away: equal numbers are equal values.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from model.closed.worlds import World
from model.engines.packing import MARK, WORD
from model.engines.program import Node

Numbers = tuple[int, ...]
"""By part: the number of its value."""
ENVIRONMENT = "environment"
REMEMBERED = 48
"""A record of at most so many parts is put together once for each way in which they stand."""
SPARE = 1
"""Bits that a part gets beyond what its values need, so that it may have more of them."""


class ComesApartError(TypeError):
    """A state does not come apart as the first one did."""


class _Record(NamedTuple):
    """A record or a collection that comes apart."""

    kind: type[tuple[Any, ...]]
    members: tuple["_Record | None", ...]
    """None for a part."""
    parts: int
    """How many there are in it."""


class Parts:
    """The parts of a world's nodes, and their values so far."""

    def __init__(self, world: World) -> None:
        assert world.portions is not None
        whole = Node(world.state, world.environment)
        self.names: list[str] = []
        self._whole = self._record(whole, {*world.portions.by_member, ENVIRONMENT}, "")
        self.values: list[list[Any]] = [[] for _ in self.names]
        self._numbers: list[dict[Any, int]] = [{} for _ in self.names]
        self.start = self.numbers(whole)

    def _record(self, value: Any, by_member: set[str], path: str) -> _Record | None:  # noqa: ANN401
        names = getattr(value, "_fields", None)
        if names is None and (type(value) is not tuple or path.rpartition(".")[2] not in by_member):
            self.names.append(path)
            return None
        members = zip(names or map(str, range(len(value))), value, strict=True)
        first = len(self.names)
        records = tuple(
            self._record(one, by_member, f"{path}.{name}" if path else name) for name, one in members
        )
        return _Record(type(value), records, len(self.names) - first)

    def number(self, part: int, value: Any) -> int:  # noqa: ANN401 - any part's value
        """The number of a value, which may be new. Raises ComesApartError for None, which `is` tells."""
        if value is None:
            raise ComesApartError(f"{self.names[part]} is None, for which nothing can stand in")
        known = self._numbers[part]
        number = known.setdefault(value, len(known))
        if number == len(self.values[part]):
            self.values[part].append(value)
        return number

    def numbers(self, node: Node) -> Numbers:
        """The row of a node."""
        return tuple(self.number(part, value) for part, value in enumerate(self.taken_apart(node)))

    def maker(self, of: Callable[[int, int], Any]) -> "Maker":
        """What puts nodes together; `of` tells what stands for a part's value of some number."""
        assert self._whole is not None  # a node is a record
        return Maker(self._whole, of)

    def taken_apart(self, node: Node) -> list[Any]:
        """What stands at each part's place. Raises ComesApartError."""
        values: list[Any] = []
        _spread(self._whole, node, values)
        return values

    def different(self, before: Node, after: Node) -> list[tuple[int, Any]]:
        """The parts at whose place another object stands, and that. Raises ComesApartError."""
        changes: list[tuple[int, Any]] = []
        _compare(self._whole, before, after, 0, changes)
        return changes


class Maker:
    """Puts a record together by the numbers of its parts, which begin with the part `first`."""

    def __init__(self, record: _Record, of: Callable[[int, int], Any], first: int = 0) -> None:
        self._kind = record.kind
        self._of = of
        self._first, self._beyond = first, first + record.parts
        self._members: list[tuple[int, Maker | None]] = []
        for member in record.members:
            self._members.append((first, None if member is None else Maker(member, of, first)))
            first += 1 if member is None else member.parts
        self._made: dict[Numbers, Any] | None = {} if record.parts <= REMEMBERED else None

    def made(self, numbers: Numbers) -> Any:  # noqa: ANN401 - a record
        """The record within a row: the same object wherever its parts have the same numbers."""
        if self._made is None:
            return self._make(numbers)
        key = numbers[self._first : self._beyond]
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(numbers)
        return made

    def _make(self, numbers: Numbers) -> Any:  # noqa: ANN401
        of = self._of
        members = [
            of(part, numbers[part]) if maker is None else maker.made(numbers) for part, maker in self._members
        ]
        return tuple(members) if self._kind is tuple else self._kind(*members)


def _spread(record: _Record | None, value: Any, values: list[Any]) -> None:  # noqa: ANN401
    if record is None:
        values.append(value)
        return
    for member, inner in zip(record.members, _members(record, value), strict=True):
        _spread(member, inner, values)


def _compare(
    record: _Record | None,
    before: Any,  # noqa: ANN401
    after: Any,  # noqa: ANN401
    first: int,
    changes: list[tuple[int, Any]],
) -> None:
    if before is after:
        return
    if record is None:
        changes.append((first, after))
        return
    for member, old, new in zip(record.members, before, _members(record, after), strict=True):
        _compare(member, old, new, first, changes)
        first += 1 if member is None else member.parts


def _members(record: _Record, members: tuple[Any, ...]) -> tuple[Any, ...]:
    if type(members) is not record.kind or len(members) != len(record.members):
        raise ComesApartError(f"expected a {record.kind.__name__} of {len(record.members)}, got {members}")
    return members


class Places(NamedTuple):
    """Where each part's number stands in the words of a packed state."""

    rows: tuple[tuple[int, int, int], ...]
    """By part: its word, how far it is shifted, and its bits at their place before that."""
    words: int

    def as_array(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The rows, as kernels read them."""
        return np.array(self.rows, np.int64)

    def has_room(self, counts: Iterable[int]) -> bool:
        """Every part may have so many values."""
        return all(count - 1 <= mask for count, (_, _, mask) in zip(counts, self.rows, strict=True))

    def pack(self, numbers: Numbers) -> tuple[int, ...]:
        """The words of a row; the first has a bit that is always set, so that no state is 0."""
        words = [1] + [0] * (self.words - 1)
        for number, (word, shift, _) in zip(numbers, self.rows, strict=True):
            words[word] |= number << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> Numbers:
        """The row behind some words."""
        return tuple((int(words[word]) >> shift) & mask for word, shift, mask in self.rows)


def places_of(counts: Sequence[int]) -> Places:
    """Places with some room beyond so many values of each part; a part with one value takes no bits."""
    word, shift = 0, MARK
    rows: list[tuple[int, int, int]] = []
    for count in counts:
        bits = (count - 1).bit_length() + SPARE if count > 1 else 0
        if shift + bits > WORD:
            word, shift = word + 1, 0
        rows.append((word, shift if bits else 0, (1 << bits) - 1))
        shift += bits
    return Places(tuple(rows), word + 1)
