"""Keyed state of one subtask: named value states, each holding one value for each key.

It lives in memory. `snapshot` encodes it at once, in the synchronous part of a checkpoint, so that what
is processed afterwards, even a value changed in place, cannot reach the snapshot (ONCE-01); writing the
bytes is the asynchronous part.
"""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar, cast

from impl.state import snapshot
from impl.state.errors import StateError

V = TypeVar("V")


class ValueState(Generic[V]):
    """One value for each key."""

    def __init__(self) -> None:
        self._values: dict[Hashable, V] = {}

    def get(self, key: Hashable, default: V) -> V:
        """The value of `key`, or `default` for a key without one."""
        return self._values.get(key, default)

    def put(self, key: Hashable, value: V) -> None:
        """Give `key` a value."""
        self._values[key] = value

    def remove(self, key: Hashable) -> None:
        """Forget the value of `key`; a key without one is fine."""
        self._values.pop(key, None)

    def items(self) -> Iterator[tuple[Hashable, V]]:
        """All keys and values, in the order in which the keys came first."""
        return iter(self._values.items())

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values_by_key(self) -> dict[Hashable, V]:
        """The state itself, for loops that count every nanosecond; it may be changed in place."""
        return self._values


class KeyedStateBackend:
    """The named value states of one subtask."""

    def __init__(self) -> None:
        self._states: dict[str, ValueState[object]] = {}

    def value_state(self, name: str) -> ValueState[V]:
        """The state of that name, made empty if it is new. One name has one type of values."""
        return cast(ValueState[V], self._states.setdefault(name, ValueState()))

    def snapshot(self) -> bytes:
        """All states as one encoded snapshot."""
        return snapshot.encode({name: state.values_by_key for name, state in self._states.items()})

    def restore(self, data: bytes, file: str) -> None:
        """Take over the states of a snapshot, in the place of all that is here."""
        self.restore_values(snapshot.decode(data, file), file)

    def restore_values(self, states: object, file: str) -> None:
        """Take over decoded states; `StateError` if `states` is not what `snapshot` encodes."""
        if not isinstance(states, dict) or any(not isinstance(values, dict) for values in states.values()):
            raise StateError(
                f"{file}: expected keyed state, a dict of dicts, came {type(states).__name__}; "
                "restore it with what wrote it"
            )
        for state in self._states.values():
            state.values_by_key.clear()
        for name, values in states.items():
            self.value_state(name).values_by_key.update(values)
