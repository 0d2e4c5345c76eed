"""States in memory, which functions read and write. Each state is one dict, its *table*.

A list or map in the table is copied before its first change after a snapshot (copy on write). Each state
counts the removals of keys. As long as no key is removed, new keys only come to the end of the dict.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from impl.state.backends.keyed import LIST, MAP, VALUE

Table = dict[Hashable, Any]


class HeapValueState:
    """One value for each key. `get` and `put` are methods of the dict, because every record calls them."""

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
        """Set the values of many keys."""
        self.table.update(zip(keys, values, strict=True))

    def remove(self, key: Hashable) -> None:
        """Remove the value of `key`."""
        self.table.pop(key, None)
        self.removals += 1

    def items(self) -> Iterator[tuple[Hashable, Any]]:
        """All keys and values, in the order of the first use of the keys."""
        return iter(self.table.items())

    def __len__(self) -> int:
        return len(self.table)

    def frozen(self) -> Table:
        """A copy of the table. Later changes of the state do not affect it if the values are immutable."""
        return dict(self.table)


class _Containers:
    """A table of lists or maps, which are copied before their first change after a snapshot."""

    def __init__(self) -> None:
        self.table: Table = {}
        self.immutable = False
        self.removals = 0
        self._own: set[Hashable] = set()  # keys whose list or map is newer than the last snapshot

    def frozen(self) -> Table:
        """A copy of the table. Later changes of the state do not affect its lists and maps."""
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
        """Replace the list of `key`."""
        self.table[key] = list(values)
        self._own.add(key)

    def remove(self, key: Hashable) -> None:
        """Remove the list of `key`."""
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
        """The value of `field`."""
        there = self.table.get(key)
        return default if there is None else there.get(field, default)

    def put(self, key: Hashable, field: Hashable, value: object) -> None:
        """Set the value of `field`."""
        self._mine(key)[field] = value

    def contains(self, key: Hashable, field: Hashable) -> bool:
        """Whether the map has `field`."""
        return field in self.table.get(key, ())

    def remove(self, key: Hashable, field: Hashable) -> None:
        """Remove `field`. A map that has no fields afterwards is removed, too."""
        if self.contains(key, field):
            mine = self._mine(key)
            del mine[field]
            if not mine:
                self.clear(key)

    def entries(self, key: Hashable) -> Mapping[Any, Any]:
        """The map of `key`."""
        return dict(self.table.get(key, ()))

    def clear(self, key: Hashable) -> None:
        """Remove the map of `key`."""
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
