"""A source that generates its rows, for measurements and for jobs without an input file."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from impl.connectors.errors import SourceChangedError, SourceError
from impl.connectors.sources.source import Source

SCHEMA = pa.schema({"value": pa.int64()})


@dataclass(frozen=True, slots=True)
class RateOffset:
    """The snapshot of one partition."""

    rows: int
    partition: int
    partitions: int
    offset: int


class RateSource(Source):
    """The numbers from 0 to `rows` - 1: number k * n + p is row k of partition p of n."""

    schema = SCHEMA

    def __init__(self, rows: int, *, partition: int = 0, partitions: int = 1) -> None:
        super().__init__(f"the numbers below {rows}", partition, partitions)
        if rows < 0:
            raise SourceError(f"expected rows from 0 on, got {rows} rows; correct them")
        self._rows = rows

    def _next_rows(self, max_rows: int) -> pa.RecordBatch | None:
        first = self._partition + self.offset * self._partitions
        last = min(first + max_rows * self._partitions, self._rows)
        numbers = np.arange(first, last, self._partitions, dtype=np.int64)
        if not len(numbers):
            return None
        return pa.RecordBatch.from_arrays([pa.array(numbers)], schema=SCHEMA)

    def snapshot(self) -> RateOffset:
        """The offset of the source."""
        return RateOffset(self._rows, self._partition, self._partitions, self.offset)

    def _continue_at(self, snapshot: RateOffset) -> None:
        if snapshot.rows != self._rows:
            raise SourceChangedError(
                f"the checkpoint is of a source of {snapshot.rows} rows, this source has {self._rows}; "
                "restore with the options of the checkpoint"
            )
        self.offset = snapshot.offset
