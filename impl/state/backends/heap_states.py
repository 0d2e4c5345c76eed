"""States in memory, a dict each: what functions read and write, and how it is held still for a snapshot.

Containers that a state owns itself, the lists and maps, are copied before the first change after a snapshot.
Each state counts what was removed from it: without any, its keys stand in the order in which they came.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from impl.state.backends.keyed import LIST, MAP, VALUE

Table = dict[Hashable, Any]


class HeapValueState:
    """One value for each key. `get` and `put` are the dict's own: they are called for every record."""

    kind: Final = VALUE

    def __init__(self) -> None:
        self.table: Table = {}
        self.immutable = False
        self.removals = 0
        self.get: Callable[..., Any] = self.table.get
        self.put: Callable[[Hashable, Any], None] = self.table.__setitem__

    def get_all(self, keys: Sequence[Hashable]) -> list[Any]:
        """The values of many keys."""
        return list(map(self.table.get, keys))

    def put_all(self, keys: Sequence[Hashable], values: Sequence[Any]) -> None:
        """Give many keys their values."""
        self.table.update(zip(keys, values, strict=True))

    def remove(self, key: Hashable) -> None:
        """Forget the value of `key`."""
        self.table.pop(key, None)
        self.removals += 1

    def items(self) -> Iterator[tuple[Hashable, Any]]:
        """All keys and values, in the order in which the keys came first."""
        return iter(self.table.items())

    def __len__(self) -> int:
        return len(self.table)

    def frozen(self) -> Table:
        """The table as it is now, for good, if the values are immutable."""
        return dict(self.table)


class _Containers:
    """Tables of containers: which of them were made or copied since the last snapshot."""

    def __init__(self) -> None:
        self.table: Table = {}
        self.immutable = False
        self.removals = 0
        self._own: set[Hashable] = set()

    def frozen(self) -> Table:
        """The table as it is now: no container in it is changed from now on."""
        self._own.clear()
        return dict(self.table)

    def __len__(self) -> int:
        return len(self.table)


class HeapListState(_Containers):
    """A list for each key."""

    kind: Final = LIST

    def get(self, key: Hashable) -> tuple[Any, ...]:
        """The list of `key`."""
        return tuple(self.table.get(key, ()))

    def add(self, key: Hashable, value: object) -> None:
        """Append one value."""
        self._mine(key).append(value)

    def add_all(self, key: Hashable, values: Iterable[Any]) -> None:
        """Append several values."""
        self._mine(key).extend(values)

    def update(self, key: Hashable, values: Iterable[Any]) -> None:
        """Put a list in the place of the old one."""
        self.table[key] = list(values)
        self._own.add(key)

    def remove(self, key: Hashable) -> None:
        """Forget the list of `key`."""
        self.table.pop(key, None)
        self.removals += 1

    def items(self) -> Iterator[tuple[Hashable, tuple[Any, ...]]]:
        """All keys and lists."""
        return ((key, tuple(values)) for key, values in self.table.items())

    def _mine(self, key: Hashable) -> list[Any]:
        if key not in self._own or key not in self.table:
            self.update(key, self.table.get(key, ()))
        mine: list[Any] = self.table[key]
        return mine


class HeapMapState(_Containers):
    """A map for each key."""

    kind: Final = MAP

    def get(self, key: Hashable, field: Hashable, default: Any = None) -> Any:  # noqa: ANN401 - any value
        """What `field` maps to."""
        there = self.table.get(key)
        return default if there is None else there.get(field, default)

    def put(self, key: Hashable, field: Hashable, value: object) -> None:
        """Let `field` map to a value."""
        self._mine(key)[field] = value

    def contains(self, key: Hashable, field: Hashable) -> bool:
        """Whether `field` maps to something."""
        return field in self.table.get(key, ())

    def remove(self, key: Hashable, field: Hashable) -> None:
        """Take `field` out; a map without fields is forgotten."""
        if self.contains(key, field):
            mine = self._mine(key)
            del mine[field]
            if not mine:
                self.clear(key)

    def entries(self, key: Hashable) -> Mapping[Any, Any]:
        """The map of `key`."""
        return dict(self.table.get(key, ()))

    def clear(self, key: Hashable) -> None:
        """Forget the map of `key`."""
        self.table.pop(key, None)
        self.removals += 1

    def items(self) -> Iterator[tuple[Hashable, Mapping[Any, Any]]]:
        """All keys and maps."""
        return ((key, dict(fields)) for key, fields in self.table.items())

    def _mine(self, key: Hashable) -> dict[Hashable, Any]:
        if key not in self._own or key not in self.table:
            self.table[key] = dict(self.table.get(key, ()))
            self._own.add(key)
        mine: dict[Hashable, Any] = self.table[key]
        return mine


State = HeapValueState | HeapListState | HeapMapState
KINDS: Final[Mapping[str, Callable[[], State]]] = {
    VALUE: HeapValueState,
    LIST: HeapListState,
    MAP: HeapMapState,
}
