"""Sources that can be read again from an offset, and sinks that commit in two phases.

sources           CSV, Parquet, JSON lines, folders of Parquet files, generated rows
kafka             topics of the Kafka protocol
two_phase         the two-phase commit of every sink, and the contract of an external system
parquet_sink      Parquet files, which `manifests` make visible
parquet_progress  the newest checkpoint for which every sink subtask has committed its Parquet files
sqlite_sink       a table of an SQLite database
postgres_sink     a table of a PostgreSQL server, by prepared transactions; `postgres`: the connections
staging           the pre-committed files of the Parquet and the SQLite sink
output_claims     which attempt of which run may commit; `claim_table`: the claims in a database
values            checks for values that a database cannot store
retries           repeats a request to a server that temporarily does not answer
errors            the errors of sources and sinks
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
from impl.connectors.sources.source import Source
from impl.connectors.sqlite_sink import SqliteOutput
from impl.connectors.two_phase import Output, Participant, Receipt, SinkContext, SinkState, TwoPhaseSink

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
    "SinkContext",
    "SinkState",
    "Source",
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
