"""A transactional sink into a table of PostgreSQL: `PREPARE TRANSACTION` and `COMMIT PREPARED`.

The sink copies rows into one open database transaction. A pre-commit inserts a row into `barrierspec_commits`
in this transaction, and prepares the transaction under a global id. A prepared transaction survives the end
of the session and of the server. A commit is `COMMIT PREPARED`, which may be repeated. If the server stops
before the commit, the sink tries again for `patience_seconds`. Then the attempt fails, and the restore
commits (SINK-06).
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from impl.connectors import claim_table
from impl.connectors.claim_table import ClaimTable
from impl.connectors.errors import ConnectorError, SinkConflictError
from impl.connectors.output_claims import Claim
from impl.connectors.postgres import (
    COMMITS,
    GlobalId,
    commit_prepared,
    connect,
    patiently,
    prepared,
    require_prepared_transactions,
    roll_back_prepared,
    server_errors,
)
from impl.connectors.two_phase import SinkContext
from impl.connectors.values import POSTGRES, column_type, require_values

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composable, Composed


COLUMNS: Final = """
    SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""
"""The query for the columns of a table, with their types as PostgreSQL names them."""
_WIDER_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "smallint": ("integer", "bigint", "numeric"),
    "integer": ("bigint", "numeric"),
    "bigint": ("numeric",),
    "real": ("double precision",),
    "text": ("character varying",),
    "timestamp": ("timestamp without time zone",),
    "timestamptz": ("timestamp with time zone",),
}
"""Maps each type of a sink's column to the other types that hold all its values."""


def require_columns(where: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise ConnectorError unless the columns `found` hold all values of the types `expected`.

    PostgreSQL rounds a double to a real, or a decimal to the digits of its column, without an error.
    """
    for name, kind in expected.items():
        actual = found.get(name)
        if actual is None or (actual != kind and actual not in _WIDER_TYPES.get(kind, ())):
            raise ConnectorError(
                f"{where}: expected a column {name!r} of type {kind}, got {actual or 'none'}, which may "
                "change values; alter the table, give the sink another table, or declare the schema of this "
                "table"
            )


_COPY_ROWS: Final = 8_192
_ENDED_IF_PAUSED: Final = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""The statement that limits how long a paused driver keeps the lock of the claims."""
_TYPES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (lambda kind: pa.types.is_int8(kind) or pa.types.is_int16(kind), "smallint"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float32, "real"),
    (pa.types.is_float64, "double precision"),
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_string, "text"),
    (pa.types.is_binary, "bytea"),
    (pa.types.is_date, "date"),
    (lambda kind: pa.types.is_timestamp(kind) and kind.tz is None, "timestamp"),
    (pa.types.is_timestamp, "timestamptz"),
    (pa.types.is_decimal, "numeric"),
)
_TAKES: Final = "the PostgreSQL sink has no type for it; convert it before the sink, or write it as text"


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """The receipt of a pre-commit. `gid`: the global id of the prepared transaction; None without rows."""

    gid: str | None
    checkpoint: int
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The global id; no name without rows."""
        return () if self.gid is None else (self.gid,)


class PostgresRows:
    """The participant of one sink subtask. One session writes, and a second session commits."""

    def __init__(self, output: "PostgresOutput", context: SinkContext) -> None:
        self._output = output
        self._context = context
        self._writing: Connection[Any] | None = None
        self._committing: Connection[Any] | None = None
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._rows = 0

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Write rows. Raises ValueRefusedError for a value that PostgreSQL cannot store."""
        require_values(rows, POSTGRES, self._output.where)
        self._buffer.append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= _COPY_ROWS:
            self._flush()

    def pre_commit(self, transaction: int, checkpoint: int) -> PreparedRows:
        """Prepare the open transaction with its row in `barrierspec_commits`; returns the receipt.

        A transaction without rows is not prepared. Raises SupersededError if a newer attempt or another run
        has claimed the table.
        """
        from psycopg import sql

        self._flush()
        if self._writing is None or not self._rows:
            return PreparedRows(None, checkpoint, 0)
        context, rows, gid = self._context, self._rows, self.remnant(transaction)
        self._output.require_claimed(self._writing, context)
        with server_errors(f"preparing {gid}"):
            self._writing.execute(
                "INSERT INTO barrierspec_commits (gid, job, lineage, target, subtask, checkpoint, rows) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (gid, context.job, context.lineage, self._output.table, context.subtask, checkpoint, rows),
            )
            done = self._writing.execute(sql.SQL("PREPARE TRANSACTION {}").format(sql.Literal(gid)))
        if done.statusmessage != "PREPARE TRANSACTION":  # PostgreSQL has rolled back a failed transaction
            raise ConnectorError(
                f"{gid}: expected PREPARE TRANSACTION, got {done.statusmessage}, because the transaction "
                "had failed; let the job restart"
            )
        self._rows = 0
        return PreparedRows(gid, checkpoint, rows)

    def commit(self, receipt: PreparedRows) -> None:
        """Commit a transaction that any process has prepared. Connects again if the connection is lost.

        Raises SupersededError if a newer attempt or another run has claimed the table, TransactionLostError
        if the transaction was rolled back.
        """
        if receipt.gid is None:
            return
        patiently(partial(self._commit, receipt.gid), self._output.patience_seconds)

    def committed(self, checkpoint: int) -> None:
        """Do nothing, because the table shows the committed rows."""

    def remnant(self, transaction: int) -> str:
        """The global id under which a pre-commit prepares the transaction."""
        context = self._context
        return str(GlobalId(context.lineage, context.subtask, context.attempt, transaction))

    def abort(self, remnant: str) -> None:
        """Roll back a prepared transaction. An open transaction has ended with its session."""
        patiently(lambda: roll_back_prepared(self._committer(), remnant), self._output.patience_seconds)

    def close(self) -> None:
        """End the sessions. The server then rolls back the open transaction."""
        self._buffer.clear()
        for session in (self._writing, self._committing):
            if session is not None:
                session.close()
        self._writing = self._committing = None

    def _commit(self, gid: str) -> None:
        session = self._committer()
        self._output.require_claimed(session, self._context)
        commit_prepared(session, gid)

    def _committer(self) -> "Connection[Any]":
        """The session that commits. Connects again if the session was lost."""
        if self._committing is None or self._committing.closed:
            self._committing = connect(self._output.conninfo)
        return self._committing

    def _begin(self) -> "Connection[Any]":
        """Begin a transaction; returns its session. The caller may repeat this, because it writes no row."""
        if self._writing is None or self._writing.closed:
            self._writing = connect(self._output.conninfo)
        with server_errors(f"writing into {self._output.where}"):
            self._writing.execute("BEGIN")
        return self._writing

    def _flush(self) -> None:
        rows, self._buffer = [batch for batch in self._buffer if batch.num_rows], []
        self._buffered = 0
        if not rows:
            return
        if not self._rows:
            patiently(self._begin, self._output.patience_seconds)
        assert self._writing is not None
        with (
            server_errors(f"writing into {self._output.where}"),
            self._writing.cursor() as cursor,
            cursor.copy(self._output.copying()) as copy,
        ):
            for batch in rows:
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
        self._rows += sum(batch.num_rows for batch in rows)


@dataclass(frozen=True, slots=True)
class PostgresOutput:
    """A table in PostgreSQL as the sink of a job. The driver creates the table if it is missing.

    `conninfo`: a connection string of libpq, "host=... dbname=..." or a URI. `schema`: the schema of the
    rows; an existing table must have its columns. `patience_seconds`: the time that a commit waits for a lost
    server before the attempt fails. The server's `max_prepared_transactions` must not be 0.
    """

    conninfo: str = field(repr=False)
    table: str
    schema: pa.Schema
    patience_seconds: float = 30.0

    @property
    def where(self) -> str:
        """The name of the table, for messages."""
        return f"table {self.table} in PostgreSQL"

    def open(self, context: SinkContext) -> PostgresRows:
        """A new participant for one sink subtask."""
        return PostgresRows(self, context)

    def prepare(self) -> None:
        """Create the tables. Raises ConnectorError if the server or a column cannot be used."""
        from psycopg import sql

        with closing(connect(self.conninfo)) as session:
            require_prepared_transactions(session)
            types = {one.name: column_type(one, _TYPES, _TAKES) for one in self.schema}
            columns = [
                sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in types.items()
            ]
            with server_errors(f"creating {self.where}"):
                session.execute(COMMITS)
                session.execute(claim_table.CREATE)
                session.execute(
                    sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(
                        self._target, sql.SQL(", ").join(columns)
                    )
                )
                found = session.execute(COLUMNS, (self._target.as_string(session),)).fetchall()
            require_columns(self.where, types, dict(found))

    def copying(self) -> "Composed":
        """The COPY statement that inserts the rows."""
        from psycopg import sql

        names = sql.SQL(", ").join(sql.Identifier(name) for name in self.schema.names)
        return sql.SQL("COPY {} ({}) FROM STDIN").format(self._target, names)

    def holds_output(self, job: str) -> bool:
        """Whether a job with this name has committed rows into the table."""
        with closing(connect(self.conninfo)) as session, server_errors(f"reading {self.where}"):
            session.execute(COMMITS)
            return self._claims.has_commits(session, job)

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the table for an attempt; returns the lineages whose whole output the driver retracts.

        Raises SupersededError if a newer attempt of the run has claimed the table, OutputClaimedError if
        another run has committed into it. `COMMIT PREPARED` cannot check a claim, so the driver claims the
        table first. Then `sweep` rolls back the prepared transactions of older attempts and replaced runs,
        and `retract` deletes their committed rows. These attempts see the claim and prepare no further
        transaction.
        """
        return patiently(partial(self._claim, claim), self.patience_seconds)

    def _claim(self, claim: Claim) -> tuple[str, ...]:
        with closing(connect(self.conninfo)) as session, server_errors(f"claiming {self.where}"):
            session.execute(COMMITS)
            session.execute(claim_table.CREATE)
            with session.transaction():
                self._lock_claims(session, claim.job)
                return self._claims.take(session, claim)

    def require_claimed(self, session: "Connection[Any]", context: SinkContext) -> None:
        """Raise SupersededError if a newer attempt or another run of the job has claimed the table."""
        with server_errors(f"reading the claim of {self.where}"):
            self._claims.require(session, context.job, context.lineage, context.attempt)

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Roll back the prepared transactions of ended attempts of a lineage; returns their global ids."""

        def swept() -> tuple[str, ...]:
            with closing(connect(self.conninfo)) as session:
                return tuple(
                    name
                    for name, parsed in prepared(session, lineage)
                    if parsed.attempt < attempt and name not in keep and roll_back_prepared(session, name)
                )

        return patiently(swept, self.patience_seconds)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """The global ids of `names` that are neither prepared nor committed."""

        def found() -> tuple[str, ...]:
            with closing(connect(self.conninfo)) as session, server_errors(f"reading {self.where}"):
                session.execute(COMMITS)
                existing = session.execute(
                    "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() "
                    "UNION SELECT gid FROM barrierspec_commits WHERE gid = ANY(%s)",
                    (list(names),),
                )
                return tuple(sorted(set(names).difference(gid for (gid,) in existing.fetchall())))

        return patiently(found, self.patience_seconds)

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Delete the commits above a checkpoint and their rows, in one transaction; returns their global ids.

        A row and the row of its commit have the same `xmin`, because one transaction wrote both. `by`: the
        claim of the driver that retracts. Raises SupersededError if a newer claim exists. Raises
        SinkConflictError, and deletes nothing, if another program has changed or deleted rows.
        """
        which = (lineage, self.table, -1 if checkpoint is None else checkpoint)
        return patiently(partial(self._retract, which, by), self.patience_seconds)

    def _retract(self, which: tuple[str, str, int], by: Claim | None) -> tuple[str, ...]:
        from psycopg import sql

        beyond = sql.SQL("FROM barrierspec_commits WHERE lineage = %s AND target = %s AND checkpoint > %s")
        commits = sql.SQL("SELECT gid, rows {} ORDER BY gid").format(beyond)
        rows = sql.SQL("DELETE FROM {} WHERE xmin IN (SELECT xmin {})").format(self._target, beyond)
        with closing(connect(self.conninfo)) as session, server_errors(f"retracting from {self.where}"):
            session.execute(COMMITS)
            found = session.execute(commits, which).fetchall()
            if not found:
                return ()
            with session.transaction():
                if by is not None:
                    self._lock_claims(session, by.job)
                    self._claims.require(session, by.job, by.lineage, by.attempt)
                deleted = session.execute(rows, which).rowcount
                session.execute(sql.SQL("DELETE {}").format(beyond), which)
                written = sum(count for _, count in found)
                if deleted != written:
                    raise SinkConflictError(
                        f"{self.where}: the job restores checkpoint {which[2]}; expected the {written} rows "
                        f"committed after it, got {deleted} that are unchanged; delete them, with their rows "
                        "in barrierspec_commits, or restore the newer checkpoint"
                    )
        return tuple(gid for gid, _ in found)

    def _lock_claims(self, session: "Connection[Any]", job: str) -> None:
        """Lock the claims of the job for the table until this transaction ends."""
        session.execute(_ENDED_IF_PAUSED)
        key = (f"{job} {self.table}",)
        session.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", key)

    @property
    def _claims(self) -> ClaimTable:
        return ClaimTable(self.table, "%s", self.where)

    @property
    def _target(self) -> "Composable":
        from psycopg import sql

        return sql.Identifier(*self.table.split("."))
