"""Two-phase commit of one sink subtask, for any external system.

The protocol core (`impl.core.sink.two_phase_commit`, SINK-01 to SINK-10) decides which transaction takes the
rows, and when it is pre-committed, committed or aborted. A `Participant`, of files or of a database, carries
the effects out. It guarantees three things:

* After `pre_commit` the transaction survives the process and a crash of the system, and no reader sees it.
* `commit` makes it visible as a whole and once; a repeated commit, from any process, has no effect.
* Names are used once and contain the run and the attempt, so that a sweep removes only what an ended attempt
  of this run has left.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import pyarrow as pa

from impl.connectors.claims import Claim
from impl.core import Effect, Effects, PreCommitted, SinkSnapshot, TransactionalSink
from impl.core.errors import ProtocolError
from impl.core.sink.events import AbortTransaction, Begin, Commit, PreCommit, WriteToTransaction
from impl.functions import call_each


class Receipt(Protocol):
    """A pre-committed transaction; snapshots of the sink contain it, pickled."""

    @property
    def rows(self) -> int:
        """Number of rows that the commit makes visible."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the prepared files or global transactions; none without rows."""


@dataclass(frozen=True, slots=True)
class SinkPlace:
    """The subtask whose output a participant writes."""

    job: str
    """The name of the job."""
    lineage: str
    """The name of all runs that continue from each other's checkpoints; no other job has it."""
    subtask: str
    attempt: int
    parallelism: int = 1
    """Number of subtasks of the sink."""


class Participant(Protocol):
    """The external system of one sink subtask."""

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Write rows to the open transaction."""

    def pre_commit(self, transaction: int, checkpoint: int) -> Receipt:
        """Make the transaction durable, and not yet visible."""

    def commit(self, receipt: Any) -> None:  # noqa: ANN401 - its own receipt
        """Make the transaction visible; a repeated call has no effect."""

    def committed(self, checkpoint: int) -> None:
        """Everything pre-committed up to `checkpoint` is committed; it may be recorded for readers."""

    def remnant(self, transaction: int) -> str:
        """The name under which a later process finds the open transaction."""

    def abort(self, remnant: str) -> None:
        """Remove an open transaction by its name, if it exists."""

    def close(self) -> None:
        """The subtask ends: abort the open transaction; pre-committed ones stay."""


class Output(Protocol):
    """The sink of a job, as a user declares it. The driver prepares and sweeps, each subtask opens one."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""

    @property
    def where(self) -> str:
        """The name of the output, for messages."""

    def open(self, place: SinkPlace) -> Participant:
        """The participant of one subtask."""

    def prepare(self) -> None:
        """Create what must exist before the job starts. Raises ConnectorError if the output cannot work."""

    def holds_output(self, job: str) -> bool:
        """Whether any run of a job of that name has committed there."""

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the output: from now on no older attempt commits there (`claims`).

        Returns the lineages of other runs whose output is retracted as a whole. Raises SupersededError if a
        newer attempt has claimed the output, OutputClaimedError if another run has committed there.
        """

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove what attempts before `attempt` have pre-committed; returns the names.

        `keep`: the names of the restored sinks, which stay because they will be committed.
        """

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of the pre-committed names that neither exist nor are committed."""

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Retract what is committed beyond the checkpoint that a job restores; returns the names.

        This is needed if a damaged checkpoint makes the job restore an older one than the one whose output
        was committed: the job writes that output again. `by`: the claim of the driver that retracts. Raises
        SupersededError, and retracts nothing, if a newer attempt has claimed the output since.
        """


@dataclass(frozen=True, slots=True)
class SinkState:
    """The content of a snapshot of a sink, which is pickled."""

    transactions: SinkSnapshot
    """The open and the pending transactions."""
    next_transaction: int
    remnant: str | None
    """The name of the open transaction, for an abort after a crash."""
    receipts: Mapping[int, Receipt]
    """Of the pre-committed transactions, by transaction."""

    @property
    def names(self) -> frozenset[str]:
        """The pre-committed names, which a sweep must keep."""
        return frozenset(name for receipt in self.receipts.values() for name in receipt.names)


class TwoPhaseSink:
    """One sink subtask and its participant. `TwoPhaseSink.restored` makes one from a snapshot.

    Each method carries out the effects of the core and returns them, for the event log.
    """

    def __init__(self, participant: Participant) -> None:
        self._participant = participant
        self._core = TransactionalSink()
        self._remnants: dict[int, str] = {1: participant.remnant(1)}  # of open transactions
        self._receipts: dict[int, Receipt] = {}
        self._snapshotting = -1
        self._carry_out: Mapping[type[Effect], Callable[..., None]] = MappingProxyType(
            {
                WriteToTransaction: self._write,
                PreCommit: self._pre_commit,
                Begin: self._begin,
                Commit: self._commit,
                AbortTransaction: self._abort,
            }
        )

    @classmethod
    def restored(cls, participant: Participant, state: SinkState | None) -> tuple["TwoPhaseSink", Effects]:
        """A sink that continues from a state, None: from the beginning; and the effects (SINK-06)."""
        sink = cls(participant)
        if state is None:
            return sink, ()
        sink._receipts = dict(state.receipts)
        sink._remnants.clear()
        if state.transactions.open is not None and state.remnant is not None:
            sink._remnants[state.transactions.open] = state.remnant
        sink._core, effects = TransactionalSink.continuing(state.transactions, state.next_transaction)
        return sink, sink._do(effects)

    @property
    def transactions(self) -> TransactionalSink:
        """The component of the core, for observation."""
        return self._core

    def write(self, rows: pa.RecordBatch) -> Effects:
        """Write rows. All rows of one transaction must have one schema."""
        return self._do(self._core.write(rows))

    def snapshot(self, checkpoint: int) -> Effects:
        """Pre-commit the open transaction and file it under `checkpoint`; then store `state_of`."""
        effects = self._core.snapshot(checkpoint)
        self._snapshotting = checkpoint
        return self._do(effects)

    def state_of(self, checkpoint: int) -> SinkState:
        """The content of the snapshot for `checkpoint`, which must be the last one taken."""
        transactions = self._core.snapshot_of(checkpoint)
        return SinkState(
            transactions=transactions,
            next_transaction=self._core.next_transaction,
            remnant=None if transactions.open is None else self._remnants[transactions.open],
            receipts={filed.transaction: self._receipts[filed.transaction] for filed in transactions.pending},
        )

    def notify_complete(self, checkpoint: int) -> Effects:
        """`checkpoint` is complete: commit everything pre-committed up to it.

        If a commit raises an error, the others are still tried; then the first error is raised (SINK-10).
        """
        effects = self._core.notify_complete(checkpoint)
        call_each(partial(self._do, (effect,)) for effect in effects)
        self._participant.committed(checkpoint)
        self._core.forget_below(checkpoint)  # bounds the memory; the storage has the snapshots
        return effects

    def notify_abort(self, checkpoint: int) -> Effects:
        """`checkpoint` was aborted: what was pre-committed under it is committed with a later one."""
        return self._do(self._core.notify_abort(checkpoint))

    def finish(self) -> Effects:
        """The input has ended; the next snapshot files the last transaction."""
        return self._do(self._core.finish())

    def close(self) -> None:
        """The subtask ends or fails: abort the open transaction; pre-committed ones stay."""
        self._participant.close()

    def receipt_of(self, filed: PreCommitted) -> Receipt:
        """The receipt of a pre-committed transaction."""
        return self._receipts[filed.transaction]

    # ------------------------------------------------------------ carrying out effects

    def _do(self, effects: Effects) -> Effects:
        for effect in effects:
            carry_out = self._carry_out.get(type(effect))
            if carry_out is None:
                raise ProtocolError(
                    f"the sink is driven by effects {sorted(one.__name__ for one in self._carry_out)}, got "
                    f"{type(effect).__name__}, which this version does not know; install one that does"
                )
            carry_out(*effect.values())
        return effects

    def _begin(self, transaction: int) -> None:
        self._remnants[transaction] = self._participant.remnant(transaction)

    def _write(self, transaction: int, rows: object) -> None:
        if not isinstance(rows, pa.RecordBatch):
            raise ProtocolError(
                f"rows are written as an Arrow RecordBatch, got {type(rows).__name__}; make one"
            )
        self._participant.write(transaction, rows)

    def _pre_commit(self, transaction: int) -> None:
        self._receipts[transaction] = self._participant.pre_commit(transaction, self._snapshotting)
        self._remnants.pop(transaction, None)

    def _commit(self, transaction: int) -> None:
        self._participant.commit(self._receipts[transaction])
        del self._receipts[transaction]

    def _abort(self, transaction: int) -> None:
        remnant = self._remnants.pop(transaction, None)
        if remnant is not None:
            self._participant.abort(remnant)
