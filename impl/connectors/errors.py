"""The errors of sources and sinks. Every message names the file or table and states what to do."""


class ConnectorError(Exception):
    """A source cannot read, or a sink cannot write. The base class of the errors below."""


class SourceError(ConnectorError):
    """A source is missing, does not answer, or differs from its declaration."""


class SourceChangedError(ConnectorError):
    """The source has changed since the checkpoint, so the stored offsets mean other rows (ONCE-01)."""


class ValueRefusedError(ConnectorError):
    """A sink cannot store a value, and has not pre-committed it. The message names column and value."""


class SinkConflictError(ConnectorError):
    """The committed output differs from the output that this sink expects for the checkpoint."""


class OutputCorruptError(ConnectorError):
    """Committed output, or its manifest, was altered or removed."""


class ServerLostError(ConnectorError):
    """A database server or a broker does not answer, or another session uses the transaction.

    Whether the server has carried out the last request is unknown.
    """


class DatabaseLockedError(ConnectorError):
    """Another process has held the write lock of an SQLite database for more than 60 s."""


class PreparedTransactionsDisabledError(ConnectorError):
    """The PostgreSQL server has `max_prepared_transactions` 0, so the sink cannot pre-commit."""


class TransactionLostError(ConnectorError):
    """A pre-committed transaction was rolled back: it neither exists nor is committed (SINK-08)."""


class OffsetsLostError(SourceError):
    """The broker no longer has the records at the source's position, so a restart cannot read them."""
