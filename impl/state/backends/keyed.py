"""Keyed state: the contract between functions, which use it, and backends, which store it.

A state has a name and a value for each key. A backend stores the states of one subtask, that is, the values
of the keys whose groups the subtask owns (`key_groups`). The subtask's thread calls the backend. Only the
asynchronous part of a snapshot runs in another thread.

The contract of a backend:
 1. The first call with a name creates a state, and later calls return it. A name has one kind of state.
 2. `snapshot` is called between two records. A later change of the state, also of a value in place, is not in
    the snapshot (ONCE-01). `snapshot` returns its asynchronous part, a function that is called once, in
    another thread, while records are processed. Calls come in the order of checkpoints.
 3. The asynchronous part returns sections: encoded states (`impl.state.encode`) by name. The names of the
    sections with keys begin with `keyed/`. The sections record the key group of each key, because a restore
    at another parallelism divides the keys by their groups.
 4. `restore` is called once, on a new backend, before any other call. It gets the sections of every subtask
    of the checkpoint that owned one of the backend's groups, and restores only the keys of these groups.
 5. If a function uses a key of a group that its subtask does not own, the backend raises StateError, at the
    latest at the next snapshot. Otherwise a restore at another parallelism would lose the state of the key.
 6. `notify_complete` and `notify_abort` report the end of a checkpoint, at most once; some ends are not
    reported. After `close` the runtime calls no other method.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM, groups_of
from impl.state.errors import StateError
from impl.state.sections import Sections
from impl.state.shared import SharedFiles

V = TypeVar("V")
M = TypeVar("M", bound=Hashable)
VALUE, LIST, MAP = "value", "list", "map"
"""The kinds of state."""
SECTION = "keyed/"
"""The prefix of the names of a backend's sections with keys."""

AsynchronousPart = Callable[[], Mapping[str, bytes]]
"""A function that returns the sections of a snapshot, by name."""


class ValueState(Protocol[V]):
    """One value for each key."""

    def get(self, key: Hashable, default: Any = None, /) -> Any:  # noqa: ANN401 - V, or the default
        """The value of `key`, or `default` if the key has no value."""

    def put(self, key: Hashable, value: V, /) -> None:
        """Set the value of `key`."""

    def get_all(self, keys: Sequence[Hashable]) -> list[Any]:
        """The values of many keys, in their order; None for a key without a value."""

    def put_all(self, keys: Sequence[Hashable], values: Sequence[V]) -> None:
        """Set the values of many keys. `keys` must have each key once."""

    def remove(self, key: Hashable) -> None:
        """Remove the value of `key`, if it has one."""

    def items(self) -> Iterator[tuple[Hashable, V]]:
        """All keys and values of this subtask, in no defined order."""

    def __len__(self) -> int: ...


class ListState(Protocol[V]):
    """A list for each key. A key without a list has the empty list."""

    def get(self, key: Hashable) -> tuple[V, ...]:
        """The current list of `key`."""

    def add(self, key: Hashable, value: V) -> None:
        """Append one value."""

    def add_all(self, key: Hashable, values: Iterable[V]) -> None:
        """Append several values."""

    def update(self, key: Hashable, values: Iterable[V]) -> None:
        """Replace the list of `key`."""

    def remove(self, key: Hashable) -> None:
        """Remove the list of `key`, if it has one."""

    def items(self) -> Iterator[tuple[Hashable, tuple[V, ...]]]:
        """All keys and lists of this subtask, in no defined order."""

    def __len__(self) -> int: ...


class MapState(Protocol[M, V]):
    """A map for each key. A key without a map has the empty map. The keys of the map are called fields."""

    def get(self, key: Hashable, field: M, default: Any = None) -> Any:  # noqa: ANN401 - V, or the default
        """The value of `field` in the map of `key`, or `default`."""

    def put(self, key: Hashable, field: M, value: V) -> None:
        """Set the value of `field` in the map of `key`."""

    def contains(self, key: Hashable, field: M) -> bool:
        """Whether the map of `key` has `field`."""

    def remove(self, key: Hashable, field: M) -> None:
        """Remove `field` from the map of `key`, if it is there."""

    def entries(self, key: Hashable) -> Mapping[M, V]:
        """The current map of `key`."""

    def clear(self, key: Hashable) -> None:
        """Remove the map of `key`, if it has one."""

    def items(self) -> Iterator[tuple[Hashable, Mapping[M, V]]]:
        """All keys and maps of this subtask, in no defined order."""

    def __len__(self) -> int: ...


class KeyedStateBackend(ABC):
    """The keyed state of one subtask. The subclasses are the backends; they follow the contract above.

    `immutable`: the function never changes a value in place, and only replaces it. A backend in memory then
    copies references and encodes the values while records are processed; otherwise it encodes every value
    before the next record. Numbers, strings and tuples of these are always immutable. A backend that stores
    bytes ignores the option.
    """

    def value_state(self, name: str, *, immutable: bool = False) -> ValueState[Any]:
        """The value state `name`. Raises StateError if the name has another kind."""
        return cast(ValueState[Any], self._state(name, VALUE, immutable))

    def list_state(self, name: str, *, immutable: bool = False) -> ListState[Any]:
        """The list state `name`. `immutable` applies to the elements of its lists.

        Raises StateError if the name has another kind.
        """
        return cast(ListState[Any], self._state(name, LIST, immutable))

    def map_state(self, name: str, *, immutable: bool = False) -> MapState[Any, Any]:
        """The map state `name`. `immutable` applies to the values of the fields.

        Raises StateError if the name has another kind.
        """
        return cast(MapState[Any, Any], self._state(name, MAP, immutable))

    @abstractmethod
    def _state(self, name: str, kind: str, immutable: bool) -> object:
        """The state with this name and kind. The first call creates it."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether a state with this name exists, because it was restored or a call has created it."""

    @abstractmethod
    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Take a snapshot; returns its asynchronous part (2, 3 and 5 of the contract).

        `alone`: for a savepoint, the place of its files, which no checkpoint shares; None for a checkpoint.
        """

    @abstractmethod
    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Restore the key groups of this subtask (4 of the contract).

        Raises StateError if a snapshot is of another backend.
        """

    @abstractmethod
    def notify_complete(self, checkpoint: int) -> None:
        """Receive the notification that `checkpoint` is complete."""

    @abstractmethod
    def notify_abort(self, checkpoint: int) -> None:
        """Receive the notification that `checkpoint` was aborted."""

    @abstractmethod
    def close(self) -> None:
        """Free all resources of the backend, because the subtask has ended or failed."""


class KeyedContext(NamedTuple):
    """The subtask whose state a backend stores."""

    task: str = "task-0"
    groups: range = range(DEFAULT_MAX_PARALLELISM)
    """The key groups that the subtask owns."""
    max_parallelism: int = DEFAULT_MAX_PARALLELISM

    @classmethod
    def of(cls, task: str, index: int, parallelism: int, max_parallelism: int) -> "KeyedContext":
        """The context of subtask `index`."""
        return cls(task, groups_of(index, parallelism, max_parallelism), max_parallelism)


def require_kind(task: str, name: str, known: str, kind: str) -> None:
    """Raise StateError unless the state `name` is of this kind."""
    if known != kind:
        raise StateError(
            f"{task}: state {name!r} is a {known} state, requested as a {kind} state; give each state a "
            "different name"
        )


BackendFactory = Callable[[KeyedContext], KeyedStateBackend]
