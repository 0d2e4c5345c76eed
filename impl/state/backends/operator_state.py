"""Operator state: lists of a subtask that belong to no key, and their distribution at a restore.

A restore splits a `list_state` among the subtasks if their number has changed. It gives every subtask the
elements of all lists of a `union_list_state`. A `broadcast_state` is equal in all subtasks, and a restore
gives each subtask one copy. Lists are encoded in the synchronous part of a snapshot.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Generic, TypeVar, cast

from impl.state.errors import StateError
from impl.state.sections import Sections
from impl.state.snapshot import encode

SECTION: Final = "operator-state"
V = TypeVar("V")


class Distribution(Enum):
    """The distribution of a list among the subtasks at a restore."""

    SPLIT = "split"
    """Each subtask gets its own list. If the number of subtasks changes, they get the elements in turn."""
    UNION = "union"
    """Every subtask gets the elements of all lists."""
    BROADCAST = "broadcast"
    """Every subtask gets one of the copies, which are equal."""


class OperatorListState(Generic[V]):
    """One list of a subtask."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution
        self._values: list[V] = []

    def get(self) -> tuple[V, ...]:
        """The current list, as a tuple."""
        return tuple(self._values)

    def add(self, value: V) -> None:
        """Append one value."""
        self._values.append(value)

    def update(self, values: Iterable[V]) -> None:
        """Replace the list."""
        self._values = list(values)

    def __iter__(self) -> Iterator[V]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


Stored = Mapping[str, tuple[str, Sequence[Any]]]
"""The content of the section: maps the name of a list to its distribution and its elements."""


class OperatorStateStore:
    """The lists of one subtask. `restored`: the id of the checkpoint that the attempt restores, or None."""

    def __init__(self, restored: int | None = None) -> None:
        self.restored = restored
        self._lists: dict[str, OperatorListState[Any]] = {}

    def list_state(self, name: str) -> OperatorListState[Any]:
        """The list `name`. If the job is rescaled, the elements are split among the subtasks."""
        return self._list(name, Distribution.SPLIT)

    def union_list_state(self, name: str) -> OperatorListState[Any]:
        """The list `name`. A restore gives every subtask the elements of the lists of all subtasks."""
        return self._list(name, Distribution.UNION)

    def broadcast_state(self, name: str) -> OperatorListState[Any]:
        """The list `name`, which must be equal in all subtasks, such as a list of all rows of a broadcast."""
        return self._list(name, Distribution.BROADCAST)

    def _list(self, name: str, distribution: Distribution) -> OperatorListState[Any]:
        known = self._lists.setdefault(name, OperatorListState(distribution))
        if known.distribution is not distribution:
            raise StateError(
                f"operator state {name!r} is a {known.distribution.value} list, requested as a "
                f"{distribution.value} list; give each list a different name"
            )
        return known

    def sections(self) -> Mapping[str, bytes]:
        """Maps the name of the section to all lists, encoded. Empty if there is no list."""
        if not self._lists:
            return {}
        stored = {name: (one.distribution.value, list(one)) for name, one in self._lists.items()}
        return {SECTION: encode(stored)}

    def restore(self, index: int, parallelism: int, snapshots: Sequence[Sections]) -> None:
        """Restore the lists of subtask `index` from the snapshots of all subtasks of the checkpoint."""
        if len(snapshots) == parallelism:
            own = _stored_in(snapshots[index])
            if all(how != Distribution.UNION.value for how, _ in own.values()):
                for name, (how, values) in own.items():
                    self._list(name, Distribution(how)).update(values)
                return
        stored = [_stored_in(snapshot) for snapshot in snapshots]
        names = {name: Distribution(how) for one in stored for name, (how, _) in one.items()}
        for name, distribution in names.items():
            before = [one[name][1] if name in one else () for one in stored]
            share = shared_out(before, distribution, index, parallelism)
            self._list(name, distribution).update(share)


def shared_out(
    before: Sequence[Sequence[V]], distribution: Distribution, index: int, parallelism: int
) -> Sequence[V]:
    """The elements for subtask `index` of `parallelism`. `before`: the list of each restored subtask."""
    if distribution is Distribution.UNION:
        return [value for values in before for value in values]
    if distribution is Distribution.BROADCAST:
        return before[index % len(before)]
    if len(before) == parallelism:
        return before[index]
    return [value for values in before for value in values][index::parallelism]


def _stored_in(snapshot: Sections) -> Stored:
    return cast(Stored, snapshot.read(SECTION)) if SECTION in snapshot else {}
