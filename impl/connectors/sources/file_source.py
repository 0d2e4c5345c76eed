"""The base of all sources over one file: partitions, offsets, and the check that the file has not changed.

Row i of the file, from 0 on, belongs to partition i mod n: row k of partition p is row k * n + p of the file.
A snapshot has the offset, which is the number of rows of the partition that were read, and the fingerprint
(a checksum) of the file. A restore reads the same rows again, or refuses a file whose content has changed
(ONCE-01).

Every partition reads the whole file, block by block, and selects its rows.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from impl.connectors.errors import SourceChangedError, SourceError
from impl.connectors.sources.source import Source
from impl.state.digests import digest_of


@dataclass(frozen=True, slots=True)
class FileOffset:
    """The snapshot of one partition."""

    file: str
    """The name, for messages only; a file may move."""
    fingerprint: str
    partition: int
    partitions: int
    offset: int
    """Number of rows of this partition that were read."""


class FileSource(Source):
    """Reads partition `partition` of `partitions` of one file, in Arrow batches.

    A subclass for a file format overrides `_open` and `broken`. `broken`: the types of the errors for content
    that is not as declared. Raises SourceError if the file cannot be read or the partition does not exist.
    """

    _buffer: pa.RecordBatch
    broken: tuple[type[Exception], ...] = (pa.ArrowInvalid,)

    def __init__(self, path: Path | str, partition: int, partitions: int) -> None:
        super().__init__(path, partition, partitions)
        self._path = Path(path)
        self._fingerprint = fingerprint(self._path)
        self._begin_at(0)

    @abstractmethod
    def _open(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The schema and the blocks of the whole file, in order. Raises SourceError."""

    @property
    def schema(self) -> pa.Schema:
        """The columns and types of every batch."""
        return self._schema

    def _next_rows(self, max_rows: int) -> pa.RecordBatch | None:
        while self._buffer.num_rows == 0:
            block = self._next_block()
            if block is None:
                return None
            self._buffer = block
        rows = self._buffer.slice(0, max_rows)
        self._buffer = self._buffer.slice(max_rows)
        return rows

    def snapshot(self) -> FileOffset:
        """The offset of the source, with the fingerprint of the file."""
        return FileOffset(self._path.name, self._fingerprint, self._partition, self._partitions, self.offset)

    def _continue_at(self, snapshot: FileOffset) -> None:
        if snapshot.fingerprint != self._fingerprint:
            raise SourceChangedError(
                f"{self._path}: expected the content {snapshot.fingerprint[:16]} of the checkpoint, got "
                f"{self._fingerprint[:16]}; put the old file back, or start the job without the checkpoint"
            )
        self._begin_at(snapshot.offset)

    def _begin_at(self, offset: int) -> None:
        """Open the file and skip the rows before `offset`. Raises SourceChangedError if it has fewer."""
        self._schema, self._blocks = self._open()
        self._row = 0  # the first row of the next block, counted over the whole file
        self.offset = 0
        self._buffer = pa.RecordBatch.from_pylist([], schema=self._schema)
        while self.offset < offset:
            if self.read(offset - self.offset) is None:
                raise SourceChangedError(
                    f"{self._path}: the checkpoint has read {offset} rows of this partition, the file has "
                    f"{self.offset}; restore with the columns and types of the checkpoint"
                )

    def _next_block(self) -> pa.RecordBatch | None:
        """The rows of this partition in the next block of the file, perhaps none; None at the end."""
        try:
            block = next(self._blocks, None)
        except self.broken as cause:
            raise SourceError(
                f"{self._path}: from row {self._row} on it is not as declared: {cause}; "
                "correct the file, or declare the types of its columns"
            ) from cause
        if block is None:
            return None
        first = (self._partition - self._row) % self._partitions
        self._row += block.num_rows
        if self._partitions == 1:
            return block
        return block.take(pa.array(np.arange(first, block.num_rows, self._partitions)))


def fingerprint(path: Path | str) -> str:
    """The blake2b checksum of a file's content, as hexadecimal text. A zip is not unpacked for it.

    Raises SourceError if the file cannot be read.
    """
    try:
        return digest_of(Path(path))
    except OSError as cause:
        raise SourceError(f"{path}: cannot be read: {cause.strerror}; correct the path") from cause
