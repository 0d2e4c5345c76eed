"""Two-phase commit of one sink subtask, for any external system.

The protocol core (`impl.core.sink.two_phase_commit`, SINK-01 to SINK-10) decides which transaction gets the
rows, and when the sink pre-commits, commits or aborts it. A `Participant`, for files or for a database,
carries out these effects. A participant guarantees three properties (`kafka.sink`, at least once, does not):

* After `pre_commit`, the transaction survives the end of the process and a crash of the system. No reader
  sees it.
* `commit` makes the whole transaction visible, once. A repeated commit from any process has no effect.
* The name of each transaction is used once, and contains the run and the attempt. So `Output.sweep` removes
  only transactions of ended attempts of this run.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import pyarrow as pa

from impl.connectors.output_claims import Claim
from impl.core import Effect, Effects, PreCommitted, SinkSnapshot, TransactionalSink
from impl.core.errors import ProtocolError
from impl.core.sink.events import AbortTransaction, Begin, Commit, PreCommit, WriteToTransaction
from impl.functions import call_each


class Receipt(Protocol):
    """A pre-committed transaction. Snapshots of the sink contain it, pickled."""

    @property
    def rows(self) -> int:
        """The number of rows that the commit makes visible."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the prepared files or global transactions; none without rows."""


@dataclass(frozen=True, slots=True)
class SinkContext:
    """The sink subtask for which a participant writes."""

    job: str
    """The name of the job."""
    lineage: str
    """The random name of the run, which all resumed runs with the same checkpoint folder share."""
    subtask: str
    attempt: int
    parallelism: int = 1
    """The number of subtasks of the sink."""


SinkPlace = SinkContext
SinkContext.__qualname__ = "SinkPlace"  # its name in the snapshots of the SQLite sink, which never changes


class Participant(Protocol):
    """The connection of one sink subtask to its external system."""

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Write rows to the open transaction."""

    def pre_commit(self, transaction: int, checkpoint: int) -> Receipt:
        """Make the transaction durable but not visible; returns its receipt."""

    def commit(self, receipt: Any) -> None:  # noqa: ANN401 - each participant has its own class of receipts
        """Make the transaction visible. A repeated call has no effect."""

    def committed(self, checkpoint: int) -> None:
        """Note that all transactions up to `checkpoint` are committed. A sink may record this for readers."""

    def remnant(self, transaction: int) -> str:
        """The name by which a later process finds the open transaction."""

    def abort(self, remnant: str) -> None:
        """Remove the open transaction with this name, if it exists."""

    def close(self) -> None:
        """Abort the open transaction, because the subtask ends. Pre-committed transactions stay."""


class Output(Protocol):
    """The sink of a job, as a user declares it.

    The driver calls `prepare`, `claim`, `sweep`, `lost` and `retract`. Each subtask calls `open`.
    """

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""

    @property
    def where(self) -> str:
        """The name of the output, for messages."""

    def open(self, context: SinkContext) -> Participant:
        """A new participant for one sink subtask."""

    def prepare(self) -> None:
        """Create the folders or tables of the output. Raises ConnectorError if the output cannot work."""

    def holds_output(self, job: str) -> bool:
        """Whether any run of a job with this name has committed into the output."""

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the output, so that no older attempt commits into it (`output_claims`).

        Returns the lineages of other runs whose whole output the driver retracts. Raises SupersededError if a
        newer attempt has claimed the output, OutputClaimedError if another run has committed into it.
        """

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove the pre-committed transactions of attempts before `attempt`; returns their names.

        `keep`: the names in the restored snapshots, which stay because they will be committed.
        """

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """The names of pre-committed transactions that neither exist nor are committed."""

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Retract the output of checkpoints above the restored `checkpoint`; returns the retracted names.

        A job with a damaged checkpoint restores an older checkpoint. It then writes the output of later
        checkpoints again, so their committed output must be retracted. `by`: the claim of the driver that
        retracts. If a newer attempt has claimed the output, the method retracts nothing of it: a database
        raises SupersededError, and Parquet output retracts by the newest claim.
        """


@dataclass(frozen=True, slots=True)
class SinkState:
    """The content of a snapshot of a sink. The runtime pickles it."""

    transactions: SinkSnapshot
    """The open and the pending transactions."""
    next_transaction: int
    remnant: str | None
    """The name of the open transaction, for an abort after a crash."""
    receipts: Mapping[int, Receipt]
    """Maps each pre-committed transaction to its receipt."""

    @property
    def names(self) -> frozenset[str]:
        """The pre-committed names, which a sweep must keep."""
        return frozenset(name for receipt in self.receipts.values() for name in receipt.names)


class TwoPhaseSink:
    """One sink subtask with its participant. `TwoPhaseSink.restored` makes a sink from a snapshot.

    Each method carries out the effects of the core, and returns them for the event log.
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
        """A sink that restores `state`, and the effects of the restore (SINK-06). None: the beginning."""
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
        """The component of the protocol core, for observation."""
        return self._core

    def write(self, rows: pa.RecordBatch) -> Effects:
        """Write rows. All rows of one transaction must have one schema."""
        return self._do(self._core.write(rows))

    def snapshot(self, checkpoint: int) -> Effects:
        """Pre-commit the open transaction for `checkpoint`. The caller then stores `state_of(checkpoint)`."""
        effects = self._core.snapshot(checkpoint)
        self._snapshotting = checkpoint
        return self._do(effects)

    def state_of(self, checkpoint: int) -> SinkState:
        """The content of the snapshot for `checkpoint`, which must be the last snapshot."""
        transactions = self._core.snapshot_of(checkpoint)
        return SinkState(
            transactions=transactions,
            next_transaction=self._core.next_transaction,
            remnant=None if transactions.open is None else self._remnants[transactions.open],
            receipts={filed.transaction: self._receipts[filed.transaction] for filed in transactions.pending},
        )

    def notify_complete(self, checkpoint: int) -> Effects:
        """Commit all transactions pre-committed up to `checkpoint`, which is complete.

        If a commit raises an error, the sink still tries the other commits, and then raises the first error
        (SINK-10).
        """
        effects = self._core.notify_complete(checkpoint)
        call_each(partial(self._do, (effect,)) for effect in effects)
        self._participant.committed(checkpoint)
        self._core.forget_below(checkpoint)  # bounds the memory; the storage has the snapshots
        return effects

    def notify_abort(self, checkpoint: int) -> Effects:
        """Keep the transactions of the aborted `checkpoint`. A later checkpoint commits them."""
        return self._do(self._core.notify_abort(checkpoint))

    def finish(self) -> Effects:
        """Note that the input has ended. The next snapshot pre-commits the last transaction."""
        return self._do(self._core.finish())

    def close(self) -> None:
        """Abort the open transaction, because the subtask ends or fails. Pre-committed transactions stay."""
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
                    f"the sink takes the effects {sorted(one.__name__ for one in self._carry_out)}, got "
                    f"{type(effect).__name__}; install a version of barrierspec that knows this effect"
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
