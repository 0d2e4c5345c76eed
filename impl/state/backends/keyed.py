"""Keyed state: the contract between the operators, which use it, and the backends, which keep it.

State is held by key and named. A backend holds that of one subtask: of the keys whose groups the subtask
owns (`key_groups`). It is used by the subtask's one thread, but for the asynchronous part of a snapshot.

What a backend promises
 1. A state is made by the first call with its name and found again by the next; one name has one kind.
 2. `snapshot` is called between two records. Whatever happens to the state after it returns, through the
    states or to a value in place, is not in the snapshot (ONCE-01). What it answers, the asynchronous part,
    is called once, in another thread, while records are processed; calls come in the order of checkpoints.
 3. The asynchronous part answers sections: encoded states (`impl.state.encode`) by name. A name that a
    backend uses begins with `keyed/`. What belongs to one key group can be told from the rest, either by a
    section for each group or within the sections: a restore at another parallelism takes it apart.
 4. `restore` is called once, on a fresh backend, before anything else. It is given the sections of every
    subtask of the checkpoint whose groups meet the own ones: one at the same parallelism, several after
    rescaling down, one that is shared with other subtasks after rescaling up. The backend takes over what
    belongs to its own groups, and nothing else.
 5. A key of a group that the subtask does not own is a mistake of the function, which put something under
    another key than the one it was called with: `StateError`, at the latest by the next snapshot, which
    would otherwise lose it when the job is rescaled.
 6. `notify_complete` and `notify_abort` tell what became of a checkpoint: of some there is no word, and no
    word comes twice. After `close` nothing is called.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from impl.state.backends.key_groups import DEFAULT_MAX_PARALLELISM, groups_of
from impl.state.sections import Sections
from impl.state.shared import SharedFiles

V = TypeVar("V")
M = TypeVar("M", bound=Hashable)
VALUE, LIST, MAP = "value", "list", "map"
"""The kinds of state."""
SECTION = "keyed/"
"""How the names of a backend's sections begin."""

AsynchronousPart = Callable[[], Mapping[str, bytes]]


class ValueState(Protocol[V]):
    """One value for each key."""

    def get(self, key: Hashable, default: Any = None, /) -> Any:  # noqa: ANN401 - V, or the default
        """The value of `key`, or `default` for a key without one."""

    def put(self, key: Hashable, value: V, /) -> None:
        """Give `key` a value."""

    def get_all(self, keys: Sequence[Hashable]) -> list[Any]:
        """The values of many keys, None for those without one."""

    def put_all(self, keys: Sequence[Hashable], values: Sequence[V]) -> None:
        """Give many keys, each of them once, their values."""

    def remove(self, key: Hashable) -> None:
        """Forget the value of `key`; a key without one is fine."""

    def items(self) -> Iterator[tuple[Hashable, V]]:
        """All keys and values of this subtask, in no order that means something."""

    def __len__(self) -> int: ...


class ListState(Protocol[V]):
    """A list for each key; a key without one has the empty list."""

    def get(self, key: Hashable) -> tuple[V, ...]:
        """The list of `key`, as it is now."""

    def add(self, key: Hashable, value: V) -> None:
        """Append one value."""

    def add_all(self, key: Hashable, values: Iterable[V]) -> None:
        """Append several values."""

    def update(self, key: Hashable, values: Iterable[V]) -> None:
        """Put a list in the place of the old one."""

    def remove(self, key: Hashable) -> None:
        """Forget the list of `key`; a key without one is fine."""

    def items(self) -> Iterator[tuple[Hashable, tuple[V, ...]]]:
        """All keys and lists of this subtask, in no order that means something."""

    def __len__(self) -> int: ...


class MapState(Protocol[M, V]):
    """A map for each key; a key without one has the empty map. Its own keys are `field`s here."""

    def get(self, key: Hashable, field: M, default: Any = None) -> Any:  # noqa: ANN401 - V, or the default
        """What `field` maps to in the map of `key`, or `default`."""

    def put(self, key: Hashable, field: M, value: V) -> None:
        """Let `field` map to a value in the map of `key`."""

    def contains(self, key: Hashable, field: M) -> bool:
        """Whether `field` maps to something in the map of `key`."""

    def remove(self, key: Hashable, field: M) -> None:
        """Take `field` out of the map of `key`; one that is not there is fine."""

    def entries(self, key: Hashable) -> Mapping[M, V]:
        """The map of `key` as it is now."""

    def clear(self, key: Hashable) -> None:
        """Forget the map of `key`; a key without one is fine."""

    def items(self) -> Iterator[tuple[Hashable, Mapping[M, V]]]:
        """All keys and maps of this subtask, in no order that means something."""

    def __len__(self) -> int: ...


class KeyedStateBackend(Protocol):
    """The keyed state of one subtask; the promises are those above.

    With `immutable` a function promises in its turn never to change a value in place, only to put another
    in its stead: a backend in memory then copies references and encodes beside the processing. Values that
    are numbers, strings and tuples of these cannot break that promise. Without it every value is encoded
    before the next record is processed. A backend that keeps bytes has no use for it.
    """

    def value_state(self, name: str, *, immutable: bool = False) -> ValueState[Any]:
        """The value state of that name. `StateError` if the name is that of another kind."""

    def list_state(self, name: str, *, immutable: bool = False) -> ListState[Any]:
        """The list state of that name; `immutable` speaks of the elements."""

    def map_state(self, name: str, *, immutable: bool = False) -> MapState[Any, Any]:
        """The map state of that name; `immutable` speaks of the values of its fields."""

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Take the state as it is now; answers what is left to do. See 2, 3 and 5.

        `alone`: the files of a savepoint, which shares nothing with any checkpoint.
        """

    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Begin with what these hold of the own key groups. See 4. Raises `StateError`s."""

    def notify_complete(self, checkpoint: int) -> None:
        """`checkpoint` is complete."""

    def notify_abort(self, checkpoint: int) -> None:
        """`checkpoint` was aborted."""

    def close(self) -> None:
        """The subtask ends, well or not."""


class KeyedContext(NamedTuple):
    """Whose state a backend keeps."""

    task: str = "task-0"
    groups: range = range(DEFAULT_MAX_PARALLELISM)
    """The key groups that the subtask owns."""
    max_parallelism: int = DEFAULT_MAX_PARALLELISM

    @classmethod
    def of(cls, task: str, index: int, parallelism: int, max_parallelism: int) -> "KeyedContext":
        """That of subtask `index`."""
        return cls(task, groups_of(index, parallelism, max_parallelism), max_parallelism)


BackendFactory = Callable[[KeyedContext], KeyedStateBackend]
