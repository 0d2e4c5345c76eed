"""What can go wrong at the ends of a job. Every message names the file and says what to do."""


class ConnectorError(Exception):
    """A source cannot read, or a sink cannot write."""


class SourceError(ConnectorError):
    """The source's file is missing or is not what was declared."""


class SourceChangedError(ConnectorError):
    """The source is not the one the checkpoint was taken of, so its offsets mean other rows (ONCE-01)."""


class ValueRefusedError(ConnectorError):
    """A sink cannot hold a value; nothing of it is pre-committed. Names column and value, and what to do."""


class SinkConflictError(ConnectorError):
    """Another output was committed under this subtask and checkpoint."""


class OutputCorruptError(ConnectorError):
    """Committed output, or its manifest, is not as it was written."""


class ServerLostError(ConnectorError):
    """The database server is gone, or is busy with the same transaction; what it last did is not known."""


class DatabaseLockedError(ConnectorError):
    """Another process holds the write lock of an SQLite database, and does not give it back."""


class PreparedTransactionsDisabledError(ConnectorError):
    """The PostgreSQL server has `max_prepared_transactions` 0, so nothing can be pre-committed."""


class TransactionLostError(ConnectorError):
    """A pre-committed transaction is neither there nor committed: somebody rolled it back (SINK-08)."""
