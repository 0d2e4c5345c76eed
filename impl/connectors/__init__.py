"""The ends of a job: sources that can be replayed from an offset, and sinks that commit in two phases.

`file_source` is what sources over one file share: `csv_source`, `parquet_source`, `json_source` (JSON lines);
`rate_source` makes its rows. `parquet_sink` writes Parquet files that become visible by the manifests of
`manifests`, where committed output is also read and left-overs are swept; `errors` is what can go wrong.
"""

from impl.connectors.csv_source import CsvSource
from impl.connectors.errors import (
    ConnectorError,
    OutputCorruptError,
    SinkConflictError,
    SourceChangedError,
    SourceError,
)
from impl.connectors.file_source import FileOffset, FileSource
from impl.connectors.json_source import JsonLinesSource
from impl.connectors.manifests import DataFile, Manifest, list_committed, read_committed, sweep
from impl.connectors.parquet_sink import ParquetSink, ParquetSinkState
from impl.connectors.parquet_source import ParquetSource
from impl.connectors.rate_source import RateOffset, RateSource

__all__ = [
    "ConnectorError",
    "CsvSource",
    "DataFile",
    "FileOffset",
    "FileSource",
    "JsonLinesSource",
    "Manifest",
    "OutputCorruptError",
    "ParquetSink",
    "ParquetSinkState",
    "ParquetSource",
    "RateOffset",
    "RateSource",
    "SinkConflictError",
    "SourceChangedError",
    "SourceError",
    "list_committed",
    "read_committed",
    "sweep",
]
