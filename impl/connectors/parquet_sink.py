"""A transactional sink that writes Parquet files: two-phase commit on a file system.

A transaction is one file under a staging name. Pre-commit closes and syncs it and gives it its name; commit
publishes a manifest that lists it, and only then can anybody see it; abort removes it. Which transaction
takes the rows, and when one is pre-committed, committed or aborted, is decided by the protocol core
(`impl.core.transactions`, SINK-01 to SINK-08); here its effects are carried out.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import ConnectorError
from impl.connectors.manifests import DataFile, Manifest, describe_file, publish, retract
from impl.core import Effect, Effects, Filed, SinkSnapshot, TransactionalSink
from impl.core.effects import AbortTransaction, Begin, Commit, PreCommit, WriteToTransaction
from impl.core.errors import ProtocolError
from impl.state.durable import make_directory, remove_file, sync_directory, sync_file
from impl.state.errors import StorageError

_ROW_GROUP: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ParquetSinkState:
    """What a snapshot of the sink holds; it may be pickled."""

    transactions: SinkSnapshot
    """The open and the pending transactions."""
    next_transaction: int
    staging: str | None
    """The file of the open transaction."""
    pending: Mapping[int, tuple[DataFile, ...]]
    """The files of the pending transactions, by transaction."""

    @property
    def files(self) -> frozenset[str]:
        """The pre-committed files, which a sweep has to keep."""
        return frozenset(one.file for files in self.pending.values() for one in files)


class ParquetSink:
    """One sink subtask, writing under `directory`. `ParquetSink.restored` continues from a snapshot.

    Each step carries out the effects of the core, and answers them for whoever keeps a log.
    """

    def __init__(self, directory: Path | str, *, subtask: str, attempt: int) -> None:
        self._directory = Path(directory)
        self._subtask = subtask
        self._attempt = attempt
        self._core = TransactionalSink()
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._rows = 0
        self._writer: pq.ParquetWriter | None = None
        self._staged: dict[int, str] = {1: self._staging_of(1)}  # the files of open transactions
        self._filed: dict[int, tuple[int, tuple[DataFile, ...]]] = {}  # checkpoint and files of pending ones
        self._retracted: tuple[str, ...] = ()
        self._carry_out: Mapping[type[Effect], Callable[..., None]] = MappingProxyType(
            {
                WriteToTransaction: self._write,
                PreCommit: self._pre_commit,
                Begin: self._begin,
                Commit: self._commit,
                AbortTransaction: self._abort,
            }
        )
        for folder in ("data", "manifests"):
            make_directory(self._directory / folder)

    @classmethod
    def restored(
        cls,
        directory: Path | str,
        *,
        subtask: str,
        attempt: int,
        state: ParquetSinkState | None,
        checkpoint: int | None,
    ) -> tuple["ParquetSink", Effects]:
        """A sink that continues from the state of `checkpoint`, or from the beginning for None (SINK-06).

        Answers the effects of the restore too. Output that was committed beyond `checkpoint` is taken
        back, see `retracted`.
        """
        sink = cls(directory, subtask=subtask, attempt=attempt)
        sink._retracted = retract(sink._directory, subtask, checkpoint)
        if state is None:
            return sink, ()
        checkpoints = {filed.transaction: filed.checkpoint for filed in state.transactions.pending}
        sink._filed = {one: (checkpoints[one], files) for one, files in state.pending.items()}
        sink._core, effects = TransactionalSink.continuing(state.transactions, state.next_transaction)
        if state.transactions.open is not None and state.staging is not None:
            sink._staged[state.transactions.open] = state.staging
        return sink, sink._do(effects)

    @property
    def transactions(self) -> TransactionalSink:
        """The state machine, to be observed."""
        return self._core

    @property
    def retracted(self) -> tuple[str, ...]:
        """The manifests that the restore took back, because the job fell back behind their checkpoint."""
        return self._retracted

    def write(self, rows: pa.RecordBatch) -> Effects:
        """Rows reach the sink. All rows of one transaction have one schema."""
        return self._do(self._core.write(rows))

    def snapshot(self, checkpoint: int) -> Effects:
        """Pre-commit what was written and file it under `checkpoint`; `state_of` is then what to store."""
        effects = self._core.snapshot(checkpoint)
        for filed in self._core.pending:
            self._filed.setdefault(filed.transaction, (checkpoint, ()))
        return self._do(effects)

    def state_of(self, checkpoint: int) -> ParquetSinkState:
        """What the snapshot for `checkpoint`, the last one taken, has to hold."""
        transactions = self._core.snapshot_of(checkpoint)
        return ParquetSinkState(
            transactions=transactions,
            next_transaction=self._core.next_transaction,
            staging=None if transactions.open is None else self._staged[transactions.open],
            pending={filed.transaction: self._filed[filed.transaction][1] for filed in transactions.pending},
        )

    def notify_complete(self, checkpoint: int) -> Effects:
        """`checkpoint` is complete: publish what was filed up to it."""
        effects = self._do(self._core.notify_complete(checkpoint))
        self._core.forget_below(checkpoint)  # a job runs for long, and its storage holds the snapshots
        return effects

    def notify_abort(self, checkpoint: int) -> Effects:
        """`checkpoint` was aborted: what was filed under it waits for a later one."""
        return self._do(self._core.notify_abort(checkpoint))

    def finish(self) -> Effects:
        """The input has ended; the next snapshot files the last transaction."""
        return self._do(self._core.finish())

    def close(self) -> None:
        """The subtask ends or fails: the open transaction is removed, what is pending stays."""
        self._buffer.clear()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        for file in self._staged.values():
            remove_file(self._directory / file)

    def files_of(self, filed: Filed) -> tuple[DataFile, ...]:
        """The pre-committed files of a pending transaction."""
        return self._filed[filed.transaction][1]

    # ------------------------------------------------------------ the effects, carried out

    def _do(self, effects: Effects) -> Effects:
        for effect in effects:
            self._carry_out[type(effect)](*effect.values())
        return effects

    def _begin(self, transaction: int) -> None:
        self._staged[transaction] = self._staging_of(transaction)

    def _write(self, transaction: int, rows: object) -> None:
        if not isinstance(rows, pa.RecordBatch):
            raise ProtocolError(
                f"rows are written as an Arrow RecordBatch, came {type(rows).__name__}; make one"
            )
        self._buffer.append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= _ROW_GROUP:
            self._flush(transaction)

    def _pre_commit(self, transaction: int) -> None:
        """Close, sync and name the file; a transaction without rows has none."""
        checkpoint, _ = self._filed[transaction]
        self._flush(transaction)
        staging = self._directory / self._staged.pop(transaction)
        if self._writer is None:
            return
        name = f"data/{self._name_of(transaction)}"
        try:
            self._writer.close()
            sync_file(staging)
            os.replace(staging, self._directory / name)
        except OSError as cause:
            raise StorageError.of("pre-committing", staging, cause) from cause
        finally:
            self._writer = None
        sync_directory(staging.parent)
        self._filed[transaction] = (checkpoint, (describe_file(self._directory, name, self._rows),))
        self._rows = 0

    def _commit(self, transaction: int) -> None:
        checkpoint, files = self._filed.pop(transaction)
        publish(self._directory, Manifest(self._subtask, checkpoint, transaction, files))

    def _abort(self, transaction: int) -> None:
        file = self._staged.pop(transaction, None)
        if file is not None:
            remove_file(self._directory / file)

    def _flush(self, transaction: int) -> None:
        """Write what is buffered as row groups of a good size."""
        if not self._buffered:
            self._buffer.clear()
            return
        path = self._directory / self._staged[transaction]
        try:
            table = pa.Table.from_batches(self._buffer)
            if self._writer is None:
                self._writer = pq.ParquetWriter(path, table.schema)
            self._writer.write_table(table, row_group_size=_ROW_GROUP)
        except OSError as cause:
            raise StorageError.of("writing", path, cause) from cause
        except (pa.ArrowInvalid, ValueError) as cause:
            raise ConnectorError(
                f"{path}: all rows of one transaction have one schema, {cause}; write batches of one schema"
            ) from cause
        self._rows += self._buffered
        self._buffer.clear()
        self._buffered = 0

    def _name_of(self, transaction: int) -> str:
        return f"{self._attempt}-{self._subtask}-{transaction}.parquet"

    def _staging_of(self, transaction: int) -> str:
        return f"data/.{self._name_of(transaction)}.staging"
