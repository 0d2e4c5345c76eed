"""Keyed state in memory: dicts, written whole at every checkpoint.

The synchronous part of a snapshot is a copy of the dicts where the values are immutable: containers that the
backend owns itself, the lists and maps, are copied before the first change after a snapshot (copy on write).
States that are not declared so are encoded there and then, since nobody can tell whether a value that a
function still holds is about to be changed in place (ONCE-01). Encoding the rest is the asynchronous part.

Section `keyed/0-63` has the keys of groups 0 to 63, in the order of the dicts, with the group of each beside
them: to write it, no key is looked up. Larger states have several, of a range of groups each.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress, islice
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from impl.state import snapshot
from impl.state.backends.heap_states import KINDS, HeapListState, HeapMapState, HeapValueState, State, Table
from impl.state.backends.key_encoding import ENCODING, encoding_of, encoding_section, require_same_groups
from impl.state.backends.key_groups import key_group
from impl.state.backends.keyed import LIST, MAP, SECTION, VALUE, AsynchronousPart, KeyedContext
from impl.state.errors import StateError
from impl.state.sections import Sections
from impl.state.shared import SharedFiles

_REMEMBERED_KEYS: Final = 1_000_000
_KEYS_OF_A_SECTION: Final = 50_000
_RANGE: Final = re.compile(rf"{SECTION}(\d+)(?:-(\d+))?")

KeyGroups = npt.NDArray[np.uint16]
Part = tuple[str, Table, KeyGroups]
"""Of one state: its kind, keys with their values, and the key group of each, in their order."""


class _Groups:
    """The key groups of one state's keys: what is known of a key is not computed for the next snapshot."""

    def __init__(self, context: KeyedContext, name: str) -> None:
        self._context = context
        self._name = name
        self._known: dict[Hashable, int] = {}
        self._removals = 0

    def of(self, table: Table, removals: int) -> KeyGroups:
        """Of a table's keys, in its order. `removals`: of the state so far; without any, its order stands."""
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
                f"{self._context.task}: state {self._name!r} holds something under {key!r}, a key of "
                "another subtask; use the key that the function was called with"
            )
        return group


class HeapKeyedStateBackend:
    """The keyed state of one subtask, in memory."""

    def __init__(self, context: KeyedContext = KeyedContext()) -> None:  # noqa: B008 - a value
        self._context = context
        self._states: dict[str, State] = {}
        self._groups: dict[str, _Groups] = {}

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
            state = self._states[name] = KINDS[kind]()
            self._groups[name] = _Groups(self._context, name)
        if state.kind != kind:
            raise StateError(
                f"{self._context.task}: state {name!r} is a {state.kind} state, asked for as a {kind} state; "
                "give each state a name of its own"
            )
        state.immutable = immutable
        return state

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """The state as it is now; what was declared immutable is encoded later. Nothing is shared."""
        most = max((len(state) for state in self._states.values()), default=0)
        ranges = _split(self._context.groups, -(-most // _KEYS_OF_A_SECTION))
        sections = [dict[str, bytes | Part]() for _ in ranges]
        frozen = []
        for name, state in self._states.items():
            if state.immutable:
                frozen.append((name, state.kind, state.frozen(), state.removals))
            else:
                parts = self._parts(name, state.kind, state.table, state.removals, ranges)
                for section, part in zip(sections, parts, strict=True):
                    section[name] = snapshot.encode(part)

        def rest() -> Mapping[str, bytes]:
            for name, kind, table, removals in frozen:
                parts = self._parts(name, kind, table, removals, ranges)
                for section, part in zip(sections, parts, strict=True):
                    section[name] = part
            named = zip(ranges, sections, strict=True)
            encoded = {
                f"{SECTION}{there[0]}-{there[-1]}": snapshot.encode(section) for there, section in named
            }
            return encoded | encoding_section()

        return rest

    def _parts(
        self, name: str, kind: str, table: Table, removals: int, ranges: Sequence[range]
    ) -> Sequence[Part]:
        """A table, split by ranges of key groups."""
        groups = self._groups[name].of(table, removals)
        if len(ranges) == 1:
            return [(kind, table, groups)]
        tables: list[Table] = [{} for _ in ranges]
        number = (groups - ranges[0].start) // len(ranges[0])
        for (key, value), there in zip(table.items(), number.tolist(), strict=True):
            tables[there][key] = value
        return [(kind, tables[there], groups[number == there]) for there in range(len(ranges))]

    def restore(self, snapshots: Sequence[Sections]) -> None:
        """Take over the own key groups."""
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
                    self._take_over(states, file, whole=whole)

    def _require_current(self, states: object, groups: range, file: str) -> None:
        """Refuse keys that an earlier release has put into another group than theirs."""
        for name, part in states.items() if isinstance(states, dict) else ():
            decoded = snapshot.decode(part, f"{file}:{name}") if isinstance(part, bytes) else part
            _, table, *written = cast(Part, decoded)
            each = written[0].tolist() if written else [groups.start] * len(table)
            require_same_groups(table, each, self._context.max_parallelism, file)

    def _take_over(self, states: object, file: str, *, whole: bool) -> None:
        """What of a section is of the own groups; `whole`: all of it."""
        if not isinstance(states, dict):
            raise StateError(f"{file}: expected keyed state in memory, came {type(states).__name__}")
        for name, part in states.items():
            decoded = snapshot.decode(part, f"{file}:{name}") if isinstance(part, bytes) else part
            kind, table, *groups = cast(Part, decoded)
            mine = self._state(name, kind, immutable=False).table
            if whole:  # that of a single group may be without the groups of its keys
                mine.update(table)
            else:
                own = [group in self._context.groups for group in groups[0].tolist()]
                mine.update(compress(table.items(), own))

    def notify_complete(self, checkpoint: int) -> None:
        """Nothing waits for it."""

    def notify_abort(self, checkpoint: int) -> None:
        """Nothing was kept for it."""

    def close(self) -> None:
        """Nothing is open."""


def _groups_in(section: str, file: str) -> range:
    """The key groups that a section has, by its name."""
    match = _RANGE.fullmatch(section)
    if match is None:
        raise StateError(
            f"{file}: expected keyed state in memory, came a section {section}; go on with the state_backend "
            "that the checkpoint was taken with"
        )
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def _split(groups: range, parts: int) -> list[range]:
    """Ranges of nearly the same size, at most so many, and one at least."""
    size = max(1, -(-len(groups) // max(1, parts)))
    return [groups[first : first + size] for first in range(0, len(groups), size)]
