"""A transactional sink into a table of PostgreSQL: `PREPARE TRANSACTION` and `COMMIT PREPARED`.

Rows are copied into one open database transaction. A pre-commit adds a row of `barrierspec_commits` to it and
prepares it under a global id, which survives the session and the server. A commit is `COMMIT PREPARED` and
may be repeated. If the server stops in between, the sink tries again for `patience_seconds`; then the attempt
fails, and the restore commits (SINK-06).
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from impl.connectors import claim_table
from impl.connectors.claim_table import ClaimTable
from impl.connectors.claims import Claim
from impl.connectors.errors import ConnectorError, SinkConflictError
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
from impl.connectors.two_phase import SinkPlace
from impl.connectors.values import POSTGRES, column_type, require_values

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composable, Composed


COLUMNS: Final = """
    SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""
"""The columns of a table, and their types as PostgreSQL names them."""
_TAKEN_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "smallint": ("integer", "bigint", "numeric"),
    "integer": ("bigint", "numeric"),
    "bigint": ("numeric",),
    "real": ("double precision",),
    "text": ("character varying",),
    "timestamp": ("timestamp without time zone",),
    "timestamptz": ("timestamp with time zone",),
}
"""From the type of a sink's column to other types that hold all its values."""


def require_columns(where: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise ConnectorError unless the columns `found` hold all values of the types `expected`.

    PostgreSQL rounds a double to a real, or a decimal to the digits of its column, without an error.
    """
    for name, kind in expected.items():
        there = found.get(name)
        if there is None or (there != kind and there not in _TAKEN_BY.get(kind, ())):
            raise ConnectorError(
                f"{where}: expected a column {name!r} of type {kind}, got {there or 'none'}, into which "
                "values may be converted; alter the table, give the sink another one, or declare the schema "
                "of this one"
            )


_COPY_ROWS: Final = 8_192
_ENDED_IF_PAUSED: Final = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""Bounds how long a driver that is paused in a transaction keeps the lock on the claim."""
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
        """The global id."""
        return () if self.gid is None else (self.gid,)


class PostgresRows:
    """The participant of one subtask: one session writes, another one commits."""

    def __init__(self, output: "PostgresOutput", place: SinkPlace) -> None:
        self._output = output
        self._place = place
        self._writing: Connection[Any] | None = None
        self._committing: Connection[Any] | None = None
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._rows = 0

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Write rows to the open transaction. Raises ValueRefusedError for a value PostgreSQL cannot hold."""
        require_values(rows, POSTGRES, self._output.where)
        self._buffer.append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= _COPY_ROWS:
            self._flush()

    def pre_commit(self, transaction: int, checkpoint: int) -> PreparedRows:
        """Prepare the open transaction with its row in the table of commits; none without rows."""
        from psycopg import sql

        self._flush()
        if self._writing is None or not self._rows:
            return PreparedRows(None, checkpoint, 0)
        place, rows, gid = self._place, self._rows, self.remnant(transaction)
        self._output.require_claimed(self._writing, place)
        with server_errors(f"preparing {gid}"):
            self._writing.execute(
                "INSERT INTO barrierspec_commits (gid, job, lineage, target, subtask, checkpoint, rows) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (gid, place.job, place.lineage, self._output.table, place.subtask, checkpoint, rows),
            )
            done = self._writing.execute(sql.SQL("PREPARE TRANSACTION {}").format(sql.Literal(gid)))
        if done.statusmessage != "PREPARE TRANSACTION":  # PostgreSQL has rolled back a failed transaction
            raise ConnectorError(
                f"{gid}: expected PREPARE TRANSACTION, got {done.statusmessage}, because the transaction "
                "had "
                "failed; let the job restart"
            )
        self._rows = 0
        return PreparedRows(gid, checkpoint, rows)

    def commit(self, receipt: PreparedRows) -> None:
        """Commit a prepared transaction of any process, over new connections if one is lost."""
        if receipt.gid is None:
            return
        patiently(partial(self._commit, receipt.gid), self._output.patience_seconds)

    def committed(self, checkpoint: int) -> None:
        """Nothing to do: the table contains the rows."""

    def remnant(self, transaction: int) -> str:
        """The global id under which the transaction will be prepared."""
        place = self._place
        return str(GlobalId(place.lineage, place.subtask, place.attempt, transaction))

    def abort(self, remnant: str) -> None:
        """Roll back a prepared transaction; an open one has ended with its session."""
        patiently(lambda: roll_back_prepared(self._committer(), remnant), self._output.patience_seconds)

    def close(self) -> None:
        """End the sessions; the server rolls back the open transaction."""
        self._buffer.clear()
        for session in (self._writing, self._committing):
            if session is not None:
                session.close()
        self._writing = self._committing = None

    def _commit(self, gid: str) -> None:
        session = self._committer()
        self._output.require_claimed(session, self._place)
        commit_prepared(session, gid)

    def _committer(self) -> "Connection[Any]":
        """The session that commits, connected again if it was lost."""
        if self._committing is None or self._committing.closed:
            self._committing = connect(self._output.conninfo)
        return self._committing

    def _begin(self) -> "Connection[Any]":
        """Begin a transaction. It has no rows, so the caller may wait for a lost server and repeat this."""
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
    """A table in PostgreSQL as the sink of a job, created if it is missing.

    `conninfo`: a connection string of libpq, "host=... dbname=..." or a URI. `schema`: the schema of the
    rows; an older table must have its columns. The server's `max_prepared_transactions` must not be 0.
    `patience_seconds`: how long a commit waits for a lost server before the attempt fails.
    """

    conninfo: str = field(repr=False)
    table: str
    schema: pa.Schema
    patience_seconds: float = 30.0

    @property
    def where(self) -> str:
        """The table."""
        return f"table {self.table} in PostgreSQL"

    def open(self, place: SinkPlace) -> PostgresRows:
        """The participant of one subtask."""
        return PostgresRows(self, place)

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
        """The COPY statement that takes the rows."""
        from psycopg import sql

        names = sql.SQL(", ").join(sql.Identifier(name) for name in self.schema.names)
        return sql.SQL("COPY {} ({}) FROM STDIN").format(self._target, names)

    def holds_output(self, job: str) -> bool:
        """Whether a job of that name has committed rows into the table."""
        with closing(connect(self.conninfo)) as session, server_errors(f"reading {self.where}"):
            session.execute(COMMITS)
            return self._claims.has_commits(session, job)

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the table for an attempt; returns the lineages whose output is retracted as a whole.

        Raises SupersededError for a newer attempt, OutputClaimedError for another run.
        `COMMIT PREPARED` cannot check a claim. The driver therefore claims first; then `sweep` rolls back
        what older attempts and replaced runs have prepared, and `retract` deletes what they have committed.
        They prepare nothing more once they see the claim.
        """
        return patiently(partial(self._claim, claim), self.patience_seconds)

    def _claim(self, claim: Claim) -> tuple[str, ...]:
        with closing(connect(self.conninfo)) as session, server_errors(f"claiming {self.where}"):
            session.execute(COMMITS)
            session.execute(claim_table.CREATE)
            with session.transaction():
                self._lock_claims(session, claim.job)
                return self._claims.take(session, claim)

    def require_claimed(self, session: "Connection[Any]", place: SinkPlace) -> None:
        """Raise SupersededError if a newer attempt or another run of the job has claimed the table."""
        with server_errors(f"reading the claim of {self.where}"):
            self._claims.require(session, place.job, place.lineage, place.attempt)

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Roll back what ended attempts of a lineage have prepared; returns the global ids."""

        def swept() -> tuple[str, ...]:
            with closing(connect(self.conninfo)) as session:
                return tuple(
                    name
                    for name, parsed in prepared(session, lineage)
                    if parsed.attempt < attempt and name not in keep and roll_back_prepared(session, name)
                )

        return patiently(swept, self.patience_seconds)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of the global ids that are neither prepared nor committed."""

        def found() -> tuple[str, ...]:
            with closing(connect(self.conninfo)) as session, server_errors(f"reading {self.where}"):
                session.execute(COMMITS)
                there = session.execute(
                    "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() "
                    "UNION SELECT gid FROM barrierspec_commits WHERE gid = ANY(%s)",
                    (list(names),),
                )
                return tuple(sorted(set(names).difference(gid for (gid,) in there.fetchall())))

        return patiently(found, self.patience_seconds)

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Delete the commits beyond a checkpoint with their rows, in one transaction; returns the ids.

        A row and the row of its commit have the same `xmin`, the transaction that wrote both. `by`: the claim
        of the driver that retracts. Raises SupersededError if the table was claimed since, and
        SinkConflictError, with nothing deleted, if rows were changed or deleted meanwhile.
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
                        f"committed beyond it, got {deleted} that are unchanged; delete them, with their "
                        "rows "
                        "in barrierspec_commits, or bring the newer checkpoint back"
                    )
        return tuple(gid for gid, _ in found)

    def _lock_claims(self, session: "Connection[Any]", job: str) -> None:
        """Until this transaction ends, no other one claims the table for the job."""
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
