"""The base of all sources over one file: partitions, offsets, and the check that the file has not changed.

Row i of the file, from 0 on, belongs to partition i mod n: row k of partition p is row k * n + p of the file.
A snapshot is the offset, the number of rows of the partition that were read, and the fingerprint of the file.
A restore reads the same rows again, or refuses a file whose content has changed (ONCE-01).

Every partition reads the whole file, block by block, and selects its rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from impl.connectors.errors import SourceChangedError, SourceError
from impl.state.shared import digest_of


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


class FileSource(ABC):
    """Reads partition `partition` of `partitions` of one file, in Arrow batches.

    A format overrides `_open` and `broken`, the errors of a file whose content is not as declared. Raises
    SourceError if the file cannot be read or the partition does not exist.
    """

    _row: int
    _offset: int
    _buffer: pa.RecordBatch
    broken: tuple[type[Exception], ...] = (pa.ArrowInvalid,)

    def __init__(self, path: Path | str, partition: int, partitions: int) -> None:
        if not 0 <= partition < partitions:
            raise SourceError(
                f"partitions are counted from 0, came partition {partition} of {partitions}; correct them"
            )
        self._path = Path(path)
        self._partition = partition
        self._partitions = partitions
        self._fingerprint = fingerprint(self._path)
        self._begin_at(0)

    @abstractmethod
    def _open(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The schema and the blocks of the whole file, in order. Raises SourceError."""

    @property
    def schema(self) -> pa.Schema:
        """The columns and types of every batch."""
        return self._schema

    @property
    def offset(self) -> int:
        """Number of rows of this partition that were read."""
        return self._offset

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows, at least one and at most `max_rows`; None at the end."""
        if max_rows < 1:
            raise SourceError(f"a batch has at least one row, came max_rows {max_rows}; ask for more")
        while self._buffer.num_rows == 0:
            block = self._next_block()
            if block is None:
                return None
            self._buffer = block
        rows = self._buffer.slice(0, max_rows)
        self._buffer = self._buffer.slice(max_rows)
        self._offset += rows.num_rows
        return rows

    def snapshot(self) -> FileOffset:
        """The offset of the source."""
        return FileOffset(self._path.name, self._fingerprint, self._partition, self._partitions, self._offset)

    def restore(self, snapshot: FileOffset) -> None:
        """Continue at the offset of a snapshot.

        Raises SourceChangedError if it is of another file or partition.
        """
        here = (self._partition, self._partitions)
        if (snapshot.partition, snapshot.partitions) != here:
            raise SourceChangedError(
                f"{self._path}: the checkpoint is of part {snapshot.partition} of {snapshot.partitions}, "
                f"this is {here[0]} of {here[1]}; restore with the parallelism of the checkpoint"
            )
        if snapshot.fingerprint != self._fingerprint:
            raise SourceChangedError(
                f"{self._path}: expected the content {snapshot.fingerprint[:16]} of the checkpoint, came "
                f"{self._fingerprint[:16]}; put the old file back, or start the job without the checkpoint"
            )
        self._begin_at(snapshot.offset)

    def _begin_at(self, offset: int) -> Self:
        """Open the file and skip the rows before `offset`."""
        self._schema, self._blocks = self._open()
        self._row = 0  # the first row of the next block, counted over the whole file
        self._offset = 0
        self._buffer = pa.RecordBatch.from_pylist([], schema=self._schema)
        while self._offset < offset:
            if self.read(offset - self._offset) is None:
                raise SourceChangedError(
                    f"{self._path}: the checkpoint has read {offset} rows of this partition, the file has "
                    f"{self._offset}; restore with the columns and types of the checkpoint"
                )
        return self

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
    """The blake2b checksum of a file's content, hexadecimal; of a zip, of the zip itself."""
    try:
        return digest_of(Path(path))
    except OSError as cause:
        raise SourceError(f"{path}: cannot be read: {cause.strerror}; correct the path") from cause
