"""The operators that subtasks run: a source, keyed processing, a transactional sink.

One shape for all: rows in, rows out, a snapshot that can be encoded at once, and what a restore needs to
go on from it. The engine calls them from one thread.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from impl.connectors import CsvSource, JsonLinesSource, ParquetSource, RateSource
from impl.connectors.manifests import list_committed, sweep
from impl.connectors.parquet_sink import ParquetSink, ParquetSinkState
from impl.core import Effects
from impl.eventlog import EventLog, Wire
from impl.functions import ProcessFunction
from impl.plan import KeySelector, Row
from impl.state import KeyedStateBackend, StateError, encode

ToRows = Callable[[pa.RecordBatch, int, int], list[Row]]
_PACE_SECONDS = 0.02
_TRANSACTIONS_PER_ATTEMPT = 1_000_000


class Operator(Protocol):
    """What a subtask runs behind its gate."""

    def process(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Take rows; answers what is to be sent on."""
        ...

    def finish(self) -> Sequence[Row]:
        """The end of the data; answers the last rows to be sent on."""
        ...

    def snapshot(self, checkpoint: int) -> bytes:
        """The state as it is now, encoded."""
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


# ---------------------------------------------------------------- source


class Source(Protocol):
    """One partition of a source, replayable from its snapshots."""

    @property
    def offset(self) -> int:
        """Rows read so far."""
        ...

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows, at least one; None at the end."""
        ...

    def snapshot(self) -> object:
        """Where it stands now."""
        ...

    def restore(self, snapshot: Any) -> None:  # noqa: ANN401 - its own snapshot
        """Go to where a snapshot stood; raises ConnectorError if it is another source's."""
        ...


class Input(Protocol):
    """What a user declares as the source of a job; each subtask reads one partition of it."""

    @property
    def to_rows(self) -> ToRows:
        """Makes rows of a batch, given the partition and the offset of the batch's first row in it."""
        ...

    @property
    def rows_per_second(self) -> float | None:
        """The pace of the whole stage; None: as fast as it goes."""
        ...

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        ...


@dataclass(frozen=True, slots=True)
class CsvInput:
    """A CSV file as the source of a job."""

    path: Path
    to_rows: ToRows
    columns: tuple[str, ...] | None = None
    types: Mapping[str, pa.DataType] | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return CsvSource(
            self.path, partition=partition, partitions=partitions, columns=self.columns, types=self.types
        )


@dataclass(frozen=True, slots=True)
class ParquetInput:
    """A Parquet file as the source of a job."""

    path: Path
    to_rows: ToRows
    columns: tuple[str, ...] | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return ParquetSource(self.path, partition=partition, partitions=partitions, columns=self.columns)


@dataclass(frozen=True, slots=True)
class JsonLinesInput:
    """A file of JSON lines as the source of a job, under a declared schema."""

    path: Path
    schema: pa.Schema
    to_rows: ToRows
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return JsonLinesSource(self.path, self.schema, partition=partition, partitions=partitions)


@dataclass(frozen=True, slots=True)
class RateInput:
    """The numbers below `rows` as the source of a job."""

    rows: int
    to_rows: ToRows
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return RateSource(self.rows, partition=partition, partitions=partitions)


class SourceOperator:
    """Reads one partition, at its pace; the offset is the state."""

    def __init__(self, spec: Input, index: int, parallelism: int, batch_rows: int) -> None:
        self._source = spec.open(index, parallelism)
        self._index = index
        self._to_rows = spec.to_rows
        self._rate = spec.rows_per_second / parallelism if spec.rows_per_second else None
        self._batch_rows = batch_rows
        if self._rate is not None:
            self._batch_rows = max(1, min(batch_rows, int(self._rate * _PACE_SECONDS)))
        self._begun: float | None = None
        self._read = 0

    @property
    def offset(self) -> int:
        """Rows of this partition read so far, those before a restore among them."""
        return self._source.offset

    def restore(self, state: object) -> None:
        """Go on from a snapshot."""
        if type(state) is not type(self._source.snapshot()):
            raise StateError(f"expected a source's offset, came {type(state).__name__}")
        self._source.restore(state)

    def pause(self, now: float) -> float:
        """Seconds until the pace allows the next batch; 0: now."""
        if self._begun is None:
            self._begun = now
        if self._rate is None:
            return 0
        return max(0, (self._read + self._batch_rows) / self._rate - (now - self._begun))

    def read(self) -> list[Row] | None:
        """The next rows, None at the end; the pace may allow none yet."""
        if self.pause(time.monotonic()) > 0:
            return []
        first = self._source.offset
        batch = self._source.read(self._batch_rows)
        if batch is None:
            return None
        self._read += batch.num_rows
        return self._to_rows(batch, self._index, first)

    def process(self, rows: Sequence[Row]) -> Sequence[Row]:
        """A source has no input."""
        raise TypeError(f"a source has no input, {len(rows)} rows came")

    def finish(self) -> Sequence[Row]:
        """Nothing is held back."""
        return ()

    def snapshot(self, checkpoint: int) -> bytes:
        """The offset."""
        return encode(self._source.snapshot())

    def notify_complete(self, checkpoint: int) -> None:
        """A source commits nothing."""

    def notify_abort(self, checkpoint: int) -> None:
        """A source keeps nothing for a checkpoint."""

    def close(self) -> None:
        """The file is closed with the reader."""


# ---------------------------------------------------------------- keyed processing


class KeyedOperator:
    """Runs a process function over keyed state."""

    def __init__(self, function: ProcessFunction, key_selector: KeySelector) -> None:
        self._function = function
        self._key_selector = key_selector
        self._state = KeyedStateBackend()
        function.open(self._state)

    def restore(self, state: object, file: str) -> None:
        """Take over the states of a snapshot."""
        self._state.restore_values(state, file)

    def process(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Every row in its order."""
        key_of, process = self._key_selector, self._function.process_element
        out: list[Row] = []
        for row in rows:
            out.extend(process(key_of(row), row))
        return out

    def finish(self) -> Sequence[Row]:
        """Nothing is held back."""
        return ()

    def snapshot(self, checkpoint: int) -> bytes:
        """All keyed state."""
        return self._state.snapshot()

    def notify_complete(self, checkpoint: int) -> None:
        """Keyed state commits nothing."""

    def notify_abort(self, checkpoint: int) -> None:
        """Keyed state keeps nothing for a checkpoint."""

    def close(self) -> None:
        """Nothing is open."""


# ---------------------------------------------------------------- sink


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """Parquet files as the sink of a job. `schema`: of the rows, column by column."""

    directory: Path
    schema: pa.Schema

    def holds_output(self) -> bool:
        """Whether something has been committed there, by any run."""
        return (self.directory / "manifests").is_dir() and bool(list_committed(self.directory))

    def sweep(self, attempt: int, restored: Sequence[object]) -> None:
        """Remove what ended attempts have left; `restored`: the sinks' states that are gone on from."""
        keep = {file for state in restored if isinstance(state, ParquetSinkState) for file in state.files}
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
        state: ParquetSinkState | None,
        log: EventLog | None,
    ) -> None:
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

    def snapshot(self, checkpoint: int) -> bytes:
        """Pre-commit (SINK-02); the state names the open and the pending transactions."""
        effects = self._sink.snapshot(checkpoint)
        state = self._sink.state_of(checkpoint)
        event: Wire = {"kind": "snapshot", "checkpoint": checkpoint}
        filed = [one for one in state.transactions.pending if one.checkpoint == checkpoint]
        files = [file for one in filed for file in self._sink.files_of(one)]
        self._record(event, effects, rows=sum(one.rows for one in files), files=[one.file for one in files])
        return encode(state)

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
