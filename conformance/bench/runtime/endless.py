"""A source that reads a folder of Parquet files again and again, and shows how many rows it has read so far.

Each partition stores the number of rows that it has read in a file of eight bytes, which is mapped into
memory. Another process sees the number at once, and a write costs almost nothing.
"""

import mmap
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from impl.connectors import ParquetFolder, Source
from impl.spark.worker.sources import ToRows

_BYTES = 8


@dataclass(frozen=True, slots=True)
class EndlessInput:
    """The files of `path` as the source of a job. `counts`: the folder with the counts of rows."""

    path: Path
    counts: Path
    to_rows: ToRows | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> Source:
        """Open the partition at its beginning."""
        source = EndlessSource(
            self.path, partition=partition, partitions=partitions, dictionaries=self.to_rows is None
        )
        source.count_in(self.counts / str(partition))
        return source


class EndlessSource(ParquetFolder):
    """One partition, read again and again. Its offset counts the rows of all repetitions."""

    def count_in(self, file: Path) -> None:
        """Count the rows in this file, which is created with its folder."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(_BYTES))
        self._count = counter(file)

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows, at least one; never None."""
        rows = super().read(max_rows)
        if rows is None:
            self._number = 0
            rows = super().read(max_rows)
        self._count[0] = self.offset
        return rows


def counter(file: Path) -> memoryview:
    """A view of a file of eight bytes. Index 0 of the view reads and writes the number in the file.

    A write through the view is atomic. `struct` would write zeros first, and a reader could see them.
    """
    with file.open("r+b") as opened:
        return memoryview(mmap.mmap(opened.fileno(), _BYTES)).cast("q")


def rows_read(counts: Path) -> int:
    """The number of rows that all partitions have read until now."""
    return sum(counter(one)[0] for one in counts.iterdir())
