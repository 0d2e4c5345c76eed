"""A source of our runtime that reads Parquet files at a rate, and records when its first row was due."""

import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from impl.connectors import ParquetFolder, Source
from impl.spark.worker.sources import ToRows


@dataclass(frozen=True, slots=True)
class PacedInput:
    """The files of `path` as the source of a job. `begun`: the folder for the partitions' start times."""

    path: Path
    begun: Path
    rows_per_second: float
    to_rows: ToRows | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """Open the partition at its beginning."""
        source = PacedSource(self.path, partition=partition, partitions=partitions, dictionaries=True)
        source.record(self.begun / f"begun-{partition}", self.rows_per_second / partitions)
        return source


class PacedSource(ParquetFolder):
    """One partition. No row is read before it is due, so each read gives a latest possible start."""

    def record(self, file: Path, rate: float) -> None:
        """Record the start in this file, in ns since the epoch. `rate`: rows a second of this partition."""
        self._file = file
        self._rate = rate
        self._begun: int | None = None

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows; None at the end. Records the start that this read gives if it is the earliest."""
        now = time.time_ns()
        rows = super().read(max_rows)
        if rows is not None:
            begun = now - int(self.offset / self._rate * 1e9)
            if self._begun is None or begun < self._begun:
                self._begun = begun
                self._file.write_text(str(begun), encoding="utf-8")
        return rows
