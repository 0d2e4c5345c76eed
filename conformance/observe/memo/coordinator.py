"""Caches the steps of a coordinator. The base is the next id; times are relative to the clock.

A relative state lacks the names of stored states and the deadlines of checkpoints, because they differ for
almost every checkpoint. They are stored separately, as *registers*. A cached step states, for each register
after the step, which register before the step it copies. The model numbers the names in the order in
which they come; a relative state numbers them by checkpoint and task. Only a step of the clock that reaches a
deadline reads the deadlines, and such a step is not cached. A pause that has ended is treated as a pause
that ends now, as in `model.coordinator.environment.relative_time`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from conformance.observe.lines.line import Line, ShapedLine
from conformance.observe.memo.shifted import (
    LARGEST_ID,
    NO_NODE,
    Bookmark,
    Edge,
    Key,
    Shifted,
    Table,
    UnderivableError,
    as_text,
    without_id,
)
from conformance.observe.replay import Effects, Replayed, ReplayedCoordinator
from model.components import Wire
from model.coordinator.pending import Pending
from model.coordinator.shared_state import new_shared_state
from model.coordinator.state import Coordinator, Regional
from model.coordinator.wire.coordinator import CoordinatorSession
from model.events import NONE
from model.store.store import Entry

_REMEMBERED = frozenset({"acknowledge", "decline", "trigger", "advance", "task_status", "job_status"})
"""The frequent events, whose steps are cached."""
_ID = re.compile(rb'"checkpoint":(\d+)[,}]')
_NEVER = 1 << 62
_NEW = -1


class _Fact(NamedTuple):
    """The checkpoint or task of each register of a relative state."""

    timeout: int
    """The time in ms after which a new checkpoint expires."""
    checkpoints: tuple[int, ...]
    """Relative to the base: the checkpoints with a deadline, first those in `pending`, then in `outlived`."""
    states: tuple[tuple[int, int], ...]
    """The relative checkpoint and the position of the task of each stored state."""


class _Registers(NamedTuple):
    """The data of a state that neither its relative state nor its bases have."""

    deadlines: tuple[int, ...]
    """In the order of `_Fact.checkpoints`: the time at which the checkpoint expires, in ms."""
    names: tuple[str, ...]
    """In the order of `_Fact.states`: the name of the stored state. Equal names mean the same file."""


class _Moves(NamedTuple):
    """For each register after a step: the position of the register before it that is copied, or _NEW."""

    delay: int
    """The time in ms from the time before the step to the start of a new checkpoint."""
    deadlines: tuple[int, ...]
    names: tuple[int, ...]
    """_NEW: the name in the event."""


class ShiftedCoordinator(Shifted, ReplayedCoordinator):
    """A coordinator; `_base` is the next id, `_other` the time."""

    __slots__ = ("_deadlines", "_names")

    table = Table()
    has_own_key = True
    numbers = frozenset({"checkpoint", "ms"})
    _deadlines: tuple[int, ...]
    _names: tuple[str, ...]
    """As in `_Registers`."""

    def known(self, line: Line, handle: str | None = None) -> tuple[str, ...] | None:
        """As in `Shifted`."""
        if self._node == NO_NODE or not isinstance(line, ShapedLine):
            return None
        key = self._shaped_key(line, handle)
        edge = None if key is None else self.table.edges.get(key)
        if edge is None:
            return None
        self._follow(edge, handle)
        return edge.rules

    def _follow(self, edge: Edge, handle: object = None) -> None:
        if edge.moves is not None:
            fact = self.table.facts[edge.after]
            self._set_registers(_moved_registers(self._registers(), edge.moves, self._other, fact, handle))
        super()._follow(edge)

    def _expires(self, event: Wire) -> bool:
        """Whether a step of the clock may reach a deadline."""
        ms = event.get("ms", 0)
        return type(ms) is not int or self._other + ms >= min(self._deadlines, default=_NEVER)

    def _registers(self) -> _Registers:
        return _Registers(self._deadlines, self._names)

    def _set_registers(self, registers: _Registers) -> None:
        self._deadlines, self._names = registers

    def _moves(self, before: Bookmark, handle: object) -> _Moves | None:
        old, new = self.table.facts[before.node], self.table.facts[self._node]
        shift = self._base - before.base
        deadlines = _places(old.checkpoints, [one + shift for one in new.checkpoints])
        names = _places(old.states, [(checkpoint + shift, task) for checkpoint, task in new.states])
        delay = 0
        if _NEW in deadlines:
            delay = self._deadlines[deadlines.index(_NEW)] - new.timeout - before.other
        moves = _Moves(delay, deadlines, names)
        if _moved_registers(before.registers, moves, before.other, new, handle) != self._registers():
            raise UnderivableError
        return None if before.registers == self._registers() else moves

    def answer(self, event: Wire) -> tuple[Effects, tuple[str, ...]]:
        """As in `Shifted`. The model itself takes steps with handles, with shared files, or to a deadline."""
        if self._names or "state" in event or "shared" in event or self._expires(event):
            return Replayed.answer(self, event)
        return super().answer(event)

    def _shaped_key(self, line: ShapedLine, handle: object) -> Key | None:
        shape = line.shape
        if shape.has_number or shape.kind not in _REMEMBERED or "shared" in shape.event:
            return None
        if shape.kind == "advance" and self._expires(shape.event):
            return None
        place = None
        if shape.has_state:
            if type(handle) is not str:
                return None
            place = self._place_of(handle)
        return self._node, shape.number, line.base - self._base if shape.has_ids else None, place

    def _key(self, event: Wire, effects: Effects) -> Key | None:
        if event["kind"] not in _REMEMBERED or event.get("shared") or self._expires(event):
            return None
        base, handle, place = self._base, event.get("state"), None
        if type(handle) is str:
            place = self._place_of(handle)
            event = {**event, "state": None}
        discarded: tuple[int, ...] = ()
        for effect in effects:
            if "state" in effect:
                named = [one["state"] for one in effects if type(one.get("state")) is str]
                if not {*self._names, handle} >= set(named):
                    return None
                discarded = tuple(map(self._place_of, named))
                effects = [
                    {**one, "state": None} if type(one.get("state")) is str else one for one in effects
                ]
                break
        text, checkpoint = as_text(event, effects), event.get("checkpoint", base)
        if text is None or type(checkpoint) is not int or not 0 <= checkpoint < LARGEST_ID:
            return None
        text = without_id(text, checkpoint)
        while (other := _ID.search(text)) is not None:  # the id of a subsumed checkpoint, in many effects
            text = without_id(text, int(other[1]), b"~%d" % (int(other[1]) - base))
        return self._node, checkpoint - base, place, discarded, text

    def _place_of(self, name: str) -> int:
        """The position of the first register with this name; _NEW if none has it."""
        return self._names.index(name) if name in self._names else _NEW

    def _located(self, state: CoordinatorSession) -> int:
        coordinator = state.coordinator
        base, now = self._base, self._other = coordinator.next_id, coordinator.now
        expiring = (*coordinator.pending, *coordinator.outlived)
        places = [(one, task) for one in expiring for task, number in enumerate(one.states) if number]
        self._deadlines = tuple([one.deadline for one in expiring])
        self._names = tuple([state.handles[one.states[task] - 1] for one, task in places])
        due = coordinator.scheduler.due
        if NONE != due < now or _has_more_names(coordinator) or _has_more_ids(coordinator):
            return NO_NODE
        relative = _moved(coordinator._replace(next_id=0, now=0), -base - 1, -now)
        relative = relative._replace(pause_ends=max(0, relative.pause_ends))
        numbers = {number: place for place, number in enumerate(dict.fromkeys(map(_state_at, places)), 1)}
        relative = _with_registers(relative, numbers, [0] * len(expiring))
        fact = _Fact(
            timeout=coordinator.plan.timeout,
            checkpoints=tuple([one.checkpoint - base for one in expiring]),
            states=tuple([(one.checkpoint - base, task) for one, task in places]),
        )
        return self.table.number(state._replace(coordinator=relative, handles=()), fact)

    def _absolute(self, relative: CoordinatorSession) -> CoordinatorSession:
        moved = _moved(relative.coordinator, self._base + 1, self._other)
        moved = _with_registers(moved, None, self._deadlines)
        moved = moved._replace(next_id=self._base, now=self._other)
        return relative._replace(coordinator=moved, handles=tuple(dict.fromkeys(self._names)))


def _moved_registers(
    registers: _Registers, moves: _Moves, now: int, fact: _Fact, handle: object
) -> _Registers:
    """The registers after a step. `now`: the time before the step. `fact`: of the state after the step."""
    deadlines, names = registers
    new = now + moves.delay + fact.timeout
    return _Registers(
        tuple([new if one == _NEW else deadlines[one] for one in moves.deadlines]),
        tuple([str(handle) if one == _NEW else names[one] for one in moves.names]),
    )


def _state_at(place: tuple[Pending, int]) -> int:
    pending, task = place
    return pending.states[task]


def _places(known: tuple[Any, ...], values: list[Any]) -> tuple[int, ...]:
    """The position in `known` of each value of `values`; _NEW if `known` lacks the value."""
    places = {one: place for place, one in enumerate(known)}
    return tuple([places.get(one, _NEW) for one in values])


def _has_more_names(coordinator: Coordinator) -> bool:
    """Whether the state has names of shared files."""
    expiring = (*coordinator.pending, *coordinator.outlived)
    return coordinator.shared != new_shared_state() or any(any(one.shared) for one in expiring)


def _has_more_ids(coordinator: Coordinator) -> bool:
    """Whether a field has ids that `_moved` does not shift."""
    return coordinator.regional != Regional() or bool(coordinator.plan.savepoint)


def _with_registers(
    coordinator: Coordinator, numbers: Mapping[int, int] | None, deadlines: Sequence[int]
) -> Coordinator:
    """The coordinator with these deadlines. `numbers`: the new number of a stored state, by the old one."""

    def changed(one: Pending, deadline: int) -> Pending:
        states = one.states if numbers is None else tuple([numbers.get(state, 0) for state in one.states])
        return one._replace(states=states, deadline=deadline)

    pending = len(coordinator.pending)
    return coordinator._replace(
        pending=tuple(map(changed, coordinator.pending, deadlines[:pending])),
        outlived=tuple(map(changed, coordinator.outlived, deadlines[pending:])),
    )


def without_time(session: CoordinatorSession) -> CoordinatorSession:
    """The state with times relative to its clock. A pause that has ended becomes a pause that ends now."""
    moved = _moved(session.coordinator, 0, -session.coordinator.now)
    return session._replace(coordinator=moved._replace(now=0, pause_ends=max(0, moved.pause_ends)))


def _moved(coordinator: Coordinator, ids: int, ms: int) -> Coordinator:
    """The coordinator with every checkpoint id greater by `ids`, and every time later by `ms`."""

    def moved(checkpoint: int) -> int:
        return NONE if checkpoint == NONE else checkpoint + ids

    def pending(some: tuple[Pending, ...]) -> tuple[Pending, ...]:
        return tuple(
            one._replace(checkpoint=one.checkpoint + ids, deadline=one.deadline + ms) for one in some
        )

    def entries(some: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(one._replace(checkpoint=one.checkpoint + ids) for one in some)

    scheduler, failures, store = coordinator.scheduler, coordinator.failures, coordinator.store
    return coordinator._replace(
        pending=pending(coordinator.pending),
        master=moved(coordinator.master),
        outlived=pending(coordinator.outlived),
        scheduler=scheduler if scheduler.due == NONE else scheduler._replace(due=scheduler.due + ms),
        pause_ends=coordinator.pause_ends + ms,
        failures=failures._replace(
            counted=tuple(one + ids for one in failures.counted),
            highest_success=moved(failures.highest_success),
        ),
        store=store._replace(entries=entries(store.entries)),
        unseen=entries(coordinator.unseen),
    )
