"""A source over a file of JSON lines, one object a line, that can be read again from an offset."""

import json
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from impl.column_values import column_of
from impl.connectors.errors import SourceError
from impl.connectors.sources.file_source import FileSource

_BLOCK_ROWS = 8_192


class JsonLinesSource(FileSource):
    """Reads the fields of `schema`; a missing field is null, other fields are ignored."""

    broken = (pa.ArrowException, ValueError)

    def __init__(
        self, path: Path | str, schema: pa.Schema, *, partition: int = 0, partitions: int = 1
    ) -> None:
        self._declared = schema
        self._decoder = json.JSONDecoder(parse_float=_finite)
        super().__init__(path, partition, partitions)

    def _open(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return self._declared, self._blocks_of()

    def _blocks_of(self) -> Iterator[pa.RecordBatch]:
        row = 0
        with self._path.open("rb") as lines:
            while block := list(islice((line for line in lines if line.strip()), _BLOCK_ROWS)):
                rows = [self._object(row + at, line) for at, line in enumerate(block)]
                row += len(rows)
                yield self._batch_of(rows)

    def _batch_of(self, rows: list[dict[str, object]]) -> pa.RecordBatch:
        """Rows as a batch. Raises ColumnValueError for a value that its field does not hold exactly."""
        columns = [column_of([row.get(field.name) for row in rows], field) for field in self._declared]
        return pa.RecordBatch.from_arrays(columns, schema=self._declared)

    def _object(self, row: int, line: bytes) -> dict[str, object]:
        try:
            read = self._decoder.decode(line.decode(json.detect_encoding(line), "surrogatepass"))
        except ValueError as cause:
            raise SourceError(
                f"{self._path}: row {row} is no JSON: {cause}; correct that line, it is {line[:60]!r}"
            ) from cause
        if not isinstance(read, dict):
            raise SourceError(
                f"{self._path}: row {row} is expected to be an object, got {line[:60]!r}; correct that line"
            )
        return read


def _finite(text: str) -> float:
    """A number with a fraction or an exponent. Raises ValueError if it is beyond a float's range."""
    number = float(text)
    if number in (math.inf, -math.inf):
        raise ValueError(f"the number {text} is larger than a float can be")
    return number
