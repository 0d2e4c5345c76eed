"""Replays a component and caches its steps, so that an equal step is not computed again.

The cache stores a state relative to one of its ids, the *base*. The key of a step has this state, the event's
id relative to the base, and the text of event and effects without this id. If the text has another number,
the key has the base too. A cached step needs no comparison with the log: the model took the step for an
earlier line with the same key, and that line had the same event and effects, apart from the shift.
"""

import re
from abc import abstractmethod
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, cast

import orjson

from conformance.observe.lines.line import Line, ShapedLine
from conformance.observe.replay import Effects, Replayed
from model.components import Wire
from model.events import NONE

MOST_STEPS = 200_000
"""The maximum number of cached steps of one component. The model takes further steps each time."""
LARGEST_ID = 1 << 53
NO_NODE = -1
"""The number of a state that cannot be made relative: the model itself takes each step from or to it."""
Key = tuple[Any, ...]
Place = tuple[int, int, int]
_OTHER_NUMBER = re.compile(rb'"(?!channel":)[^"]*":[-\d\[{]')
"""Matches a number, a list or an object in a field other than `channel`. A removed id does not match."""
_IDS = frozenset({"checkpoint", "channel"})


class Edge(NamedTuple):
    """The result of a cached step."""

    after: int
    """The number of the relative state after the step."""
    shift: int
    """The number that the step adds to the base."""
    further: int
    """The number that the step adds to the second base (`Shifted._other`)."""
    rules: tuple[str, ...]
    moves: Any
    """The change of the registers (`Shifted._registers`); None if they stay as they are."""


class _Answer(NamedTuple):
    edge: Edge
    effects: tuple[tuple[Wire, int | None], ...]
    """Each effect, and its checkpoint relative to the base before the step; None if it names none."""


class Bookmark(NamedTuple):
    """A state as the number of its relative state, its bases and its registers."""

    node: int
    base: int
    other: int
    registers: Any


class UnderivableError(Exception):
    """The registers after a step cannot be derived from those before it, so the step is not cached."""


class Table:
    """The cached steps of one component, with the relative states before and after them."""

    def __init__(self) -> None:
        self.nodes: dict[Any, int] = {}
        """By relative state: its number."""
        self.states: list[Any] = []
        self.facts: list[Any] = []
        """By number of a state: data that the subclass reads without making the state absolute."""
        self.edges: dict[Key, Edge] = {}
        self.answers: dict[Key, _Answer] = {}

    def number(self, state: object, fact: object) -> int:
        """The number of a relative state. A new state gets the next number; `fact` is stored by number."""
        number = self.nodes.get(state)
        if number is None:
            number = self.nodes[state] = len(self.states)
            self.states.append(state)
            self.facts.append(fact)
        return number


class Shifted(Replayed):
    """A component with cached steps. A subclass makes its states relative, and absolute again."""

    __slots__ = ("_base", "_is_current", "_node", "_other", "_state")

    table: Table
    """Shared by all instances of a subclass."""
    numbers: AbstractSet[str] = _IDS
    """The fields of an event that may have a number if its answer is cached."""
    has_own_key = False
    """Whether the subclass overrides `_shaped_key`."""

    _base: int
    _other: int
    """A second base: the time of a coordinator, the next transaction of a sink; else 0."""
    _node: int
    _state: Any
    _is_current: bool

    def __init__(self, component: str, config: Wire) -> None:
        self._other = 0
        super().__init__(component, config)

    @property
    def state(self) -> Any:  # noqa: ANN401 - the type of the component's state
        """The state, made absolute when it is read."""
        if not self._is_current:
            self._state = self._absolute(self.table.states[self._node])
            self._is_current = True
        return self._state

    @state.setter
    def state(self, state: Any) -> None:  # noqa: ANN401 - the type of the component's state
        self._state, self._is_current = state, True
        self._node = self._located(state)

    def known(self, line: Line, handle: str | None = None) -> tuple[str, ...] | None:
        """As in `Replayed`: look up the step by the shape of the line."""
        shape, node, base = line.shape, self._node, self._base
        if shape is None or node == NO_NODE:
            return None
        if self.has_own_key:
            key = self._shaped_key(cast("ShapedLine", line), handle)
            edge = None if key is None else self.table.edges.get(key)
        else:  # the same key as `_shaped_key` makes, without the call
            relative = line.base - base if shape.has_ids else None
            edge = self.table.edges.get(
                (node, shape.number, relative, base) if shape.has_number else (node, shape.number, relative)
            )
        if edge is None:
            return None
        self._node, shift, further, rules, _ = edge
        self._is_current = False
        self._base = base + shift
        if further:
            self._other += further
        return rules

    def step(self, line: Line, event: Wire | None = None, effects: Effects | None = None) -> tuple[str, ...]:
        """As in `Replayed`."""
        event = line.event if event is None else event
        effects = line.effects if effects is None else effects
        table, key = self.table, None
        if self._node != NO_NODE:
            if isinstance(line, ShapedLine):
                key = self._shaped_key(line, event.get("state"))
            if key is None:
                key = self._key(event, effects)
        edge = None if key is None else table.edges.get(key)
        if edge is not None:
            self._follow(edge, event.get("state"))
            return edge.rules
        before = self._bookmark()
        rules = super().step(line, event, effects)
        if key is not None and len(table.edges) < MOST_STEPS:
            edge = self._edge(before, rules, event.get("state"))
            if edge is not None:
                table.edges[key] = edge
        return rules

    def _follow(self, edge: Edge, handle: object = None) -> None:
        """Take a cached step. `handle`: the handle in the event, as a string."""
        del handle
        self._node, self._is_current = edge.after, False
        self._base += edge.shift
        self._other += edge.further

    def answer(self, event: Wire) -> tuple[Effects, tuple[str, ...]]:
        """As in `Replayed`."""
        base, checkpoint = self._base, event.get("checkpoint")
        if self._node == NO_NODE or not _names_ids_only(event, self.numbers):
            return super().answer(event)
        named = tuple([field for field in event.items() if field[0] != "checkpoint"])
        key = self._node, None if checkpoint is None else checkpoint - base, named
        answers = self.table.answers
        known = answers.get(key)
        if known is not None:
            self._follow(known.edge)
            return [
                dict(effect) if relative is None else {**effect, "checkpoint": relative + base}
                for effect, relative in known.effects
            ], known.edge.rules
        before = self._bookmark()
        effects, rules = super().answer(event)
        edge = self._edge(before, rules) if len(answers) < MOST_STEPS else None
        if edge is not None and all(map(_names_ids_only, effects)):
            relatives = [None if "checkpoint" not in one else one["checkpoint"] - base for one in effects]
            answers[key] = _Answer(edge, tuple(zip(effects, relatives, strict=True)))
        return effects, rules

    def _bookmark(self) -> Bookmark:
        return Bookmark(self._node, self._base, self._other, self._registers())

    def _edge(self, before: Bookmark, rules: tuple[str, ...], handle: object = None) -> Edge | None:
        """The step from `before` to the current state; None if it cannot be cached."""
        if self._node == NO_NODE:
            return None
        shift, further = self._base - before.base, self._other - before.other
        try:
            return Edge(self._node, shift, further, rules, self._moves(before, handle))
        except UnderivableError:
            return None

    def _registers(self) -> Any:  # noqa: ANN401 - as the subclass made them
        """The data of the state that a subclass keeps besides the relative state and the bases; immutable."""
        return None

    def _set_registers(self, registers: Any) -> None:  # noqa: ANN401 - as `_registers` made them
        """Set the registers, as `_registers` returns them."""

    def _moves(self, before: Bookmark, handle: object) -> Any:  # noqa: ANN401 - as the subclass made them
        """The `moves` of an `Edge`. Raises UnderivableError."""
        del before, handle
        return None

    @property
    def place(self) -> Place:
        """The number of the relative state, and its bases."""
        return self._node, self._base, self._other

    @place.setter
    def place(self, place: Place) -> None:
        self._node, self._base, self._other = place
        self._is_current = False

    def bookmark(self) -> object:
        """As in `Replayed`, but without making the state absolute."""
        if self._node == NO_NODE:
            return self.state
        return self._bookmark()

    def state_at(self, bookmark: object) -> Any:  # noqa: ANN401 - the type of the component's state
        """As in `Replayed`."""
        if not isinstance(bookmark, Bookmark):
            return bookmark
        now = self._base, self._other, self._registers()
        self._base, self._other = bookmark.base, bookmark.other
        self._set_registers(bookmark.registers)
        state = self._absolute(self.table.states[bookmark.node])
        self._base, self._other = now[:2]
        self._set_registers(now[2])
        return state

    def _shaped_key(self, line: ShapedLine, handle: object) -> Key | None:
        """The key of a cached step for a line with a shape, as in `_key`. `handle`: as in `_follow`."""
        del handle
        shape, base = line.shape, self._base
        relative = line.base - base if shape.has_ids else None
        if shape.has_number:
            return self._node, shape.number, relative, base
        return self._node, shape.number, relative

    def _key(self, event: Wire, effects: Effects) -> Key | None:
        """The key of a step; None if it is not cached. Equal keys have equal steps, apart from the shift."""
        base = self._base
        checkpoint = event.get("checkpoint")
        text = as_text(event, effects)
        if text is None:
            return None
        relative = None
        if type(checkpoint) is int and 0 <= checkpoint < LARGEST_ID:
            text, relative = without_id(text, checkpoint), checkpoint - base
        key = self._node, relative, text
        if key in self.table.edges or _OTHER_NUMBER.search(text) is None:
            return key
        return *key, base

    @abstractmethod
    def _located(self, state: Any) -> int:  # noqa: ANN401 - the type of the component's state
        """Set the bases to those of the state. Returns the number of its relative state, or NO_NODE."""

    @abstractmethod
    def _absolute(self, relative: Any) -> Any:  # noqa: ANN401 - the type of the component's state
        """The absolute state of a relative one, by the current bases."""


def _names_ids_only(message: Wire, numbers: AbstractSet[str] = _IDS) -> bool:
    """Whether an event or effect has only ints >= 0 in the fields `numbers`, and strings in all others."""
    for field, value in message.items():
        kind = type(value)
        if (kind is not int or value < 0) if field in numbers else kind is not str:
            return False
    return True


def as_text(event: Wire, effects: Effects) -> bytes | None:
    """Event and effects as JSON; None if they are nested more deeply than the writer allows."""
    try:
        return orjson.dumps((event, effects))
    except orjson.JSONEncodeError:
        return None


def without_id(text: bytes, checkpoint: int, instead: bytes = b"") -> bytes:
    """The JSON text with `instead` in the place of this id wherever a field `checkpoint` has it."""
    spelled, left = b'"checkpoint":%d' % checkpoint, b'"checkpoint":' + instead
    return text.replace(spelled + b",", left + b",").replace(spelled + b"}", left + b"}")


def less(checkpoint: int, base: int) -> int | None:
    """The id relative to the base; None for no id."""
    return None if checkpoint == NONE else checkpoint - base


def more(relative: int | None, base: int) -> int:
    """The absolute id of a relative one; NONE for None."""
    return NONE if relative is None else relative + base
