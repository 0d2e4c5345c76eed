"""Caches the steps of a sink. The bases are the newest snapshot's id and the next transaction.

The cached steps write durable snapshots and committed transactions, and read none of them. So a relative
state has only the newest snapshot, and no committed transaction. `conformance.observe.sink` keeps the
snapshots that a restore needs.
"""

from typing import Any, NamedTuple

from conformance.observe.lines.line import ShapedLine
from conformance.observe.memo.shifted import LARGEST_ID, Key, Shifted, Table, less, more
from conformance.observe.replay import Effects
from model.components import Wire
from model.sink.two_phase_commit import PreCommitted, Sink, SinkSnapshot

_REMEMBERED = frozenset({"snapshot", "notify_complete", "notify_abort"})


class _Relative(NamedTuple):
    """Checkpoints and transactions relative to their bases, and the state without them."""

    open: int | None
    pending: tuple[tuple[int, int], ...]
    newest: tuple[int | None, tuple[tuple[int, int], ...]] | None
    """The open transaction and the pending ones in the newest snapshot; None without a snapshot."""
    rest: Sink


class ShiftedSink(Shifted):
    """A sink; `_base` is the newest snapshot's id, `_other` the next transaction."""

    __slots__ = ()

    table = Table()
    has_own_key = True

    def observe(self, state: object = None) -> dict[str, Any]:
        """As in `Replayed`, without the committed transactions."""
        return {name: value for name, value in super().observe(state).items() if name != "committed"}

    def _shaped_key(self, line: ShapedLine, handle: object) -> Key | None:
        del handle
        shape = line.shape
        if shape.kind not in _REMEMBERED or shape.has_number:
            return None
        transaction = line.transaction - self._other if shape.has_transactions else None
        return self._node, shape.number, line.base - self._base if shape.has_ids else None, transaction

    def _key(self, event: Wire, effects: Effects) -> Key | None:
        checkpoint, transactions = event.get("checkpoint"), []
        if event["kind"] not in _REMEMBERED or len(event) != 2:
            return None
        if type(checkpoint) is not int or not 0 <= checkpoint < LARGEST_ID:
            return None
        for effect in effects:
            transaction = effect.get("transaction")
            if len(effect) != 2 or type(transaction) is not int:
                return None
            transactions += [effect["kind"], transaction - self._other]
        return self._node, event["kind"], checkpoint - self._base, *transactions

    def _located(self, state: Sink) -> int:
        newest = state.snapshots[-1] if state.snapshots else None
        base = self._base = 0 if newest is None else newest.checkpoint
        other = self._other = state.next_transaction

        def relative(filed: tuple[PreCommitted, ...]) -> tuple[tuple[int, int], ...]:
            return tuple((one.checkpoint - base, one.transaction - other) for one in filed)

        return self.table.number(
            _Relative(
                open=less(state.open, other),
                pending=relative(state.pending),
                newest=None if newest is None else (less(newest.open, other), relative(newest.pending)),
                rest=state._replace(open=0, pending=(), next_transaction=0, committed=(), snapshots=()),
            ),
            None,
        )

    def _absolute(self, relative: _Relative) -> Sink:
        base, other = self._base, self._other

        def filed(some: tuple[tuple[int, int], ...]) -> tuple[PreCommitted, ...]:
            return tuple(
                PreCommitted(checkpoint + base, transaction + other) for checkpoint, transaction in some
            )

        snapshots: tuple[SinkSnapshot, ...] = ()
        if relative.newest is not None:
            opened, pending = relative.newest
            snapshots = (SinkSnapshot(base, more(opened, other), filed(pending)),)
        return relative.rest._replace(
            open=more(relative.open, other),
            pending=filed(relative.pending),
            next_transaction=other,
            snapshots=snapshots,
        )
