"""Operator state: lists that belong to a subtask and to no key, and how they are shared out anew.

A list is made by name, and its name says what a restore does with it: `list_state` is split among the
subtasks when their number has changed, `union_list_state` goes whole to every subtask, `broadcast_state` is
the same in all of them, and each gets one copy. Lists are encoded in the synchronous part of a snapshot.
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
    """Who gets what of a list when it is restored."""

    SPLIT = "split"
    """Each its own; all in turn if there are more or fewer subtasks than before."""
    UNION = "union"
    """Everybody all."""
    BROADCAST = "broadcast"
    """Everybody one of the copies, which are alike."""


class OperatorListState(Generic[V]):
    """A list of this subtask."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution
        self._values: list[V] = []

    def get(self) -> tuple[V, ...]:
        """The list as it is now."""
        return tuple(self._values)

    def add(self, value: V) -> None:
        """Append one value."""
        self._values.append(value)

    def update(self, values: Iterable[V]) -> None:
        """Put a list in the place of the old one."""
        self._values = list(values)

    def __iter__(self) -> Iterator[V]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


Told = Mapping[str, tuple[str, Sequence[Any]]]
"""What a snapshot tells: by name, the distribution and the list."""


class OperatorStateStore:
    """The lists of one subtask. `restored`: the checkpoint that its attempt goes on from, if any."""

    def __init__(self, restored: int | None = None) -> None:
        self.restored = restored
        self._lists: dict[str, OperatorListState[Any]] = {}

    def list_state(self, name: str) -> OperatorListState[Any]:
        """The list of that name, split among the subtasks when the job is rescaled."""
        return self._list(name, Distribution.SPLIT)

    def union_list_state(self, name: str) -> OperatorListState[Any]:
        """The list of that name; after a restore it holds what those of all subtasks held."""
        return self._list(name, Distribution.UNION)

    def broadcast_state(self, name: str) -> OperatorListState[Any]:
        """The list of that name, which has to be the same in all subtasks: made of a broadcast stream."""
        return self._list(name, Distribution.BROADCAST)

    def _list(self, name: str, distribution: Distribution) -> OperatorListState[Any]:
        known = self._lists.setdefault(name, OperatorListState(distribution))
        if known.distribution is not distribution:
            raise StateError(
                f"operator state {name!r} is a {known.distribution.value} list, asked for as a "
                f"{distribution.value} list; give each a name of its own"
            )
        return known

    def sections(self) -> Mapping[str, bytes]:
        """All lists as they are now, encoded; nothing without any."""
        if not self._lists:
            return {}
        told = {name: (one.distribution.value, list(one)) for name, one in self._lists.items()}
        return {SECTION: encode(told)}

    def restore(self, index: int, parallelism: int, snapshots: Sequence[Sections]) -> None:
        """Begin with the part of subtask `index`; `snapshots`: of all subtasks of the stage, as they were."""
        if len(snapshots) == parallelism:
            own = _told_by(snapshots[index])
            if all(how != Distribution.UNION.value for how, _ in own.values()):
                for name, (how, values) in own.items():
                    self._list(name, Distribution(how)).update(values)
                return
        told = [_told_by(snapshot) for snapshot in snapshots]
        names = {name: Distribution(how) for one in told for name, (how, _) in one.items()}
        for name, distribution in names.items():
            before = [one[name][1] if name in one else () for one in told]
            share = shared_out(before, distribution, index, parallelism)
            self._list(name, distribution).update(share)


def shared_out(
    before: Sequence[Sequence[V]], distribution: Distribution, index: int, parallelism: int
) -> Sequence[V]:
    """What subtask `index` of `parallelism` gets of the lists `before`, one of each subtask as they were."""
    if distribution is Distribution.UNION:
        return [value for values in before for value in values]
    if distribution is Distribution.BROADCAST:
        return before[index % len(before)]
    if len(before) == parallelism:
        return before[index]
    return [value for values in before for value in values][index::parallelism]


def _told_by(snapshot: Sections) -> Told:
    return cast(Told, snapshot.read(SECTION)) if SECTION in snapshot else {}
