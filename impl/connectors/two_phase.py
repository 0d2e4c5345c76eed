"""Two-phase commit of one sink subtask, whatever system stands behind it.

Which transaction takes the rows, and when one is pre-committed, committed or aborted, is decided by the
protocol core (`impl.core.sink.two_phase_commit`, SINK-01 to SINK-10). Its effects are carried out by a
`Participant`: files, a database. A participant has to keep three promises, and the rest follows.

* What `pre_commit` has answered for survives the process and the system's own crash, and is seen by nobody.
* `commit` makes it visible, whole and once: doing it again, from whatever process, changes nothing.
* Names are used once, and tell the job and the attempt, so that what a dead attempt has left can be swept
  and nothing else is.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import pyarrow as pa

from impl.connectors.claims import Claim
from impl.core import Effect, Effects, Filed, SinkSnapshot, TransactionalSink
from impl.core.errors import ProtocolError
from impl.core.sink.events import AbortTransaction, Begin, Commit, PreCommit, WriteToTransaction


class Receipt(Protocol):
    """What a participant answers for after a pre-commit; it may be pickled."""

    @property
    def rows(self) -> int:
        """Rows that the commit makes visible."""

    @property
    def names(self) -> tuple[str, ...]:
        """What stands prepared under names of its own: files, global transactions. None without rows."""


@dataclass(frozen=True, slots=True)
class SinkPlace:
    """Whose output a participant writes."""

    job: str
    """The name of the job."""
    lineage: str
    """The runs that go on from each other's checkpoints: never shared with another job's."""
    subtask: str
    attempt: int
    parallelism: int = 1
    """How many subtasks the sink has."""


class Participant(Protocol):
    """The system behind one sink subtask."""

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Rows for the open transaction."""

    def pre_commit(self, transaction: int, checkpoint: int) -> Receipt:
        """Make the transaction durable, and visible to nobody."""

    def commit(self, receipt: Any) -> None:  # noqa: ANN401 - its own receipt
        """Make it visible, once, however often this is called."""

    def committed(self, checkpoint: int) -> None:
        """All that was filed up to `checkpoint` is committed: readers may be told."""

    def remnant(self, transaction: int) -> str:
        """Under which name a later process finds what is left of the open transaction."""

    def abort(self, remnant: str) -> None:
        """Remove what is left of a transaction; nothing left is fine."""

    def close(self) -> None:
        """The subtask ends: what is open is given up, what is pre-committed stays."""


class Output(Protocol):
    """What a user declares as the sink of a job. The driver prepares and sweeps, each subtask opens one."""

    @property
    def schema(self) -> pa.Schema:
        """Of the rows, column by column."""

    @property
    def where(self) -> str:
        """Where the rows go, for messages."""

    def open(self, place: SinkPlace) -> Participant:
        """The participant of one subtask."""

    def prepare(self) -> None:
        """Make what has to be there before a job starts; raises ConnectorError if it cannot work."""

    def holds_output(self, job: str) -> bool:
        """Whether a job of that name, in any run, has committed something there."""

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """From now on nobody older than this attempt commits there; `claims` says how that is decided.

        Answers the lineages of other runs whose output is to be taken back as a whole. Raises
        `SupersededError` if a newer attempt has claimed, `OutputClaimedError` if another run has committed.
        """

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove what attempts before `attempt` have pre-committed and nobody needs; answers the names.

        Needed are the names in `keep`, those of the restored sinks: a commit may be about to come.
        """

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of these pre-committed names that are neither there nor committed."""

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Take back what is committed beyond the checkpoint that a job restores; answers the names.

        `by`: the claim of the driver that takes it back; `SupersededError`, and nothing taken back, if a
        newer attempt has claimed the output since.

        Needed only when a damaged checkpoint made the job fall back behind one whose output was
        committed: that output will be written again.
        """


@dataclass(frozen=True, slots=True)
class SinkState:
    """What a snapshot of a sink holds; it may be pickled."""

    transactions: SinkSnapshot
    """The open and the pending transactions."""
    next_transaction: int
    remnant: str | None
    """What is left of the open transaction if the process dies now."""
    receipts: Mapping[int, Receipt]
    """Of the pending transactions."""

    @property
    def names(self) -> frozenset[str]:
        """What is pre-committed, which a sweep has to keep."""
        return frozenset(name for receipt in self.receipts.values() for name in receipt.names)


class TwoPhaseSink:
    """One sink subtask over its participant. `TwoPhaseSink.restored` continues from a snapshot.

    Each step carries out the effects of the core, and answers them for whoever keeps a log.
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
        """A sink that continues from a state, or from the beginning for None, and the effects (SINK-06)."""
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
        """The state machine, to be observed."""
        return self._core

    def write(self, rows: pa.RecordBatch) -> Effects:
        """Rows reach the sink. All rows of one transaction have one schema."""
        return self._do(self._core.write(rows))

    def snapshot(self, checkpoint: int) -> Effects:
        """Pre-commit what was written and file it under `checkpoint`; `state_of` is then what to store."""
        effects = self._core.snapshot(checkpoint)
        self._snapshotting = checkpoint
        return self._do(effects)

    def state_of(self, checkpoint: int) -> SinkState:
        """What the snapshot for `checkpoint`, the last one taken, has to hold."""
        transactions = self._core.snapshot_of(checkpoint)
        return SinkState(
            transactions=transactions,
            next_transaction=self._core.next_transaction,
            remnant=None if transactions.open is None else self._remnants[transactions.open],
            receipts={filed.transaction: self._receipts[filed.transaction] for filed in transactions.pending},
        )

    def notify_complete(self, checkpoint: int) -> Effects:
        """`checkpoint` is complete: commit what was filed up to it.

        A commit that fails keeps no other from being tried; then its error is raised (SINK-10).
        """
        effects = self._core.notify_complete(checkpoint)
        failures = []
        for effect in effects:
            try:
                self._do((effect,))
            except Exception as failed:  # noqa: BLE001 - kept until the others were tried, then raised
                failures.append(failed)
        if failures:
            raise failures[0]
        self._participant.committed(checkpoint)
        self._core.forget_below(checkpoint)  # a job runs for long, and its storage holds the snapshots
        return effects

    def notify_abort(self, checkpoint: int) -> Effects:
        """`checkpoint` was aborted: what was filed under it waits for a later one."""
        return self._do(self._core.notify_abort(checkpoint))

    def finish(self) -> Effects:
        """The input has ended; the next snapshot files the last transaction."""
        return self._do(self._core.finish())

    def close(self) -> None:
        """The subtask ends or fails: the open transaction is given up, what is pending stays."""
        self._participant.close()

    def receipt_of(self, filed: Filed) -> Receipt:
        """What stands behind a pending transaction."""
        return self._receipts[filed.transaction]

    # ------------------------------------------------------------ the effects, carried out

    def _do(self, effects: Effects) -> Effects:
        for effect in effects:
            carry_out = self._carry_out.get(type(effect))
            if carry_out is None:
                raise ProtocolError(
                    f"the sink is driven by effects {sorted(one.__name__ for one in self._carry_out)}, came "
                    f"{type(effect).__name__}, which this version does not know; install one that does"
                )
            carry_out(*effect.values())
        return effects

    def _begin(self, transaction: int) -> None:
        self._remnants[transaction] = self._participant.remnant(transaction)

    def _write(self, transaction: int, rows: object) -> None:
        if not isinstance(rows, pa.RecordBatch):
            raise ProtocolError(
                f"rows are written as an Arrow RecordBatch, came {type(rows).__name__}; make one"
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
