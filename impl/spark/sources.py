"""The sources of a job: what a user declares, and the operator that reads it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from impl.connectors import CsvSource, JsonLinesSource, ParquetSource, RateSource
from impl.plan import Row
from impl.spark.operators import Process
from impl.state import AsynchronousPart, Sections, StateError, encode

ToRows = Callable[[pa.RecordBatch, int, int], list[Row]]
_PACE_SECONDS = 0.02
_OFFSET = "offset"


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

    def restore(self, snapshot: Sections) -> None:
        """Go on from a snapshot."""
        state = snapshot.read(_OFFSET)
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

    @property
    def inputs(self) -> tuple[Process, ...]:
        """None."""
        return ()

    def finish(self) -> Sequence[Row]:
        """Nothing is held back."""
        return ()

    def snapshot(self, checkpoint: int) -> AsynchronousPart:
        """The offset."""
        offset = encode(self._source.snapshot())
        return lambda: {_OFFSET: offset}

    def notify_complete(self, checkpoint: int) -> None:
        """A source commits nothing."""

    def notify_abort(self, checkpoint: int) -> None:
        """A source keeps nothing for a checkpoint."""

    def close(self) -> None:
        """The file is closed with the reader."""
