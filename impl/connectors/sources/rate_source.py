"""A source that generates its rows, for measurements and for jobs without an input file."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from impl.connectors.errors import SourceChangedError, SourceError

SCHEMA = pa.schema({"value": pa.int64()})


@dataclass(frozen=True, slots=True)
class RateOffset:
    """The snapshot of one partition."""

    rows: int
    partition: int
    partitions: int
    offset: int


class RateSource:
    """The numbers from 0 to `rows` - 1: number k * n + p is row k of partition p of n."""

    schema = SCHEMA

    def __init__(self, rows: int, *, partition: int = 0, partitions: int = 1) -> None:
        if rows < 0 or not 0 <= partition < partitions:
            raise SourceError(
                f"expected rows from 0 on and a partition below {partitions}, came {rows} rows and "
                f"partition {partition}; correct them"
            )
        self._rows = rows
        self._partition = partition
        self._partitions = partitions
        self._offset = 0

    @property
    def offset(self) -> int:
        """Number of rows of this partition that were generated."""
        return self._offset

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows, at least one and at most `max_rows`; None at the end."""
        if max_rows < 1:
            raise SourceError(f"a batch has at least one row, came max_rows {max_rows}; ask for more")
        first = self._partition + self._offset * self._partitions
        last = min(first + max_rows * self._partitions, self._rows)
        numbers = np.arange(first, last, self._partitions, dtype=np.int64)
        if not len(numbers):
            return None
        self._offset += len(numbers)
        return pa.RecordBatch.from_arrays([pa.array(numbers)], schema=SCHEMA)

    def snapshot(self) -> RateOffset:
        """The offset of the source."""
        return RateOffset(self._rows, self._partition, self._partitions, self._offset)

    def restore(self, snapshot: RateOffset) -> None:
        """Continue at the offset of a snapshot.

        Raises SourceChangedError if it is of another source or partition.
        """
        there = (snapshot.rows, snapshot.partition, snapshot.partitions)
        here = (self._rows, self._partition, self._partitions)
        if there != here:
            raise SourceChangedError(
                f"the checkpoint is of {there[0]} rows, part {there[1]} of {there[2]}; here are {here[0]} "
                f"rows, part {here[1]} of {here[2]}; restore with the options of the checkpoint"
            )
        self._offset = snapshot.offset
