"""Keyed state in memory, in dicts. Every checkpoint writes all keys.

If the values of a state are immutable, the synchronous part of a snapshot copies the state's dict, and the
asynchronous part encodes the copy. The lists and maps in the dict are copied before their first change after
the snapshot. Any other state is encoded in the synchronous part, because the function may still change a
value in place (ONCE-01).

The section `keyed/0-63` of a snapshot has the keys of groups 0 to 63 in the order of the dicts, and the group
of each key. A large state has several sections, one for each range of groups.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress, islice
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from impl.state import snapshot
from impl.state.backends.heap_states import KINDS, State, Table
from impl.state.backends.key_encoding_versions import (
    ENCODING,
    encoding_of,
    encoding_section,
    require_same_groups,
)
from impl.state.backends.key_groups import key_group
from impl.state.backends.keyed import SECTION, AsynchronousPart, KeyedContext, KeyedStateBackend, require_kind
from impl.state.errors import StateError
from impl.state.sections import Sections
from impl.state.shared import SharedFiles

_REMEMBERED_KEYS: Final = 1_000_000
_KEYS_OF_A_SECTION: Final = 50_000
_RANGE: Final = re.compile(rf"{SECTION}(\d+)(?:-(\d+))?")

KeyGroups = npt.NDArray[np.uint16]
SectionState = tuple[str, Table, KeyGroups]
"""One state in a section: its kind, its keys with their values, and the key group of each key, in order."""


class _Groups:
    """Computes the key groups of one state's keys, and remembers up to `_REMEMBERED_KEYS` of them."""

    def __init__(self, context: KeyedContext, name: str) -> None:
        self._context = context
        self._name = name
        self._known: dict[Hashable, int] = {}
        self._removals = 0

    def of(self, table: Table, removals: int) -> KeyGroups:
        """The groups of the keys of `table`, in its order.

        `removals`: the number of keys that were ever removed from the state. Raises StateError for a key of
        another subtask.
        """
        if removals == self._removals:
            self._known.update((key, self._group(key)) for key in islice(table, len(self._known), None))
        else:
            known = self._known
            self._known = {key: known[key] if key in known else self._group(key) for key in table}
            self._removals = removals
        groups = np.fromiter(self._known.values(), np.uint16, len(self._known))
        if len(self._known) > _REMEMBERED_KEYS:
            self._known = {}
        return groups

    def _group(self, key: Hashable) -> int:
        group = key_group(key, self._context.max_parallelism)
        if group not in self._context.groups:
            raise StateError(
                f"{self._context.task}: state {self._name!r} has the key {key!r}, which belongs to another "
                "subtask; use the key that the function was called with"
            )
        return group


class HeapKeyedStateBackend(KeyedStateBackend):
    """The keyed state of one subtask, in memory."""

    def __init__(self, context: KeyedContext = KeyedContext()) -> None:  # noqa: B008 - a value
        self._context = context
        self._states: dict[str, State] = {}
        self._groups: dict[str, _Groups] = {}

    def _state(self, name: str, kind: str, immutable: bool) -> State:
        state = self._states.get(name)
        if state is None:
            state = self._states[name] = KINDS[kind]()
            self._groups[name] = _Groups(self._context, name)
        require_kind(self._context.task, name, state.kind, kind)
        state.immutable = immutable
        return state

    def has(self, name: str) -> bool:
        """Whether a state with this name exists."""
        return name in self._states

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Take a snapshot. Its asynchronous part encodes the immutable states. `alone` has no effect."""
        most = max((len(state) for state in self._states.values()), default=0)
        ranges = _split(self._context.groups, -(-most // _KEYS_OF_A_SECTION))
        sections = [dict[str, bytes | SectionState]() for _ in ranges]
        frozen = []
        for name, state in self._states.items():
            if state.immutable:
                frozen.append((name, state.kind, state.frozen(), state.removals))
            else:
                in_sections = self._by_range(name, state.kind, state.table, state.removals, ranges)
                for section, one in zip(sections, in_sections, strict=True):
                    section[name] = snapshot.encode(one)

        def asynchronous_part() -> Mapping[str, bytes]:
            for name, kind, table, removals in frozen:
                in_sections = self._by_range(name, kind, table, removals, ranges)
                for section, one in zip(sections, in_sections, strict=True):
                    section[name] = one
            named = zip(ranges, sections, strict=True)
            encoded = {
                f"{SECTION}{there[0]}-{there[-1]}": snapshot.encode(section) for there, section in named
            }
            return encoded | encoding_section()

        return asynchronous_part

    def _by_range(
        self, name: str, kind: str, table: Table, removals: int, ranges: Sequence[range]
    ) -> Sequence[SectionState]:
        """One state, split into a part for each section. A section has the keys of one range of groups."""
        groups = self._groups[name].of(table, removals)
        if len(ranges) == 1:
            return [(kind, table, groups)]
        tables: list[Table] = [{} for _ in ranges]
        number = (groups - ranges[0].start) // len(ranges[0])
        for (key, value), there in zip(table.items(), number.tolist(), strict=True):
            tables[there][key] = value
        return [(kind, tables[there], groups[number == there]) for there in range(len(ranges))]

    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Restore the key groups of this subtask. Raises StateError if a snapshot is of another backend."""
        own = self._context.groups
        for there in snapshots:
            current = encoding_of(there) == ENCODING
            for section in there.names:
                if not section.startswith(SECTION):
                    continue
                groups = _groups_in(section, there.file)
                if groups.start < own.stop and own.start < groups.stop:
                    whole = own.start <= groups.start and groups.stop <= own.stop
                    states, file = there.read(section), f"{there.file}#{section}"
                    if not current:
                        self._require_current(states, groups, file)
                    self._restore_section(states, file, whole=whole)

    def _require_current(self, states: object, groups: range, file: str) -> None:
        """Raise KeyEncodingError for a key that an earlier release has put into another group."""
        for name, stored in states.items() if isinstance(states, dict) else ():
            decoded = snapshot.decode(stored, f"{file}:{name}") if isinstance(stored, bytes) else stored
            _, table, *written = cast(SectionState, decoded)
            each = written[0].tolist() if written else [groups.start] * len(table)
            require_same_groups(table, each, self._context.max_parallelism, file)

    def _restore_section(self, states: object, file: str, *, whole: bool) -> None:
        """Restore the keys of this subtask from a section. `whole`: all its keys belong to this subtask."""
        if not isinstance(states, dict):
            raise StateError(f"{file}: expected keyed state in memory, got {type(states).__name__}")
        for name, stored in states.items():
            decoded = snapshot.decode(stored, f"{file}:{name}") if isinstance(stored, bytes) else stored
            kind, table, *groups = cast(SectionState, decoded)
            mine = self._state(name, kind, immutable=False).table
            if whole:  # a section of a single group may not record the groups
                mine.update(table)
            else:
                own = [group in self._context.groups for group in groups[0].tolist()]
                mine.update(compress(table.items(), own))

    def notify_complete(self, checkpoint: int) -> None:
        """Do nothing, because checkpoints share no files."""

    def notify_abort(self, checkpoint: int) -> None:
        """Do nothing, because checkpoints share no files."""

    def close(self) -> None:
        """Do nothing, because no file is open."""


def _groups_in(section: str, file: str) -> range:
    """The key groups of a section, read from its name. Raises StateError for a section of another backend."""
    match = _RANGE.fullmatch(section)
    if match is None:
        raise StateError(
            f"{file}: expected keyed state in memory, got a section {section}; use the state_backend of "
            "the checkpoint"
        )
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def _split(groups: range, count: int) -> list[range]:
    """The groups, split into at least one and at most `count` ranges of nearly equal size."""
    size = max(1, -(-len(groups) // max(1, count)))
    return [groups[first : first + size] for first in range(0, len(groups), size)]
