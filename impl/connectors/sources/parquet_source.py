"""A source over a Parquet file that can be read again from an offset."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import SourceError
from impl.connectors.sources.file_source import FileSource

_BLOCK_ROWS = 65_536


class ParquetSource(FileSource):
    """Reads a Parquet file. `columns`: the columns to read, in this order; None: all.

    `dictionaries`: whether batches have columns of strings dictionary-encoded, which most files have. Raises
    SourceError if the file or a column cannot be read.
    """

    broken = (pa.ArrowInvalid, OSError)

    def __init__(
        self,
        path: Path | str,
        *,
        partition: int = 0,
        partitions: int = 1,
        columns: Sequence[str] | None = None,
        dictionaries: bool = False,
    ) -> None:
        self._columns = list(columns) if columns is not None else None
        self._dictionaries = dictionaries
        super().__init__(path, partition, partitions)

    def _strings(self) -> list[str]:
        """The columns that are read as dictionaries."""
        fields = pq.read_schema(self._path) if self._dictionaries else ()
        return [field.name for field in fields if pa.types.is_string(field.type)]

    def _open(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        try:
            file = pq.ParquetFile(self._path, read_dictionary=self._strings())
        except (OSError, pa.ArrowException) as cause:
            raise SourceError(
                f"{self._path}: expected a Parquet file, got {cause}; correct the path"
            ) from cause
        names = file.schema_arrow.names if self._columns is None else self._columns
        missing = [name for name in names if name not in file.schema_arrow.names]
        if missing:
            raise SourceError(
                f"{self._path}: has the columns {file.schema_arrow.names}, got also {missing}; correct "
                "`columns`"
            )
        schema = pa.schema([file.schema_arrow.field(name) for name in names])
        blocks = file.iter_batches(_BLOCK_ROWS, columns=names, use_threads=False)
        return schema, (block.select(names) for block in blocks)
