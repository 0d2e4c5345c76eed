"""The operators that subtasks run, and the transactional sink; `sources` and `processing` are the others.

One shape for all: rows in, rows out, a snapshot in two parts, and what a restore needs to go on from it. The
engine calls them from one thread, but for the asynchronous part of a snapshot.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from impl.connectors.manifests import list_committed, sweep
from impl.connectors.parquet_sink import ParquetSink, ParquetSinkState
from impl.core import Effects
from impl.eventlog import EventLog, Wire
from impl.plan import Row
from impl.state import AsynchronousPart, Sections, StateError, encode

_STATE = "sink"
Process = Callable[[Sequence[Row]], Sequence[Row]]
_TRANSACTIONS_PER_ATTEMPT = 1_000_000


class Operator(Protocol):
    """What a subtask runs behind its gate."""

    @property
    def inputs(self) -> tuple[Process, ...]:
        """For each input: takes rows, answers what is to be sent on."""
        ...

    def finish(self) -> Sequence[Row]:
        """The end of the data; answers the last rows to be sent on."""
        ...

    def snapshot(self, checkpoint: int) -> AsynchronousPart:
        """Take the state as it is now; the asynchronous part answers its sections, encoded, by name."""
        ...

    def notify_complete(self, checkpoint: int) -> None:
        """`checkpoint` is complete."""
        ...

    def notify_abort(self, checkpoint: int) -> None:
        """`checkpoint` was aborted."""
        ...

    def close(self) -> None:
        """The subtask ends, well or not."""
        ...


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """Parquet files as the sink of a job. `schema`: of the rows, column by column."""

    directory: Path
    schema: pa.Schema

    def holds_output(self) -> bool:
        """Whether something has been committed there, by any run."""
        return (self.directory / "manifests").is_dir() and bool(list_committed(self.directory))

    def sweep(self, attempt: int, restored: Sequence[Sections]) -> None:
        """Remove what ended attempts have left; `restored`: the sinks' snapshots that are gone on from."""
        keep = {file for snapshot in restored for file in _state_in(snapshot).files}
        if (self.directory / "data").is_dir():
            sweep(self.directory, attempt, keep)


class SinkOperator:
    """A transactional sink: its transactions are the core's, its files the connector's.

    The connector tells the core; what it was told and answered is recorded here.
    """

    def __init__(
        self,
        spec: ParquetOutput,
        task: str,
        attempt: int,
        restored: int | None,
        snapshot: Sections | None,
        log: EventLog | None,
    ) -> None:
        state = None if snapshot is None else _state_in(snapshot)
        self._schema = spec.schema
        self._log = log
        if state is not None:
            # above every id of the attempts before: none is used twice (SINK-08)
            unused = max(state.next_transaction, attempt * _TRANSACTIONS_PER_ATTEMPT + 1)
            state = replace(state, next_transaction=unused)
        self._sink, effects = ParquetSink.restored(
            spec.directory, subtask=task, attempt=attempt, state=state, checkpoint=restored
        )
        if state is not None:
            self._record({"kind": "restore", "checkpoint": restored}, effects)

    @property
    def inputs(self) -> tuple[Process, ...]:
        """One."""
        return (self.process,)

    def process(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Write rows into the open transaction (SINK-01); the log counts them."""
        if not rows:
            return ()
        columns = [
            pa.array(column, field.type)
            for column, field in zip(zip(*rows, strict=True), self._schema, strict=True)
        ]
        self._sink.write(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        return ()

    def finish(self) -> Sequence[Row]:
        """The last transaction waits for the next snapshot (SINK-07)."""
        self._record({"kind": "finish"}, self._sink.finish())
        return ()

    def snapshot(self, checkpoint: int) -> AsynchronousPart:
        """Pre-commit (SINK-02); the state names the open and the pending transactions."""
        effects = self._sink.snapshot(checkpoint)
        state = self._sink.state_of(checkpoint)
        event: Wire = {"kind": "snapshot", "checkpoint": checkpoint}
        filed = [one for one in state.transactions.pending if one.checkpoint == checkpoint]
        files = [file for one in filed for file in self._sink.files_of(one)]
        self._record(event, effects, rows=sum(one.rows for one in files), files=[one.file for one in files])
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


def _state_in(snapshot: Sections) -> ParquetSinkState:
    state = snapshot.read(_STATE)
    if not isinstance(state, ParquetSinkState):
        raise StateError(f"{snapshot.file}: expected a sink's transactions, came {type(state).__name__}")
    return state
