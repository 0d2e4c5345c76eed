"""Value, list and map state over a table of bytes: what a function of a RocksDB backend takes hold of.

    group (2 bytes)  state (2 bytes)  key  [field]    ->    pickled value

so that all of a key group, and within it all of a state and of a key, lies together.
"""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from impl.state.backends.key_bytes import key_bytes, key_of
from impl.state.backends.keyed import LIST, MAP, VALUE

_PROTOCOL: Final = 5


class Table(Protocol):
    """A sorted table of bytes."""

    def get(self, key: bytes, /) -> bytes | None:
        """The value; None without one."""

    def put(self, key: bytes, value: bytes, /) -> None:
        """Set a value."""

    def get_all(self, keys: list[bytes], /) -> list[bytes | None]:
        """The values of many keys."""

    def put_all(self, entries: Iterable[tuple[bytes, bytes]], /) -> None:
        """Set many values."""

    def delete(self, key: bytes, /) -> None:
        """Take a key out; one that is not there is fine."""

    def scan(self, prefix: bytes, /) -> Iterator[tuple[bytes, bytes]]:
        """All that begins with `prefix`, in order, as it is when asked."""


class _State:
    """One state of a subtask. `place`: where a key's entry begins; `prefixes`: of all own groups."""

    def __init__(
        self, table: Table, place: Callable[[Hashable], bytes], prefixes: Callable[[], Iterable[bytes]]
    ) -> None:
        self._table = table
        self._place = place
        self._prefixes = prefixes

    def _all(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries without their prefixes."""
        for prefix in self._prefixes():
            for key, value in self._table.scan(prefix):
                yield key[len(prefix) :], value

    def remove(self, key: Hashable) -> None:
        """Forget what `key` has."""
        self._table.delete(self._place(key))

    def __len__(self) -> int:
        return sum(1 for _ in self._all())


class RocksDbValueState(_State):
    """One value for each key."""

    kind: Final = VALUE

    def get(self, key: Hashable, default: Any = None, /) -> Any:  # noqa: ANN401 - any value
        """The value of `key`."""
        told = self._table.get(self._place(key))
        return default if told is None else pickle.loads(told)

    def put(self, key: Hashable, value: object, /) -> None:
        """Give `key` a value."""
        self._table.put(self._place(key), pickle.dumps(value, _PROTOCOL))

    def get_all(self, keys: Sequence[Hashable]) -> list[Any]:
        """The values of many keys."""
        told = self._table.get_all([*map(self._place, keys)])
        return [None if one is None else pickle.loads(one) for one in told]

    def put_all(self, keys: Sequence[Hashable], values: Sequence[Any]) -> None:
        """Give many keys their values."""
        told = (pickle.dumps(value, _PROTOCOL) for value in values)
        self._table.put_all(zip(map(self._place, keys), told, strict=True))

    def items(self) -> Iterator[tuple[Hashable, Any]]:
        """All keys and values."""
        return ((key_of(key)[0], pickle.loads(value)) for key, value in self._all())


class RocksDbListState(_State):
    """A list for each key, kept as one value: to append rewrites it."""

    kind: Final = LIST

    def get(self, key: Hashable) -> tuple[Any, ...]:
        """The list of `key`."""
        told = self._table.get(self._place(key))
        return () if told is None else tuple(pickle.loads(told))

    def add(self, key: Hashable, value: object) -> None:
        """Append one value."""
        self.update(key, (*self.get(key), value))

    def add_all(self, key: Hashable, values: Iterable[Any]) -> None:
        """Append several values."""
        self.update(key, (*self.get(key), *values))

    def update(self, key: Hashable, values: Iterable[Any]) -> None:
        """Put a list in the place of the old one."""
        self._table.put(self._place(key), pickle.dumps(list(values), _PROTOCOL))

    def items(self) -> Iterator[tuple[Hashable, tuple[Any, ...]]]:
        """All keys and lists."""
        return ((key_of(key)[0], tuple(pickle.loads(value))) for key, value in self._all())


class RocksDbMapState(_State):
    """A map for each key, kept as an entry for each field."""

    kind: Final = MAP

    def get(self, key: Hashable, field: Hashable, default: Any = None) -> Any:  # noqa: ANN401 - any value
        """What `field` maps to."""
        told = self._table.get(self._place(key) + key_bytes(field))
        return default if told is None else pickle.loads(told)

    def put(self, key: Hashable, field: Hashable, value: object) -> None:
        """Let `field` map to a value."""
        self._table.put(self._place(key) + key_bytes(field), pickle.dumps(value, _PROTOCOL))

    def contains(self, key: Hashable, field: Hashable) -> bool:
        """Whether `field` maps to something."""
        return self._table.get(self._place(key) + key_bytes(field)) is not None

    def remove(self, key: Hashable, field: Hashable) -> None:  # type: ignore[override]
        """Take `field` out."""
        self._table.delete(self._place(key) + key_bytes(field))

    def entries(self, key: Hashable) -> Mapping[Any, Any]:
        """The map of `key`."""
        place = self._place(key)
        return {key_of(told[len(place) :])[0]: pickle.loads(value) for told, value in self._table.scan(place)}

    def clear(self, key: Hashable) -> None:
        """Forget the map of `key`."""
        for told, _ in tuple(self._table.scan(self._place(key))):
            self._table.delete(told)

    def items(self) -> Iterator[tuple[Hashable, Mapping[Any, Any]]]:
        """All keys and maps."""
        maps: dict[Hashable, dict[Hashable, Any]] = {}
        for told, value in self._all():
            key, rest = key_of(told)
            maps.setdefault(key, {})[key_of(rest)[0]] = pickle.loads(value)
        return iter(maps.items())

    def __len__(self) -> int:
        return sum(1 for _ in self.items())


RocksDbState = RocksDbValueState | RocksDbListState | RocksDbMapState
