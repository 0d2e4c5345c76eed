"""Keyed state in memory: dicts, written whole at every checkpoint, a section for each key group.

The synchronous part of a snapshot is a copy of the dicts where the values are immutable: containers that the
backend owns itself, the lists and maps, are copied before the first change after a snapshot (copy on write).
States that are not declared so are encoded there and then, since nobody can tell whether a value that a
function still holds is about to be changed in place (ONCE-01). Encoding the rest is the asynchronous part.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from impl.state import snapshot
from impl.state.errors import StateError
from impl.state.key_groups import key_group
from impl.state.keyed import LIST, MAP, SECTION, VALUE, AsynchronousPart, KeyedContext
from impl.state.sections import Sections
from impl.state.shared import SharedFiles

_REMEMBERED_KEYS: Final = 1_000_000

Table = dict[Hashable, Any]


class HeapValueState:
    """One value for each key. `get` and `put` are the dict's own: they are called for every record."""

    kind: Final = VALUE

    def __init__(self) -> None:
        self.table: Table = {}
        self.immutable = False
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
_KINDS: Final[Mapping[str, Callable[[], State]]] = {
    VALUE: HeapValueState,
    LIST: HeapListState,
    MAP: HeapMapState,
}
Encoded = dict[int, dict[str, bytes]]
"""By key group and name of the state."""


class HeapKeyedStateBackend:
    """The keyed state of one subtask, in memory."""

    def __init__(self, context: KeyedContext = KeyedContext()) -> None:  # noqa: B008 - a value
        self._context = context
        self._states: dict[str, State] = {}
        self._group_of: dict[Hashable, int] = {}

    def value_state(self, name: str, *, immutable: bool = False) -> HeapValueState:
        """The value state of that name."""
        state = self._state(name, VALUE, immutable)
        assert isinstance(state, HeapValueState)
        return state

    def list_state(self, name: str, *, immutable: bool = False) -> HeapListState:
        """The list state of that name."""
        state = self._state(name, LIST, immutable)
        assert isinstance(state, HeapListState)
        return state

    def map_state(self, name: str, *, immutable: bool = False) -> HeapMapState:
        """The map state of that name."""
        state = self._state(name, MAP, immutable)
        assert isinstance(state, HeapMapState)
        return state

    def _state(self, name: str, kind: str, immutable: bool) -> State:
        state = self._states.get(name)
        if state is None:
            state = self._states[name] = _KINDS[kind]()
        if state.kind != kind:
            raise StateError(
                f"{self._context.task}: state {name!r} is a {state.kind} state, asked for as a {kind} state; "
                "give each state a name of its own"
            )
        state.immutable = immutable
        return state

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """The state as it is now; what was declared immutable is encoded later. Nothing is shared."""
        frozen = {
            name: (state.kind, state.frozen()) for name, state in self._states.items() if state.immutable
        }
        encoded: Encoded = defaultdict(dict)
        for name, state in self._states.items():
            if not state.immutable:
                self._encode(encoded, name, state.kind, state.table)

        def rest() -> Mapping[str, bytes]:
            for name, (kind, table) in frozen.items():
                self._encode(encoded, name, kind, table)
            return {f"{SECTION}{group}": snapshot.encode(states) for group, states in sorted(encoded.items())}

        return rest

    def _encode(self, encoded: Encoded, name: str, kind: str, table: Table) -> None:
        """Split by key group, and encode."""
        parts: dict[int, Table] = defaultdict(dict)
        known, groups, every = self._group_of, self._context.groups, self._context.max_parallelism
        if len(known) > _REMEMBERED_KEYS:
            known.clear()
        for key, value in table.items():
            group = known.get(key)
            if group is None:
                group = known[key] = key_group(key, every)
            if group not in groups:
                raise StateError(
                    f"{self._context.task}: state {name!r} holds something under {key!r}, a key of another "
                    "subtask; use the key that the function was called with"
                )
            parts[group][key] = value
        for group, part in parts.items():
            encoded[group][name] = snapshot.encode((kind, part))

    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Take over the own key groups."""
        for there in snapshots:
            for group in self._context.groups:
                section = f"{SECTION}{group}"
                if section in there:
                    self._take_over(there.read(section), f"{there.file}#{section}")

    def _take_over(self, states: object, file: str) -> None:
        if not isinstance(states, dict):
            raise StateError(f"{file}: expected keyed state in memory, came {type(states).__name__}")
        for name, encoded in states.items():
            kind, table = cast(tuple[str, Table], snapshot.decode(encoded, f"{file}:{name}"))
            self._state(name, kind, immutable=False).table.update(table)

    def notify_complete(self, checkpoint: int) -> None:
        """Nothing waits for it."""

    def notify_abort(self, checkpoint: int) -> None:
        """Nothing was kept for it."""

    def close(self) -> None:
        """Nothing is open."""
