"""Value, list and map state of the RocksDB backend, stored in a sorted table of bytes.

    group (2 bytes)  state (2 bytes)  key  [field]    ->    pickled value

So the entries of a key group are contiguous, in them the entries of a state, and in these the entries of a
key.
"""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from impl.state.backends.key_bytes import key_bytes, key_of
from impl.state.backends.keyed import LIST, MAP, VALUE

_PROTOCOL: Final = 5
_FILTER_BITS: Final = 10
"""The number of bits of the Bloom filter for each key."""


class RocksDbTable:
    """A RocksDB database in a folder, as a sorted table of bytes.

    It has no write-ahead log, because a restore reads a checkpoint.
    """

    def __init__(self, folder: Path) -> None:
        from rocksdict import Rdict, WriteOptions

        self.folder = folder
        self._database: Any = Rdict(str(folder), _options())
        unlogged: Any = WriteOptions()
        unlogged.disable_wal = True
        self._database.set_write_options(unlogged)
        self._unlogged = unlogged
        self.get = self._database.get
        self.put = self._database.put
        self.delete = self._database.delete

    def get_all(self, keys: list[bytes], /) -> list[bytes | None]:
        """The values of many keys, in their order; None for a key without a value."""
        values: list[bytes | None] = self._database.get(keys)
        return values

    def put_all(self, entries: Iterable[tuple[bytes, bytes]], /) -> None:
        """Set many values."""
        from rocksdict import WriteBatch

        batch = WriteBatch(raw_mode=True)
        for key, value in entries:
            batch.put(key, value)
        self._database.write(batch, self._unlogged)

    def scan(self, prefix: bytes, /) -> Iterator[tuple[bytes, bytes]]:
        """All entries whose key begins with `prefix`, in order. Later changes have no effect on them."""
        for key, value in self._database.items(from_key=prefix):
            if not key.startswith(prefix):
                return
            yield key, value

    def checkpoint(self, folder: Path) -> None:
        """Flush the data in memory to a file, and make hard links to all files in the new folder `folder`."""
        from rocksdict import Checkpoint

        self._database.flush()
        Checkpoint(self._database).create_checkpoint(str(folder))

    def close(self) -> None:
        """Close the database; the folder stays."""
        self._database.close()


def _options() -> Any:  # noqa: ANN401 - rocksdict has no types
    """The options of a database: compaction merges only files of similar size (universal compaction).

    By default RocksDB merges every fourth flush with the whole level below, so a checkpoint after few changes
    sometimes copies all data. With these options a key may be in more files, but because of the Bloom filters
    most reads skip them.
    """
    from rocksdict import BlockBasedOptions, DBCompactionStyle, Options

    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_compaction_style(DBCompactionStyle.universal())
    tables = BlockBasedOptions()
    tables.set_bloom_filter(_FILTER_BITS, False)
    options.set_block_based_table_factory(tables)
    return options


class _State:
    """One state of a subtask.

    `prefix_of` returns the bytes with which the entries of a key begin. `prefixes` returns the bytes with
    which the entries of this state begin, for each key group.
    """

    def __init__(
        self,
        table: RocksDbTable,
        prefix_of: Callable[[Hashable], bytes],
        prefixes: Callable[[], Iterable[bytes]],
    ) -> None:
        self._table = table
        self._prefix_of = prefix_of
        self._prefixes = prefixes

    def _all(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries, without the prefix of group and state."""
        for prefix in self._prefixes():
            for key, value in self._table.scan(prefix):
                yield key[len(prefix) :], value

    def remove(self, key: Hashable) -> None:
        """Remove the entry of `key`."""
        self._table.delete(self._prefix_of(key))

    def __len__(self) -> int:
        return sum(1 for _ in self._all())


class RocksDbValueState(_State):
    """One value for each key."""

    kind: Final = VALUE

    def get(self, key: Hashable, default: Any = None, /) -> Any:  # noqa: ANN401 - any value
        """The value of `key`."""
        stored = self._table.get(self._prefix_of(key))
        return default if stored is None else pickle.loads(stored)

    def put(self, key: Hashable, value: object, /) -> None:
        """Set the value of `key`."""
        self._table.put(self._prefix_of(key), pickle.dumps(value, _PROTOCOL))

    def get_all(self, keys: Sequence[Hashable]) -> list[Any]:
        """The values of many keys."""
        stored = self._table.get_all([*map(self._prefix_of, keys)])
        return [None if one is None else pickle.loads(one) for one in stored]

    def put_all(self, keys: Sequence[Hashable], values: Sequence[Any]) -> None:
        """Set the values of many keys."""
        stored = (pickle.dumps(value, _PROTOCOL) for value in values)
        self._table.put_all(zip(map(self._prefix_of, keys), stored, strict=True))

    def items(self) -> Iterator[tuple[Hashable, Any]]:
        """All keys and values."""
        return ((key_of(key)[0], pickle.loads(value)) for key, value in self._all())


class RocksDbListState(_State):
    """A list for each key, stored as one value. An append writes the whole list again."""

    kind: Final = LIST

    def get(self, key: Hashable) -> tuple[Any, ...]:
        """The list of `key`."""
        stored = self._table.get(self._prefix_of(key))
        return () if stored is None else tuple(pickle.loads(stored))

    def add(self, key: Hashable, value: object) -> None:
        """Append one value."""
        self.update(key, (*self.get(key), value))

    def add_all(self, key: Hashable, values: Iterable[Any]) -> None:
        """Append several values."""
        self.update(key, (*self.get(key), *values))

    def update(self, key: Hashable, values: Iterable[Any]) -> None:
        """Replace the list of `key`."""
        self._table.put(self._prefix_of(key), pickle.dumps(list(values), _PROTOCOL))

    def items(self) -> Iterator[tuple[Hashable, tuple[Any, ...]]]:
        """All keys and lists."""
        return ((key_of(key)[0], tuple(pickle.loads(value))) for key, value in self._all())


class RocksDbMapState(_State):
    """A map for each key, stored as one entry for each field."""

    kind: Final = MAP

    def get(self, key: Hashable, field: Hashable, default: Any = None) -> Any:  # noqa: ANN401 - any value
        """The value of `field`."""
        stored = self._table.get(self._prefix_of(key) + key_bytes(field))
        return default if stored is None else pickle.loads(stored)

    def put(self, key: Hashable, field: Hashable, value: object) -> None:
        """Set the value of `field`."""
        self._table.put(self._prefix_of(key) + key_bytes(field), pickle.dumps(value, _PROTOCOL))

    def contains(self, key: Hashable, field: Hashable) -> bool:
        """Whether the map has `field`."""
        return self._table.get(self._prefix_of(key) + key_bytes(field)) is not None

    def remove(self, key: Hashable, field: Hashable) -> None:  # type: ignore[override]
        """Remove `field`."""
        self._table.delete(self._prefix_of(key) + key_bytes(field))

    def entries(self, key: Hashable) -> Mapping[Any, Any]:
        """The map of `key`."""
        prefix = self._prefix_of(key)
        return {
            key_of(stored[len(prefix) :])[0]: pickle.loads(value)
            for stored, value in self._table.scan(prefix)
        }

    def clear(self, key: Hashable) -> None:
        """Remove the map of `key`."""
        for stored, _ in tuple(self._table.scan(self._prefix_of(key))):
            self._table.delete(stored)

    def items(self) -> Iterator[tuple[Hashable, Mapping[Any, Any]]]:
        """All keys and maps."""
        maps: dict[Hashable, dict[Hashable, Any]] = {}
        for stored, value in self._all():
            key, rest = key_of(stored)
            maps.setdefault(key, {})[key_of(rest)[0]] = pickle.loads(value)
        return iter(maps.items())

    def __len__(self) -> int:
        return sum(1 for _ in self.items())


RocksDbState = RocksDbValueState | RocksDbListState | RocksDbMapState
