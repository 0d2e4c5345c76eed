"""The base of all sources: partitions, offsets, and the check that a checkpoint has the same partition."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pyarrow as pa

from impl.connectors.errors import SourceChangedError, SourceError


class Source(ABC):
    """Reads partition `partition` of `partitions`, and can be read again from each of its snapshots.

    `name`: the name of the source, for messages. Raises SourceError if the partition does not exist.
    """

    offset: int = 0
    """Number of rows of this partition that were read."""

    def __init__(self, name: Path | str, partition: int, partitions: int) -> None:
        if not 0 <= partition < partitions:
            raise SourceError(
                f"{name}: partitions are counted from 0, got partition {partition} of {partitions}; "
                "correct them"
            )
        self._name = name
        self._partition = partition
        self._partitions = partitions

    def read(self, max_rows: int) -> pa.RecordBatch | None:
        """The next rows, at least one and at most `max_rows`; None at the end.

        Raises SourceError if `max_rows` is below 1 or the rows are not as declared.
        """
        if max_rows < 1:
            raise SourceError(f"a batch has at least one row, got max_rows {max_rows}; raise max_rows")
        rows = self._next_rows(max_rows)
        if rows is not None:
            self.offset += rows.num_rows
        return rows

    def restore(self, snapshot: Any) -> None:  # noqa: ANN401 - its own snapshot
        """Continue at the offset of a snapshot.

        Raises SourceChangedError if it is of another source or partition.
        """
        here = (self._partition, self._partitions)
        if (snapshot.partition, snapshot.partitions) != here:
            raise SourceChangedError(
                f"{self._name}: the checkpoint is of partition {snapshot.partition} of "
                f"{snapshot.partitions}, this is {here[0]} of {here[1]}; "
                "restore with the parallelism of the checkpoint"
            )
        self._continue_at(snapshot)

    @abstractmethod
    def snapshot(self) -> object:
        """The source's position: an object with `partition` and `partitions`."""

    @abstractmethod
    def _next_rows(self, max_rows: int) -> pa.RecordBatch | None:
        """At most `max_rows` rows; None at the end."""

    @abstractmethod
    def _continue_at(self, snapshot: Any) -> None:  # noqa: ANN401 - its own snapshot
        """Continue at a snapshot of this partition. Raises SourceChangedError if the source has changed."""
