"""The ends of a job: sources that can be replayed from an offset, and sinks that commit in two phases.

`file_source` is what sources over one file share: `csv_source`, `parquet_source`, `json_source` (JSON
lines); `parquet_folder` reads many of them, `rate_source` makes its rows. `two_phase` commits for every
sink, and says what the system behind one has to promise: `parquet_sink` writes files that become visible by
the manifests of `manifests`, and `frontier` tells how far they are whole; `sqlite_sink` writes the rows of
an embedded database, `postgres_sink` prepares transactions in a server with which `postgres` speaks;
`staging` is what the first two keep until then, `values` what a database cannot hold. `errors` is what can go
wrong.
"""

from impl.connectors.errors import (
    ConnectorError,
    OutputCorruptError,
    PreparedTransactionsDisabledError,
    ServerLostError,
    SinkConflictError,
    SourceChangedError,
    SourceError,
    TransactionLostError,
    ValueRefusedError,
)
from impl.connectors.manifests import DataFile, Manifest, list_committed, read_committed, sweep
from impl.connectors.parquet_sink import ParquetFiles, ParquetOutput
from impl.connectors.postgres_sink import PostgresOutput
from impl.connectors.sources.csv_source import CsvSource
from impl.connectors.sources.file_source import FileOffset, FileSource
from impl.connectors.sources.json_source import JsonLinesSource
from impl.connectors.sources.parquet_folder import FolderOffset, ParquetFolder
from impl.connectors.sources.parquet_source import ParquetSource
from impl.connectors.sources.rate_source import RateOffset, RateSource
from impl.connectors.sqlite_sink import SqliteOutput
from impl.connectors.two_phase import Output, Participant, Receipt, SinkPlace, SinkState, TwoPhaseSink

__all__ = [
    "ConnectorError",
    "CsvSource",
    "DataFile",
    "FileOffset",
    "FileSource",
    "FolderOffset",
    "JsonLinesSource",
    "Manifest",
    "Output",
    "OutputCorruptError",
    "ParquetFiles",
    "ParquetFolder",
    "ParquetOutput",
    "ParquetSource",
    "Participant",
    "PostgresOutput",
    "PreparedTransactionsDisabledError",
    "RateOffset",
    "RateSource",
    "Receipt",
    "ServerLostError",
    "SinkConflictError",
    "SinkPlace",
    "SinkState",
    "SourceChangedError",
    "SourceError",
    "SqliteOutput",
    "TransactionLostError",
    "TwoPhaseSink",
    "ValueRefusedError",
    "list_committed",
    "read_committed",
    "sweep",
]
