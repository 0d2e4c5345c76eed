"""A coordinator, with its steps remembered. The base is the next id; times are relative to the clock.

The model numbers the handles of states in the order in which they come, so a relative state has none of
them. A pause that has ended is one that ends now, as in `model.coordinator.environment.relative_time`.
"""

import re

from conformance.observe.lines.line import Line, ShapedLine
from conformance.observe.memo.shifted import (
    LARGEST_ID,
    NO_NODE,
    Key,
    Shifted,
    Table,
    as_text,
    without_id,
)
from conformance.observe.replay import Effects, Replayed, ReplayedCoordinator
from model.components import Wire
from model.coordinator.pending import Pending
from model.coordinator.shared_state import new_shared_state
from model.coordinator.state import Coordinator
from model.coordinator.wire.coordinator import CoordinatorSession
from model.events import NONE
from model.store.store import Entry

_REMEMBERED = frozenset({"acknowledge", "decline", "trigger", "advance", "task_status", "job_status"})
"""The events that come often."""
_ID = re.compile(rb'"checkpoint":(\d+)[,}]')


class ShiftedCoordinator(Shifted, ReplayedCoordinator):
    """A coordinator; `_base` is the next id, `_other` the time.

    What is known of a relative state is whether a checkpoint is pending.
    """

    __slots__ = ("_handles",)

    table = Table()
    has_own_key = True
    numbers = frozenset({"checkpoint", "ms"})
    _handles: dict[str, int]
    """The handles of the state, with their places."""

    def known(self, line: Line, handle: str | None = None) -> tuple[str, ...] | None:
        """As in `Shifted`; then the handles are those of the state after it."""
        if self._node == NO_NODE or not isinstance(line, ShapedLine):
            return None
        key = self._shaped_key(line, handle)
        edge = None if key is None else self.table.edges.get(key)
        if edge is None:
            return None
        self._node, shift, further, rules = edge
        self._is_current = False
        self._base += shift
        self._other += further
        self._keep(handle)
        return rules

    def step(self, line: Line, event: Wire | None = None, effects: Effects | None = None) -> tuple[str, ...]:
        """Replay a line, as in `Shifted`; then the handles are those of the state after it."""
        rules = super().step(line, event, effects)
        if not self._is_current:
            self._keep((line.event if event is None else event).get("state"))
        return rules

    def _keep(self, handle: object) -> None:
        """A state that was acknowledged has this handle, if it is a text."""
        if not self.table.facts[self._node]:
            self._handles = {}
        elif type(handle) is str:
            self._handles.setdefault(handle, len(self._handles))

    def answer(self, event: Wire) -> tuple[Effects, tuple[str, ...]]:
        """As in `Shifted`; a step with handles or shared files is the model's own."""
        if self._handles or "state" in event or "shared" in event:
            return Replayed.answer(self, event)
        return super().answer(event)

    def _shaped_key(self, line: ShapedLine, handle: object) -> Key | None:
        shape = line.shape
        if shape.has_number or shape.kind not in _REMEMBERED or "shared" in shape.event:
            return None
        place = None
        if shape.has_state:
            if type(handle) is not str:
                return None
            place = self._handles.get(handle, len(self._handles))
        return self._node, shape.number, line.base - self._base if shape.has_ids else None, place

    def _key(self, event: Wire, effects: Effects) -> Key | None:
        if event["kind"] not in _REMEMBERED or event.get("shared"):
            return None
        base, handle, place = self._base, event.get("state"), None
        if type(handle) is str:
            place = self._handles.get(handle, len(self._handles))
            event = {**event, "state": None}
        discarded: tuple[int, ...] = ()
        for effect in effects:
            if "state" in effect:
                places = self._handles if place is None else {**self._handles, str(handle): place}
                named = [one["state"] for one in effects if type(one.get("state")) is str]
                if not places.keys() >= set(named):
                    return None
                discarded = tuple(places[one] for one in named)
                effects = [
                    {**one, "state": None} if type(one.get("state")) is str else one for one in effects
                ]
                break
        text, checkpoint = as_text(event, effects), event.get("checkpoint", base)
        if text is None or type(checkpoint) is not int or not 0 <= checkpoint < LARGEST_ID:
            return None
        text = without_id(text, checkpoint)
        while (other := _ID.search(text)) is not None:  # of a subsumed checkpoint: one, on many tasks
            text = without_id(text, int(other[1]), b"~%d" % (int(other[1]) - base))
        return self._node, checkpoint - base, place, discarded, text

    def _located(self, state: CoordinatorSession) -> int:
        coordinator = state.coordinator
        base, now = self._base, self._other = coordinator.next_id, coordinator.now
        self._handles = {handle: place for place, handle in enumerate(state.handles)}
        due = coordinator.scheduler.due
        if coordinator.shared != new_shared_state() or NONE != due < now:
            return NO_NODE
        relative = _moved(coordinator._replace(next_id=0, now=0), -base - 1, -now)
        relative = relative._replace(pause_ends=max(0, relative.pause_ends))
        session = state._replace(coordinator=relative, handles=())
        return self.table.number(session, bool(coordinator.pending))

    def _absolute(self, relative: CoordinatorSession) -> CoordinatorSession:
        moved = _moved(relative.coordinator, self._base + 1, self._other)
        moved = moved._replace(next_id=self._base, now=self._other)
        return relative._replace(coordinator=moved, handles=tuple(self._handles))


def without_time(session: CoordinatorSession) -> CoordinatorSession:
    """The state with times relative to its own; a pause that has ended ends now."""
    moved = _moved(session.coordinator, 0, -session.coordinator.now)
    return session._replace(coordinator=moved._replace(now=0, pause_ends=max(0, moved.pause_ends)))


def _moved(coordinator: Coordinator, ids: int, ms: int) -> Coordinator:
    """The coordinator with every checkpoint id greater by `ids`, every time by `ms`."""

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
