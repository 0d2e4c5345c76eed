"""Transactions as files: a sink writes rows to a staging file. A pre-commit closes, syncs and renames it.

data/.2-<lineage>-sink-0-8.parquet.staging    transaction 8 of subtask sink-0 in attempt 2, still open
data/2-<lineage>-sink-0-8.parquet             pre-committed

With an object store the staging file is on the host of the subtask, and a pre-commit uploads it.
"""

from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.errors import ConnectorError
from impl.connectors.manifests import DataFile
from impl.state.durable import remove_file
from impl.state.errors import storage_errors
from impl.state.locations import Where, location_of

_ROW_GROUP: Final = 1 << 16
"""The number of rows in a row group, and in the buffer for it."""


class StagedFiles:
    """The transactions of one sink subtask, as files in `directory`. One transaction is open at a time.

    `owner`: the beginning of every file name, with attempt, lineage and subtask. Participants that stage
    their rows derive from this class. Methods raise StorageError if the storage reports an error.
    """

    def __init__(self, directory: Where, owner: str) -> None:
        self._location = location_of(directory)
        self._owner = owner
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._rows = 0
        self._open: str | None = None
        self._writer: pq.ParquetWriter | None = None
        self._location.make_folder("data")

    def remnant(self, transaction: int) -> str:
        """The file of an open transaction, relative to the directory."""
        return f"data/.{self._owner}-{transaction}.parquet.staging"

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Write rows to the open transaction."""
        self._buffer.append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= _ROW_GROUP:
            self._flush(transaction)

    def stage(self, transaction: int) -> DataFile | None:
        """Close the file and make it durable; returns it, or None for a transaction without rows."""
        self._flush(transaction)
        if self._writer is None or self._open is None:
            return None
        staging = self._location.scratch(self._open)
        name = f"data/{self._owner}-{transaction}.parquet"
        with storage_errors("pre-committing", staging):
            try:
                self._writer.close()
            finally:
                self._writer = None
        size, checksum = self._location.adopt(name, staging)
        self._open = None
        rows, self._rows = self._rows, 0
        return DataFile(name, rows, size, checksum)

    def abort(self, remnant: str) -> None:
        """Remove the file of an open transaction, if it exists."""
        remove_file(self._location.scratch(remnant))

    def close(self) -> None:
        """Abort the open transaction. Pre-committed files stay."""
        self._buffer.clear()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._open is not None:
            self.abort(self._open)
            self._open = None

    def _flush(self, transaction: int) -> None:
        """Write the buffered rows. Raises ConnectorError if their schemas differ."""
        if not self._buffered:
            self._buffer.clear()
            return
        self._open = self.remnant(transaction)
        path = self._location.scratch(self._open)
        try:
            with storage_errors("writing", path):
                table = pa.Table.from_batches(self._buffer)
                if self._writer is None:  # a dictionary costs more time than it saves
                    self._writer = pq.ParquetWriter(path, table.schema, use_dictionary=False)
                self._writer.write_table(table, row_group_size=_ROW_GROUP)
        except (pa.ArrowInvalid, ValueError) as cause:
            raise ConnectorError(
                f"{path}: expected one schema for all rows of a transaction, got {cause}; write batches of "
                "one schema"
            ) from cause
        self._rows += self._buffered
        self._buffer.clear()
        self._buffered = 0
