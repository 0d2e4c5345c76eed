"""A source without an end, whose rows can be counted at any moment: a folder of Parquet files, ever again.

Each partition counts the rows that it has read in a file of eight bytes, mapped into memory: another process
sees the count at once, and writing it costs nothing.
"""

import mmap
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from impl.connectors import ParquetFolder
from impl.connectors.sources.parquet_folder import FolderOffset
from impl.spark.worker.sources import ToRows

_BYTES = 8


@dataclass(frozen=True, slots=True)
class EndlessInput:
    """The files of `path` as the source of a job. `counts`: the folder with the counts of rows."""

    path: Path
    counts: Path
    to_rows: ToRows | None = None
    rows_per_second: float | None = None

    def open(self, partition: int, partitions: int) -> "EndlessSource":
        """The partition, at its beginning."""
        folder = ParquetFolder(
            self.path, partition=partition, partitions=partitions, dictionaries=self.to_rows is None
        )
        return EndlessSource(folder, self.counts / str(partition))


@dataclass(frozen=True, slots=True)
class EndlessOffset:
    """The snapshot of one partition: rows of the rounds before, and where it stands in this one."""

    before: int
    here: FolderOffset


class EndlessSource:
    """One partition; `count`: the file in which it counts its rows."""

    def __init__(self, folder: ParquetFolder, count: Path) -> None:
        self._folder = folder
        self._beginning = folder.snapshot()
        self._before = 0
        count.parent.mkdir(parents=True, exist_ok=True)
        count.write_bytes(bytes(_BYTES))
        self._count = counter(count)

    @property
    def offset(self) -> int:
        """Rows read so far, in all rounds."""
        return self._before + self._folder.offset

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows, at least one; there is no end."""
        rows = self._folder.read(max_rows)
        if rows is None:
            self._before += self._folder.offset
            self._folder.restore(self._beginning)
            rows = self._folder.read(max_rows)
        self._count[0] = self.offset
        return rows

    def snapshot(self) -> EndlessOffset:
        """Where it stands now."""
        return EndlessOffset(self._before, self._folder.snapshot())

    def restore(self, snapshot: EndlessOffset) -> None:
        """Go to where a snapshot stood; `SourceChangedError` if it is another folder's."""
        self._folder.restore(snapshot.here)
        self._before = snapshot.before


def counter(file: Path) -> memoryview:
    """The number in a file of eight bytes, to be read and written at 0.

    A view stores it in one piece. `struct` writes zeros first, and who reads then sees a count of none.
    """
    with file.open("r+b") as opened:
        return memoryview(mmap.mmap(opened.fileno(), _BYTES)).cast("q")


def rows_read(counts: Path) -> int:
    """What all partitions have read by now."""
    return sum(counter(one)[0] for one in counts.iterdir())
