"""The operator of a sink subtask: rows in, two-phase commit behind it, and a record of both.

Its transactions are the core's; which system they are carried out in is the output's affair.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from impl.batches import Rows, batch_of
from impl.connectors.two_phase import Output, SinkPlace, SinkState, TwoPhaseSink
from impl.core import Effects
from impl.eventlog import EventLog, Wire
from impl.spark.worker.operators import Process
from impl.state import AsynchronousPart, Sections, StateError, encode
from impl.state.shared import SharedFiles

_STATE = "sink"
_TRANSACTIONS_PER_ATTEMPT = 1_000_000


class SinkOperator:
    """A transactional sink: `restored` and `snapshot` are of the checkpoint gone on from, or None.

    `orphans`: by task, the snapshots of sinks that are no more, since the job was rescaled. What they have
    pre-committed is committed here, as often as an attempt begins with them (SINK-06).
    """

    def __init__(
        self,
        output: Output,
        place: SinkPlace,
        restored: int | None,
        snapshot: Sections | None,
        log: EventLog | None,
        orphans: Mapping[str, Sections] = MappingProxyType({}),
    ) -> None:
        for task, orphan in orphans.items():
            gone, effects = TwoPhaseSink.restored(output.open(place), state_in(orphan))
            gone.close()
            if log is not None:
                told = [effect.wire() for effect in effects]
                log.line({"kind": "adopted", "sink": task, "effects": told})
        state = None if snapshot is None else state_in(snapshot)
        self._schema = output.schema
        self._log = log
        if state is not None:
            # above every id of the attempts before: none is used twice (SINK-08)
            unused = max(state.next_transaction, place.attempt * _TRANSACTIONS_PER_ATTEMPT + 1)
            state = replace(state, next_transaction=unused)
        participant = output.open(place)
        self._sink, effects = TwoPhaseSink.restored(participant, state)
        if state is not None:
            self._record({"kind": "restore", "checkpoint": restored}, effects)
        if restored is not None:
            participant.committed(restored)

    @property
    def inputs(self) -> tuple[Process, ...]:
        """One."""
        return (self.process,)

    def process(self, rows: Rows) -> Rows:
        """Write rows into the open transaction (SINK-01); the log counts them."""
        if len(rows):
            self._sink.write(batch_of(rows, self._schema))
        return ()

    def before_barrier(self) -> Rows:
        """Nothing follows a sink."""
        return ()

    def finish(self) -> Rows:
        """The last transaction waits for the next snapshot (SINK-07)."""
        self._record({"kind": "finish"}, self._sink.finish())
        return ()

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Pre-commit (SINK-02); the state names the open and the pending transactions."""
        effects = self._sink.snapshot(checkpoint)
        state = self._sink.state_of(checkpoint)
        event: Wire = {"kind": "snapshot", "checkpoint": checkpoint}
        filed = [one for one in state.transactions.pending if one.checkpoint == checkpoint]
        receipts = [self._sink.receipt_of(one) for one in filed]
        names = [name for one in receipts for name in one.names]
        self._record(event, effects, rows=sum(one.rows for one in receipts), files=names)
        encoded = encode(state)
        return lambda: {_STATE: encoded}

    def notify_complete(self, checkpoint: int) -> None:
        """Commit (SINK-03)."""
        effects = self._sink.notify_complete(checkpoint)
        self._record({"kind": "notify_complete", "checkpoint": checkpoint}, effects)

    def notify_abort(self, checkpoint: int) -> None:
        """Nothing happens to a transaction (SINK-05)."""
        self._record({"kind": "notify_abort", "checkpoint": checkpoint}, self._sink.notify_abort(checkpoint))

    def close(self) -> None:
        """The open transaction is dropped; what is pending stays."""
        self._sink.close()

    def _record(self, event: Wire, effects: Effects, **extras: object) -> None:
        if self._log is not None:
            wire = [effect.wire() for effect in effects]
            self._log.line({"component": "sink", "event": event, "effects": wire, **extras})


def state_in(snapshot: Sections) -> SinkState:
    """The sink's part of a task's snapshot; `StateError` if it is none."""
    state = snapshot.read(_STATE)
    if not isinstance(state, SinkState):
        raise StateError(f"{snapshot.file}: expected a sink's transactions, came {type(state).__name__}")
    return state
