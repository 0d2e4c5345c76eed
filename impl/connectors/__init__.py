"""The ends of a job: sources that can be replayed from an offset, and sinks that commit in two phases.

`csv_source` reads partitions of a CSV file; `parquet_sink` writes Parquet files that become visible by the
manifests of `manifests`, where committed output is also read and left-overs are swept; `errors` is what
can go wrong.
"""

from impl.connectors.csv_source import CsvOffset, CsvSource
from impl.connectors.errors import (
    ConnectorError,
    OutputCorruptError,
    SinkConflictError,
    SourceChangedError,
    SourceError,
)
from impl.connectors.manifests import DataFile, Manifest, list_committed, read_committed, sweep
from impl.connectors.parquet_sink import ParquetSink, ParquetSinkState

__all__ = [
    "ConnectorError",
    "CsvOffset",
    "CsvSource",
    "DataFile",
    "Manifest",
    "OutputCorruptError",
    "ParquetSink",
    "ParquetSinkState",
    "SinkConflictError",
    "SourceChangedError",
    "SourceError",
    "list_committed",
    "read_committed",
    "sweep",
]
