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
Part = tuple[str, Table]
"""Of one state what belongs to one key group, with the kind of the state."""


class _KeysByGroup:
    """The keys of one state by their groups: what is known of a key is not computed for the next snapshot."""

    def __init__(self, max_parallelism: int) -> None:
        self._every = max_parallelism
        self._groups: dict[Hashable, int] = {}
        self._keys: dict[int, list[Hashable]] = {}

    def of(self, table: Table) -> Mapping[int, Sequence[Hashable]]:
        """The keys of a table, by group."""
        if len(self._groups) > _REMEMBERED_KEYS:
            self._groups, self._keys = {}, {}
        if not self._groups.keys() <= table.keys():
            self._groups = {key: group for key, group in self._groups.items() if key in table}
            self._keys = {}
            self._file(self._groups)
        new = [key for key in table if key not in self._groups] if len(table) > len(self._groups) else ()
        self._groups.update((key, key_group(key, self._every)) for key in new)
        self._file(new)
        return self._keys

    def _file(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            self._keys.setdefault(self._groups[key], []).append(key)


class HeapKeyedStateBackend:
    """The keyed state of one subtask, in memory."""

    def __init__(self, context: KeyedContext = KeyedContext()) -> None:  # noqa: B008 - a value
        self._context = context
        self._states: dict[str, State] = {}
        self._by_group = defaultdict[str, _KeysByGroup](lambda: _KeysByGroup(context.max_parallelism))

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
        sections: dict[int, dict[str, bytes | Part]] = defaultdict(dict)
        for name, state in self._states.items():
            if not state.immutable:
                for group, part in self._parts(name, state.kind, state.table):
                    sections[group][name] = snapshot.encode(part)

        def rest() -> Mapping[str, bytes]:
            for name, (kind, table) in frozen.items():
                for group, part in self._parts(name, kind, table):
                    sections[group][name] = part
            return {f"{SECTION}{group}": snapshot.encode(there) for group, there in sorted(sections.items())}

        return rest

    def _parts(self, name: str, kind: str, table: Table) -> Iterator[tuple[int, Part]]:
        """A table split by key group."""
        for group, keys in self._by_group[name].of(table).items():
            if group not in self._context.groups:
                raise StateError(
                    f"{self._context.task}: state {name!r} holds something under {keys[0]!r}, a key of "
                    "another subtask; use the key that the function was called with"
                )
            yield group, (kind, dict(zip(keys, map(table.__getitem__, keys), strict=True)))

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
        for name, part in states.items():
            whole = snapshot.decode(part, f"{file}:{name}") if isinstance(part, bytes) else part
            kind, table = cast(Part, whole)
            self._state(name, kind, immutable=False).table.update(table)

    def notify_complete(self, checkpoint: int) -> None:
        """Nothing waits for it."""

    def notify_abort(self, checkpoint: int) -> None:
        """Nothing was kept for it."""

    def close(self) -> None:
        """Nothing is open."""
