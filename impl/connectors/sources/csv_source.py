"""A source over a CSV file, plain or zipped, that can be read again from an offset."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from impl.connectors.errors import SourceError
from impl.connectors.sources.file_source import FileSource

_BLOCK_BYTES = 1 << 22
_LARGEST_EXACT = 1 << 53
"""The lowest float that may represent several integers."""


class CsvSource(FileSource):
    """Reads a CSV file with a header.

    `columns`: the columns to read, in this order; None: all. `types`: the types of columns whose type is not
    to be inferred from the first rows. `member`: the name of the file in a zip; None: its only file. Raises
    SourceError if the file cannot be read.
    """

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
        self._columns = list(columns) if columns is not None else None
        self._types = dict(types or {})
        self._member = member
        super().__init__(path, partition, partitions)

    def _open(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        convert = pacsv.ConvertOptions(include_columns=self._columns, column_types=self._types)
        try:
            reader = pacsv.open_csv(
                self._stream(),
                read_options=pacsv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
                convert_options=convert,
            )
        except (OSError, zipfile.BadZipFile, pa.ArrowException, KeyError) as cause:
            raise SourceError(
                f"{self._path}: expected a CSV file with a header and the columns "
                f"{self._columns or 'it has'}, got {cause}; correct the path or the columns"
            ) from cause
        guessed = [
            field.name
            for field in reader.schema
            if pa.types.is_floating(field.type) and field.name not in self._types
        ]
        return reader.schema, (self._exact(block, guessed) for block in reader)

    def _exact(self, block: pa.RecordBatch, guessed: Sequence[str]) -> pa.RecordBatch:
        """Return `block`. Raises SourceError for a number that may have lost digits.

        Such a number is in a column of `guessed`, the columns whose type was inferred as float. The reader
        infers this type for integers beyond 64 bits too, and rounds them.
        """
        for name in guessed:
            bounds = pc.min_max(block.column(name)).as_py()
            for number in bounds.values():
                if number is not None and abs(number) >= _LARGEST_EXACT:
                    raise SourceError(
                        f"{self._path}: column {name!r} has {number!r}, which may have lost digits, "
                        "because its type was guessed as a float; declare it in `types`: float64() to "
                        "accept rounding, or uint64(), decimal128(38, 0), string()"
                    )
        return block

    def _stream(self) -> IO[bytes]:
        if not zipfile.is_zipfile(self._path):
            return self._path.open("rb")
        archive = zipfile.ZipFile(self._path)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if self._member is None and len(names) != 1:
            raise SourceError(f"{self._path}: contains the files {names}; name one of them as `member`")
        return archive.open(self._member or names[0])
