"""A source over a folder of Parquet files that can be read again from an offset.

File i, in the order of names, belongs to partition i mod n, so each file is read by one partition. The offset
is the number of rows that were read from all files of the partition. The snapshot lists the files of the
folder, and a restore with other files raises SourceChangedError (ONCE-01).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from impl.connectors.errors import SourceChangedError, SourceError
from impl.connectors.sources.file_source import FileOffset
from impl.connectors.sources.parquet_source import ParquetSource
from impl.connectors.sources.source import Source


@dataclass(frozen=True, slots=True)
class FolderOffset:
    """The snapshot of one partition."""

    files: tuple[str, ...]
    """The names of all files of the folder."""
    partition: int
    partitions: int
    finished: int
    """Number of rows of all files that were read to the end."""
    number: int
    """Number of files that were read to the end."""
    current: FileOffset | None
    """The offset in the next file; None if none of its rows was read, or there is no next file."""


class ParquetFolder(Source):
    """Reads partition `partition` of `partitions`, file after file, each as a `ParquetSource`.

    Raises SourceError if the folder has no Parquet file or the partition does not exist.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        partition: int = 0,
        partitions: int = 1,
        columns: Sequence[str] | None = None,
        dictionaries: bool = False,
    ) -> None:
        super().__init__(folder, partition, partitions)
        self._folder = Path(folder)
        self._columns = columns
        self._dictionaries = dictionaries
        self._files = tuple(sorted(one.name for one in self._folder.glob("*.parquet")))
        if not self._files:
            raise SourceError(f"{folder}: expected files *.parquet, got 0 files; correct the folder")
        self._own = self._files[partition::partitions]
        self._number = 0
        self._current: ParquetSource | None = None

    def _next_rows(self, max_rows: int) -> pa.RecordBatch | None:
        while self._number < len(self._own):
            if self._current is None:
                self._current = self._open()
            rows = self._current.read(max_rows)
            if rows is not None:
                return rows
            self._number += 1
            self._current = None
        return None

    def snapshot(self) -> FolderOffset:
        """The offset of the source."""
        current = self._current.snapshot() if self._current else None
        finished = self.offset - (current.offset if current else 0)
        return FolderOffset(self._files, self._partition, self._partitions, finished, self._number, current)

    def _continue_at(self, snapshot: FolderOffset) -> None:
        if snapshot.files != self._files:
            raise SourceChangedError(
                f"{self._folder}: expected the {len(snapshot.files)} files of the checkpoint, got "
                f"{len(self._files)}, and their names differ; put the old files back, or start the job "
                "without the checkpoint"
            )
        self.offset, self._number, self._current = snapshot.finished, snapshot.number, None
        if snapshot.current is not None:
            self.offset += snapshot.current.offset
            self._current = self._open()
            self._current.restore(snapshot.current)

    def _open(self) -> ParquetSource:
        path = self._folder / self._own[self._number]
        return ParquetSource(path, columns=self._columns, dictionaries=self._dictionaries)
