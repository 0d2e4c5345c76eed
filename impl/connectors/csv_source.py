"""A replayable source: one of n partitions of a CSV file, plain or zipped.

Row i of the file, counted from 0 after the header, belongs to partition i mod n: the partitions are equally
long, whatever n is, and row k of partition p is row k * n + p of the file. The offset is the number of rows
of this partition read so far, and with the fingerprint of the file it is the whole snapshot: restoring it
reads the same rows again, or refuses a file whose content has changed (ONCE-01).

Every partition parses the whole file and takes its rows: parsing runs at several hundred MB a second, and
a text file cannot be entered in its middle without counting.
"""

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from impl.connectors.errors import SourceChangedError, SourceError

_BLOCK_BYTES = 1 << 22
_HASH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class CsvOffset:
    """The snapshot of one partition."""

    file: str
    """The name, for messages only; a file may move."""
    fingerprint: str
    partition: int
    partitions: int
    offset: int
    """Rows of this partition read so far."""


class CsvSource:
    """Reads partition `partition` of `partitions`, in batches of Arrow.

    `columns`: which to read, in this order; all of them if left out. `types`: of columns whose type shall
    not be inferred from the first rows. `member`: which file of a zip; its only one if left out.
    """

    _reader: pacsv.CSVStreamingReader
    _row: int
    _offset: int
    _buffer: pa.RecordBatch

    def __init__(
        self,
        path: Path | str,
        *,
        partition: int = 0,
        partitions: int = 1,
        columns: Sequence[str] | None = None,
        types: Mapping[str, pa.DataType] | None = None,
        member: str | None = None,
    ) -> None:
        if not 0 <= partition < partitions:
            raise SourceError(
                f"partitions are counted from 0, came partition {partition} of {partitions}; correct them"
            )
        self._path = Path(path)
        self._partition = partition
        self._partitions = partitions
        self._columns = list(columns) if columns is not None else None
        self._types = dict(types or {})
        self._member = member
        self._fingerprint = fingerprint(self._path)
        self._begin_at(self._open(), 0)

    @property
    def schema(self) -> pa.Schema:
        """The columns and types of every batch."""
        return self._reader.schema

    @property
    def offset(self) -> int:
        """Rows of this partition read so far."""
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

    def snapshot(self) -> CsvOffset:
        """Where the source stands now."""
        return CsvOffset(self._path.name, self._fingerprint, self._partition, self._partitions, self._offset)

    def restore(self, snapshot: CsvOffset) -> None:
        """Go to where a snapshot stood; `SourceChangedError` if it is of another file or partition."""
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
        self._begin_at(self._open(), snapshot.offset)

    def _begin_at(self, reader: pacsv.CSVStreamingReader, offset: int) -> None:
        """Take `reader`, which stands at the first row, and skip what was read before."""
        self._reader = reader
        self._row = 0  # the first row of the next block, counted over the whole file
        self._offset = 0
        self._buffer = pa.RecordBatch.from_pylist([], schema=reader.schema)
        while self._offset < offset:
            if self.read(offset - self._offset) is None:
                raise SourceChangedError(
                    f"{self._path}: the checkpoint has read {offset} rows of this partition, the file has "
                    f"{self._offset}; restore with the columns and types of the checkpoint"
                )

    def _next_block(self) -> pa.RecordBatch | None:
        """This partition's rows of the next block of the file, perhaps none; None at the end."""
        try:
            block = self._reader.read_next_batch()
        except StopIteration:
            return None
        except pa.ArrowInvalid as cause:
            raise SourceError(
                f"{self._path}: from row {self._row} on it is not as declared: {cause}; "
                "correct the file, or declare the types of its columns"
            ) from cause
        first = (self._partition - self._row) % self._partitions
        self._row += block.num_rows
        if self._partitions == 1:
            return block
        return block.take(pa.array(np.arange(first, block.num_rows, self._partitions)))

    def _open(self) -> pacsv.CSVStreamingReader:
        convert = pacsv.ConvertOptions(include_columns=self._columns, column_types=self._types)
        try:
            return pacsv.open_csv(
                self._stream(),
                read_options=pacsv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
                convert_options=convert,
            )
        except (OSError, zipfile.BadZipFile, pa.ArrowException, KeyError) as cause:
            raise SourceError(
                f"{self._path}: expected a CSV file with a header and the columns "
                f"{self._columns or 'it has'}, came {cause}; correct the path or the columns"
            ) from cause

    def _stream(self) -> IO[bytes]:
        if not zipfile.is_zipfile(self._path):
            return self._path.open("rb")
        archive = zipfile.ZipFile(self._path)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if self._member is None and len(names) != 1:
            raise SourceError(f"{self._path}: holds {names}; name one of them as `member`")
        return archive.open(self._member or names[0])


def fingerprint(path: Path | str) -> str:
    """The blake2b checksum of a file's content, hexadecimal; of a zip, of the zip itself."""
    digest = hashlib.blake2b(digest_size=32)
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_HASH_BYTES):
                digest.update(block)
    except OSError as cause:
        raise SourceError(f"{path}: cannot be read: {cause.strerror}; correct the path") from cause
    return digest.hexdigest()
