"""Sources that can be read again from an offset, and sinks that commit in two phases.

sources           CSV, Parquet, JSON lines, folders of Parquet files, generated rows
two_phase         the two-phase commit of every sink, and the contract of an external system
parquet_sink      files that become visible by `manifests`; `frontier`: up to where they are whole
sqlite_sink       a table of an embedded database
postgres_sink     prepared transactions of a server; `postgres`: its connections
staging           the pre-committed files of the first two sinks
claims            which attempt may commit; `claim_table`: the claims of a database
values            what a database cannot hold
errors            the errors
"""

from impl.connectors.errors import ConnectorError as ConnectorError
from impl.connectors.errors import OutputCorruptError as OutputCorruptError
from impl.connectors.errors import PreparedTransactionsDisabledError as PreparedTransactionsDisabledError
from impl.connectors.errors import ServerLostError as ServerLostError
from impl.connectors.errors import SinkConflictError as SinkConflictError
from impl.connectors.errors import SourceChangedError as SourceChangedError
from impl.connectors.errors import SourceError as SourceError
from impl.connectors.errors import TransactionLostError as TransactionLostError
from impl.connectors.errors import ValueRefusedError as ValueRefusedError
from impl.connectors.manifests import DataFile as DataFile
from impl.connectors.manifests import Manifest as Manifest
from impl.connectors.manifests import list_committed as list_committed
from impl.connectors.manifests import read_committed as read_committed
from impl.connectors.manifests import sweep as sweep
from impl.connectors.parquet_sink import ParquetFiles as ParquetFiles
from impl.connectors.parquet_sink import ParquetOutput as ParquetOutput
from impl.connectors.postgres_sink import PostgresOutput as PostgresOutput
from impl.connectors.sources.csv_source import CsvSource as CsvSource
from impl.connectors.sources.file_source import FileOffset as FileOffset
from impl.connectors.sources.file_source import FileSource as FileSource
from impl.connectors.sources.json_source import JsonLinesSource as JsonLinesSource
from impl.connectors.sources.parquet_folder import FolderOffset as FolderOffset
from impl.connectors.sources.parquet_folder import ParquetFolder as ParquetFolder
from impl.connectors.sources.parquet_source import ParquetSource as ParquetSource
from impl.connectors.sources.rate_source import RateOffset as RateOffset
from impl.connectors.sources.rate_source import RateSource as RateSource
from impl.connectors.sources.source import Source as Source
from impl.connectors.sqlite_sink import SqliteOutput as SqliteOutput
from impl.connectors.two_phase import Output as Output
from impl.connectors.two_phase import Participant as Participant
from impl.connectors.two_phase import Receipt as Receipt
from impl.connectors.two_phase import SinkPlace as SinkPlace
from impl.connectors.two_phase import SinkState as SinkState
from impl.connectors.two_phase import TwoPhaseSink as TwoPhaseSink
