"""A sink, with its steps remembered. The bases are the newest snapshot's id and the next transaction."""

from typing import NamedTuple

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
    committed: tuple[int, ...]
    snapshots: tuple[tuple[int, int | None, tuple[tuple[int, int], ...]], ...]
    rest: Sink


class ShiftedSink(Shifted):
    """A sink; `_base` is the newest snapshot's id, `_other` the next transaction."""

    __slots__ = ()

    table = Table()
    has_own_key = True

    def _shaped_key(self, line: ShapedLine, handle: object) -> Key | None:
        del handle
        shape = line.shape
        if shape.kind not in _REMEMBERED or shape.has_number:
            return None
        transaction = line.transaction - self._other if shape.has_transactions else None
        return self._node, shape.number, line.base - self._base if shape.has_ids else None, transaction

    def _key(self, event: Wire, effects: Effects) -> Key | None:
        checkpoint, came = event.get("checkpoint"), []
        if event["kind"] not in _REMEMBERED or len(event) != 2:
            return None
        if type(checkpoint) is not int or not 0 <= checkpoint < LARGEST_ID:
            return None
        for effect in effects:
            transaction = effect.get("transaction")
            if len(effect) != 2 or type(transaction) is not int:
                return None
            came += [effect["kind"], transaction - self._other]
        return self._node, event["kind"], checkpoint - self._base, *came

    def _located(self, state: Sink) -> int:
        base = self._base = state.snapshots[-1].checkpoint if state.snapshots else 0
        other = self._other = state.next_transaction

        def relative(filed: tuple[PreCommitted, ...]) -> tuple[tuple[int, int], ...]:
            return tuple((one.checkpoint - base, one.transaction - other) for one in filed)

        return self.table.number(
            _Relative(
                open=less(state.open, other),
                pending=relative(state.pending),
                committed=tuple(one - other for one in state.committed),
                snapshots=tuple(
                    (one.checkpoint - base, less(one.open, other), relative(one.pending))
                    for one in state.snapshots
                ),
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

        return relative.rest._replace(
            open=more(relative.open, other),
            pending=filed(relative.pending),
            next_transaction=other,
            committed=tuple(one + other for one in relative.committed),
            snapshots=tuple(
                SinkSnapshot(checkpoint + base, more(opened, other), filed(pending))
                for checkpoint, opened, pending in relative.snapshots
            ),
        )
