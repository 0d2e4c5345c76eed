"""The errors of sources and sinks. Every message names the file or table and states what to do."""


class ConnectorError(Exception):
    """A source cannot read, or a sink cannot write."""


class SourceError(ConnectorError):
    """The source's file is missing or is not what was declared."""


class SourceChangedError(ConnectorError):
    """The source is not the one of the checkpoint, so its offsets mean other rows (ONCE-01)."""


class ValueRefusedError(ConnectorError):
    """A sink cannot hold a value, and has not pre-committed it. The message names column and value."""


class SinkConflictError(ConnectorError):
    """Another output was committed under this subtask and checkpoint."""


class OutputCorruptError(ConnectorError):
    """Committed output, or its manifest, was altered or removed."""


class ServerLostError(ConnectorError):
    """The database server does not answer, or is busy with the transaction; its last action is unknown."""


class DatabaseLockedError(ConnectorError):
    """Another process holds the write lock of an SQLite database for too long."""


class PreparedTransactionsDisabledError(ConnectorError):
    """The PostgreSQL server has `max_prepared_transactions` 0, so it cannot pre-commit."""


class TransactionLostError(ConnectorError):
    """A pre-committed transaction neither exists nor is committed; it was rolled back (SINK-08)."""


class OffsetsLostError(SourceError):
    """The broker no longer has the records at the source's position. No restart brings them back."""
