"""Replaying a gate or a subtask, with the steps that were taken before remembered.

A state is kept relative to its newest id. A step is found again by that state, the event's id relative to it,
and the text of event and effects with this id left out. Where another number is in the text, the step is
found again only under the same ids. The remembered steps agree with the log, because the first one did.
"""

import re
from typing import Any, NamedTuple

import orjson

from conformance.observe.eventlog import Line
from conformance.observe.replay import Effects, Replayed
from model.components import Wire
from model.events import NONE
from model.gate.polled_gate import Inbox
from model.gate.wire import GateSession
from model.subtask.subtask import Subtask

MOST_STEPS = 200_000
"""Steps that are remembered of one component; further ones are taken by the model each time."""
_LARGEST_ID = 1 << 53
_OTHER_NUMBER = re.compile(rb'"(?!channel":)[^"]*":[-\d\[{]')
"""A number, a list or an object in a field that is no channel; an id that was left out is none."""


class _Edge(NamedTuple):
    after: int
    shift: int
    rules: tuple[str, ...]


class _Table:
    """The remembered steps of one component."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], int] = {}
        """By relative state: its number."""
        self.states: list[tuple[Any, ...]] = []
        self.blocked: list[frozenset[int]] = []
        """By number: the blocked channels of a gate."""
        self.edges: dict[tuple[Any, ...], _Edge] = {}

    def number(self, state: tuple[Any, ...], blocked: frozenset[int]) -> int:
        number = self.nodes.get(state)
        if number is None:
            number = self.nodes[state] = len(self.states)
            self.states.append(state)
            self.blocked.append(blocked)
        return number


_TABLES = {"gate": _Table(), "subtask": _Table()}


class Shifted(Replayed):
    """A component that remembers its steps. Only for an aligned gate at handler level, and a subtask."""

    __slots__ = ("_base", "_is_current", "_node", "_table")

    def __init__(self, component: str, config: Wire) -> None:
        super().__init__(component, config)
        self._table = _TABLES[component]
        self._is_current = True
        """`state` is the state; else only its number is."""
        self._base, self._node = self._located()

    def step(self, line: Line, event: Wire | None = None, effects: Effects | None = None) -> tuple[str, ...]:
        """Replay a line. Returns the rules that fired. Raises Rejected, and the state is as before."""
        event = line.event if event is None else event
        effects = line.effects if effects is None else effects
        base, table = self._base, self._table
        key = self._key(event, effects)
        edge = table.edges.get(key)
        if edge is not None:
            self._node, self._is_current = edge.after, False
            self._base = base + edge.shift
            return edge.rules
        self._materialise()
        rules = super().step(line, event, effects)
        self._base, self._node = self._located()
        if len(table.edges) < MOST_STEPS:
            table.edges[key] = _Edge(self._node, self._base - base, rules)
        return rules

    def blocks(self, channel: int) -> bool:
        """Whether a gate blocks the channel."""
        return channel in self._table.blocked[self._node]

    def observe(self, state: object = None) -> dict[str, Any]:
        """The observable state in wire form; of an earlier `state` if one is given."""
        if state is None:
            self._materialise()
        return super().observe(state)

    def _key(self, event: Wire, effects: Effects) -> tuple[Any, ...]:
        base = self._base
        checkpoint = event.get("checkpoint")
        text = orjson.dumps((event, effects))
        if type(checkpoint) is int and 0 <= checkpoint < _LARGEST_ID:
            spelled = b'"checkpoint":%d' % checkpoint
            text = text.replace(spelled + b",", b'"checkpoint":,').replace(spelled + b"}", b'"checkpoint":}')
            if _OTHER_NUMBER.search(text) is None:
                return self._node, checkpoint - base, text
            return self._node, checkpoint - base, text, base
        return (
            (self._node, None, text) if _OTHER_NUMBER.search(text) is None else (self._node, None, text, base)
        )

    def _located(self) -> tuple[int, int]:
        """The newest id of the state, and the number of the state relative to it."""
        state = self.state
        if isinstance(state, Subtask):
            ids = (state.last, state.completed, state.highest_aborted, *state.aborted, *state.running)
            base = max(0, *ids)
            relative: tuple[Any, ...] = (
                _less(state.last, base),
                _less(state.completed, base),
                _less(state.highest_aborted, base),
                tuple(one - base for one in state.aborted),
                tuple(one - base for one in state.running),
                state._replace(last=0, completed=0, highest_aborted=0, aborted=(), running=()),
            )
            return base, self._table.number(relative, frozenset())
        gate = state.inbox.gate
        base = max(0, gate.current)
        inbox = state.inbox._replace(gate=gate._replace(current=0))
        relative = (_less(gate.current, base), state._replace(inbox=inbox))
        blocked = frozenset(place for place, is_blocked in enumerate(gate.blocked) if is_blocked)
        return base, self._table.number(relative, blocked)

    def _materialise(self) -> None:
        """Make `state` from the number of the state and the newest id."""
        if self._is_current:
            return
        self._is_current = True
        base, relative = self._base, self._table.states[self._node]
        if self.component == "subtask":
            last, completed, highest_aborted, aborted, running, rest = relative
            self.state = rest._replace(
                last=_more(last, base),
                completed=_more(completed, base),
                highest_aborted=_more(highest_aborted, base),
                aborted=tuple(one + base for one in aborted),
                running=tuple(one + base for one in running),
            )
            return
        current, session = relative
        gate = session.inbox.gate._replace(current=_more(current, base))
        self.state = session._replace(inbox=session.inbox._replace(gate=gate))


def _less(checkpoint: int, base: int) -> int | None:
    return None if checkpoint == NONE else checkpoint - base


def _more(checkpoint: int | None, base: int) -> int:
    return NONE if checkpoint is None else checkpoint + base


def replayed(component: str, config: Wire) -> Replayed:
    """The component, with its steps remembered where they depend on no id's value."""
    plain = Replayed(component, config)
    state = plain.state
    aligned = isinstance(state, GateSession) and isinstance(state.inbox, Inbox) and not state.polled
    return Shifted(component, config) if aligned or isinstance(state, Subtask) else plain
