"""The declarations of file and rate sources, and the operators that read sources."""

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from impl.batches import Rows
from impl.connectors import CsvSource, JsonLinesSource, ParquetFolder, ParquetSource, RateSource, Source
from impl.graph.plan import Row
from impl.graph.rescaling import SPLITS, splits_in
from impl.spark.worker.operators import Operator
from impl.state import AsynchronousPart, Sections, StateError, encode
from impl.state.shared import SharedFiles

ToRows = Callable[[pa.RecordBatch, int, int], list[Row]]
_BATCH_SECONDS = 0.02


class Input(Protocol):
    """The declaration of a source. Its partitions are called splits. A subtask reads any number of splits."""

    @property
    def to_rows(self) -> ToRows | None:
        """A function that makes rows of a batch, its partition, and the offset of its first row.

        None: batches are not converted to rows, and are sent unchanged.
        """

    @property
    def rows_per_second(self) -> float | None:
        """The maximum rate of all subtasks together; None: no limit."""

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""


@dataclass(frozen=True, slots=True)
class _PathInput:
    path: Path
    """A source that reads a path. A relative path is relative to the driver's working folder."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).absolute())


@dataclass(frozen=True, slots=True)
class CsvInput(_PathInput):
    """A CSV file as the source of a job."""

    to_rows: ToRows | None = None
    columns: tuple[str, ...] | None = None
    types: Mapping[str, pa.DataType] | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return CsvSource(
            self.path, partition=partition, partitions=partitions, columns=self.columns, types=self.types
        )


@dataclass(frozen=True, slots=True)
class ParquetInput(_PathInput):
    """A Parquet file, or a folder of Parquet files, as the source of a job."""

    to_rows: ToRows | None = None
    columns: tuple[str, ...] | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        source = ParquetFolder if self.path.is_dir() else ParquetSource
        return source(
            self.path,
            partition=partition,
            partitions=partitions,
            columns=self.columns,
            dictionaries=self.to_rows is None,
        )


@dataclass(frozen=True, slots=True)
class JsonLinesInput(_PathInput):
    """A file of JSON lines as the source of a job, with a declared schema."""

    schema: pa.Schema
    to_rows: ToRows | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return JsonLinesSource(self.path, self.schema, partition=partition, partitions=partitions)


@dataclass(frozen=True, slots=True)
class RateInput:
    """The numbers below `rows` as the source of a job."""

    rows: int
    to_rows: ToRows | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """The partition, at its beginning."""
        return RateSource(self.rows, partition=partition, partitions=partitions)


class SourceOperator(Operator):
    """Reads the source of one subtask. `rate`: the maximum rows per second of the subtask; None: no limit."""

    def __init__(self, rate: float | None, batch_rows: int) -> None:
        self._rate = rate
        self._batch_rows = batch_rows
        if rate is not None:
            self._batch_rows = max(1, min(batch_rows, int(rate * _BATCH_SECONDS)))
        self._begun: float | None = None
        self._read = 0

    @property
    @abstractmethod
    def offset(self) -> int:
        """The number of rows that the subtask has read, including those before a restore."""

    @abstractmethod
    def read_next(self, most: int) -> tuple[int, Rows] | None:
        """Read at most `most` source rows. Returns their number and the resulting rows; None at the end."""

    def pause(self, now: float) -> float:
        """The seconds until the rate allows the next batch; 0: now."""
        if self._begun is None:
            self._begun = now
        if not self._rate:
            return 0
        return max(0, (self._read + self._batch_rows) / self._rate - (now - self._begun))

    def read(self) -> Rows | None:
        """The next rows; empty if the rate does not allow a batch yet; None at the end."""
        if self.pause(time.monotonic()) > 0:
            return []
        found = self.read_next(self._batch_rows)
        if found is None:
            return None
        count, rows = found
        self._read += count
        return rows


class SplitsOperator(SourceOperator):
    """Reads the splits of one subtask in turn, at its rate. The offsets of the splits are its state.

    `splits`: the number of all splits. `own`: maps the splits of the subtask to their positions; None: the
    beginning. A subtask may have no split.
    """

    def __init__(self, spec: Input, splits: int, own: Mapping[int, object], batch_rows: int) -> None:
        rate = spec.rows_per_second * len(own) / splits if spec.rows_per_second else None
        super().__init__(rate, batch_rows)
        self._splits = splits
        self._own = {split: spec.open(split, splits) for split in own}
        self.listeners = tuple(self._own.values())
        for split, state in own.items():
            if state is not None:
                _restore(self._own[split], state)
        self._unread = deque(self._own)
        self._to_rows = spec.to_rows

    @property
    def offset(self) -> int:
        """The number of rows of its splits that were read, including those before a restore."""
        return sum(source.offset for source in self._own.values())

    def read_next(self, most: int) -> tuple[int, Rows] | None:
        """The next rows of one split. Successive calls read the splits in turn."""
        while self._unread:
            split = self._unread[0]
            first = self._own[split].offset
            batch = self._own[split].read(most)
            if batch is not None:
                self._unread.rotate(-1)
                return batch.num_rows, batch if self._to_rows is None else self._to_rows(batch, split, first)
            self._unread.popleft()
        return None

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """A snapshot of the offsets."""
        offsets = {split: source.snapshot() for split, source in self._own.items()}
        encoded = encode((self._splits, offsets))
        return lambda: {SPLITS: encoded}


def _restore(source: Source, state: object) -> None:
    if type(state) is not type(source.snapshot()):
        raise StateError(f"expected a source's offset, got {type(state).__name__}")
    source.restore(state)


def splits_of(
    index: int, parallelism: int, splits: int | None, before: Sequence[Sections]
) -> tuple[int, dict[int, object]]:
    """The number of all splits, and the splits of subtask `index` with their positions.

    `splits`: the declared number, or None. `before`: the restored snapshots of all subtasks; empty at the
    beginning.
    """
    if not before:
        count = splits or parallelism
        return count, dict.fromkeys(range(index, count, parallelism))
    if len(before) == parallelism:
        return splits_in(before[index])
    count = 0
    known: dict[int, object] = {}
    for snapshot in before:
        count, own = splits_in(snapshot)
        known |= own
    return count, {split: known[split] for split in range(index, count, parallelism)}
