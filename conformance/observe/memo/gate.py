"""Caches the steps of an aligned gate at handler level.

Ids in cached states are relative to the gate's newest id (`conformance.observe.memo.shifted`).
"""

from conformance.observe.memo.shifted import Shifted, Table, less, more
from model.gate.polled_gate import Inbox
from model.gate.wire import GateSession

Relative = tuple[int | None, GateSession]
"""The newest id, and the state without it."""


class ShiftedGate(Shifted):
    """A gate with cached steps. For each relative state the table also stores the blocked channels."""

    __slots__ = ()

    table = Table()

    def blocks(self, channel: int) -> bool:
        """Whether the gate blocks the channel."""
        return channel in self.table.facts[self._node]

    def _located(self, state: GateSession) -> int:
        assert isinstance(state.inbox, Inbox)
        gate = state.inbox.gate
        self._base = base = max(0, gate.current)
        inbox = state.inbox._replace(gate=gate._replace(current=0))
        blocked = frozenset(place for place, is_blocked in enumerate(gate.blocked) if is_blocked)
        return self.table.number((less(gate.current, base), state._replace(inbox=inbox)), blocked)

    def _absolute(self, relative: Relative) -> GateSession:
        current, session = relative
        assert isinstance(session.inbox, Inbox)
        gate = session.inbox.gate._replace(current=more(current, self._base))
        return session._replace(inbox=session.inbox._replace(gate=gate))
