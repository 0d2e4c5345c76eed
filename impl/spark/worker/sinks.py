"""The operator of a sink subtask: writes rows in transactions, and logs each step of the two-phase commit.

The core decides when a transaction begins, pre-commits and commits. The output carries out these steps in its
external system.
"""

from collections.abc import Mapping
from dataclasses import replace

from impl.batches import Rows, batch_of
from impl.connectors.two_phase import Output, SinkContext, SinkState, TwoPhaseSink
from impl.core import Effects
from impl.core.sink.events import (
    CheckpointAborted,
    CheckpointCompleted,
    Finish,
    RestoreSink,
    SinkEvent,
    SnapshotSink,
)
from impl.eventlog import EventLog
from impl.spark.worker.operators import Operator
from impl.state import AsynchronousPart, Sections, StateError, encode
from impl.state.shared import SharedFiles

_STATE = "sink"
_TRANSACTIONS_PER_ATTEMPT = 1_000_000


class SinkOperator(Operator):
    """A transactional sink. `restored`: the restored checkpoint. `snapshot`: the subtask's snapshot in it."""

    def __init__(
        self,
        output: Output,
        context: SinkContext,
        restored: int | None,
        snapshot: Sections | None,
        log: EventLog | None,
    ) -> None:
        state = None if snapshot is None else state_in(snapshot)
        self.inputs = (self.process,)
        self._schema = output.schema
        self._log = log
        if state is not None:
            # above all ids of earlier attempts, so that no id is used twice (SINK-08)
            unused = max(state.next_transaction, context.attempt * _TRANSACTIONS_PER_ATTEMPT + 1)
            state = replace(state, next_transaction=unused)
        participant = output.open(context)
        self.listeners = (participant,)
        self._sink, effects = TwoPhaseSink.restored(participant, state)
        if state is not None:
            self._record(RestoreSink(restored), effects)
        if restored is not None:
            participant.committed(restored)

    def process(self, rows: Rows) -> Rows:
        """Write rows into the open transaction (SINK-01)."""
        if len(rows):
            self._sink.write(batch_of(rows, self._schema))
        return ()

    def finish(self) -> Rows:
        """End the input. The next snapshot pre-commits the last transaction (SINK-07)."""
        self._record(Finish(), self._sink.finish())
        return ()

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """Pre-commit (SINK-02). The snapshot has the names of the open and the pending transactions."""
        effects = self._sink.snapshot(checkpoint)
        state = self._sink.state_of(checkpoint)
        filed = [one for one in state.transactions.pending if one.checkpoint == checkpoint]
        receipts = [self._sink.receipt_of(one) for one in filed]
        names = [name for one in receipts for name in one.names]
        self._record(SnapshotSink(checkpoint), effects, rows=sum(one.rows for one in receipts), files=names)
        encoded = encode(state)
        return lambda: {_STATE: encoded}

    def notify_complete(self, checkpoint: int) -> None:
        """Commit (SINK-03)."""
        effects = self._sink.notify_complete(checkpoint)
        self._record(CheckpointCompleted(checkpoint), effects)

    def notify_abort(self, checkpoint: int) -> None:
        """Change no transaction (SINK-05)."""
        self._record(CheckpointAborted(checkpoint), self._sink.notify_abort(checkpoint))

    def close(self) -> None:
        """Give up the open transaction. Pre-committed transactions stay."""
        self._sink.close()

    def _record(self, event: SinkEvent, effects: Effects, **fields: object) -> None:
        if self._log is not None:
            self._log.step("sink", event, effects, **fields)


def commit_orphans(
    output: Output, context: SinkContext, orphans: Mapping[str, Sections], log: EventLog | None
) -> None:
    """Commit the pre-committed transactions of sink subtasks that a rescaling has removed (SINK-06).

    `orphans`: the snapshots of these subtasks. Every attempt that restores them commits again.
    """
    for task, orphan in orphans.items():
        sink, effects = TwoPhaseSink.restored(output.open(context), state_in(orphan))
        sink.close()
        if log is not None:
            words = [effect.wire() for effect in effects]
            log.line({"kind": "adopted", "sink": task, "effects": words})


def transactions_in(snapshot: Sections) -> frozenset[str]:
    """The names of the transactions in a task's snapshot; empty if the task is not a sink."""
    return state_in(snapshot).names if _STATE in snapshot else frozenset()


def state_in(snapshot: Sections) -> SinkState:
    """The state of the sink in a task's snapshot. Raises `StateError` if the snapshot has no such state."""
    state = snapshot.read(_STATE)
    if not isinstance(state, SinkState):
        raise StateError(f"{snapshot.file}: expected a sink's transactions, got {type(state).__name__}")
    return state
