"""A transactional sink into a table of PostgreSQL: `PREPARE TRANSACTION` and `COMMIT PREPARED`.

Rows are copied into one open database transaction. A pre-commit adds the row of `barrierspec_commits` to it
and prepares it, under a global id that survives the session and the server; a commit is `COMMIT PREPARED`,
which may be asked for any number of times. If the server goes in between, the commit is tried again until
`patience_seconds` are over; then the attempt fails, and the restore commits (SINK-06).
"""

from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from impl.connectors.claims import Claim
from impl.connectors.errors import ConnectorError, SinkConflictError
from impl.connectors.postgres import (
    CLAIMS,
    COMMITS,
    GlobalId,
    commit_prepared,
    connect,
    patiently,
    prepared,
    require_prepared_transactions,
    roll_back_prepared,
    speaking,
)
from impl.connectors.postgres_columns import COLUMNS, require_columns
from impl.connectors.two_phase import SinkPlace
from impl.connectors.values import POSTGRES, require_values

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composable, Composed

_COPY_ROWS: Final = 8_192
_ENDED_IF_PAUSED: Final = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""A driver that is paused in a transaction keeps the lock on the claim no longer."""
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


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """The receipt of a pre-commit: a prepared transaction, None without rows."""

    gid: str | None
    checkpoint: int
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The global id."""
        return () if self.gid is None else (self.gid,)


class PostgresRows:
    """The participant of one subtask: a session that writes, and one that commits beside it."""

    def __init__(self, output: "PostgresOutput", place: SinkPlace) -> None:
        self._output = output
        self._place = place
        self._writing: Connection[Any] | None = None
        self._committing: Connection[Any] | None = None
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._rows = 0

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Rows for the open transaction."""
        require_values(rows, POSTGRES, self._output.where)
        self._buffer.append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= _COPY_ROWS:
            self._flush()

    def pre_commit(self, transaction: int, checkpoint: int) -> PreparedRows:
        """Prepare what was written, with its row in the table of commits; nothing without rows."""
        from psycopg import sql

        self._flush()
        if self._writing is None or not self._rows:
            return PreparedRows(None, checkpoint, 0)
        place, rows, gid = self._place, self._rows, self.remnant(transaction)
        self._output.require_claimed(self._writing, place)
        with speaking(f"preparing {gid}"):
            self._writing.execute(
                "INSERT INTO barrierspec_commits (gid, job, lineage, target, subtask, checkpoint, rows) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (gid, place.job, place.lineage, self._output.table, place.subtask, checkpoint, rows),
            )
            done = self._writing.execute(sql.SQL("PREPARE TRANSACTION {}").format(sql.Literal(gid)))
        if done.statusmessage != "PREPARE TRANSACTION":  # a transaction that has failed is rolled back
            raise ConnectorError(
                f"{gid}: expected it to be prepared, came {done.statusmessage}; it had failed"
            )
        self._rows = 0
        return PreparedRows(gid, checkpoint, rows)

    def commit(self, receipt: PreparedRows) -> None:
        """Commit a prepared transaction, of whatever process, over as many connections as it takes."""
        if receipt.gid is None:
            return
        patiently(partial(self._commit, receipt.gid), self._output.patience_seconds)

    def committed(self, checkpoint: int) -> None:
        """The table tells it by itself: nothing has to be told."""

    def remnant(self, transaction: int) -> str:
        """The global id under which the transaction will be prepared."""
        place = self._place
        return str(GlobalId(place.lineage, place.subtask, place.attempt, transaction))

    def abort(self, remnant: str) -> None:
        """Roll back what was prepared under a name; what was only open ended with its session."""
        patiently(partial(self._roll_back, remnant), self._output.patience_seconds)

    def close(self) -> None:
        """Give up what is open: the server rolls it back as the session ends."""
        self._buffer.clear()
        for session in (self._writing, self._committing):
            if session is not None:
                session.close()
        self._writing = self._committing = None

    def _commit(self, gid: str) -> None:
        if self._committing is None or self._committing.closed:
            self._committing = connect(self._output.conninfo)
        self._output.require_claimed(self._committing, self._place)
        commit_prepared(self._committing, gid)

    def _roll_back(self, gid: str) -> None:
        if self._committing is None or self._committing.closed:
            self._committing = connect(self._output.conninfo)
        roll_back_prepared(self._committing, gid)

    def _begin(self) -> "Connection[Any]":
        """Nothing of the transaction is lost yet, so a server that is gone may be waited for."""
        if self._writing is None or self._writing.closed:
            self._writing = connect(self._output.conninfo)
        with speaking(f"writing into {self._output.where}"):
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
            speaking(f"writing into {self._output.where}"),
            self._writing.cursor() as cursor,
            cursor.copy(self._output.copying()) as copy,
        ):
            for batch in rows:
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
        self._rows += sum(batch.num_rows for batch in rows)


@dataclass(frozen=True, slots=True)
class PostgresOutput:
    """A table in PostgreSQL as the sink of a job, made if it is missing.

    `conninfo`: how libpq connects, "host=... dbname=..." or a URI. `schema`: of the rows; a table that
    exists has to have its columns. The server's `max_prepared_transactions` must not be 0.
    `patience_seconds`: how long a commit waits for a server that is gone before the attempt fails.
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
        """Make the two tables; raises ConnectorError if the server or a column cannot be used."""
        from psycopg import sql

        with closing(connect(self.conninfo)) as session:
            require_prepared_transactions(session)
            kinds = [(sql.Identifier(one.name), sql.SQL(_type_of(one))) for one in self.schema]
            columns = [sql.SQL("{} {}").format(name, kind) for name, kind in kinds]
            with speaking(f"making {self.where}"):
                session.execute(COMMITS)
                session.execute(CLAIMS)
                session.execute(
                    sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(
                        self._target, sql.SQL(", ").join(columns)
                    )
                )
                found = session.execute(COLUMNS, (self._target.as_string(session),)).fetchall()
            require_columns(self.where, {one.name: _type_of(one) for one in self.schema}, dict(found))

    def copying(self) -> "Composed":
        """The statement that takes rows."""
        from psycopg import sql

        names = sql.SQL(", ").join(sql.Identifier(name) for name in self.schema.names)
        return sql.SQL("COPY {} ({}) FROM STDIN").format(self._target, names)

    def holds_output(self, job: str) -> bool:
        """Whether a job of that name has committed rows into the table."""
        mine = "SELECT 1 FROM barrierspec_commits WHERE job = %s AND target = %s LIMIT 1"
        with closing(connect(self.conninfo)) as session, speaking(f"looking into {self.where}"):
            session.execute(COMMITS)
            return session.execute(mine, (job, self.table)).fetchone() is not None

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the table for an attempt of a job; answers the runs whose output is to be taken back.

        A prepared transaction can be committed whatever the table of claims tells: so what an older attempt
        or a replaced run has prepared is rolled back after the claim, by `sweep`, and what they committed
        before that is taken back after it, by `retract`. They prepare nothing more once they see the claim.
        """
        return patiently(partial(self._claim, claim), self.patience_seconds)

    def _claim(self, claim: Claim) -> tuple[str, ...]:
        used = "SELECT 1 FROM barrierspec_commits WHERE job = %s AND target = %s AND lineage = %s LIMIT 1"
        with closing(connect(self.conninfo)) as session, speaking(f"claiming {self.where}"):
            session.execute(COMMITS)
            session.execute(CLAIMS)
            with session.transaction():
                session.execute(_ENDED_IF_PAUSED)
                key = (f"{claim.job} {self.table}",)
                session.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", key)
                last = self._claimed(session, claim.job)
                which = (claim.job, self.table, "" if last is None else last.lineage)
                found = session.execute(used, which).fetchone()
                claimed = claim.after(last, self.where, used=found is not None)
                session.execute(
                    "INSERT INTO barrierspec_claims (job, target, claim) VALUES (%s, %s, %s) "
                    "ON CONFLICT (job, target) DO UPDATE SET claim = excluded.claim",
                    (claim.job, self.table, claimed.encode()),
                )
        return claimed.replaced

    def _claimed(self, session: "Connection[Any]", job: str) -> Claim | None:
        """To whom the table belongs."""
        which = "SELECT claim FROM barrierspec_claims WHERE job = %s AND target = %s"
        row = session.execute(which, (job, self.table)).fetchone()
        return None if row is None else Claim.decode(row[0], self.where)

    def require_claimed(self, session: "Connection[Any]", place: SinkPlace) -> None:
        """Raise `SupersededError` if the table belongs to a newer attempt or to another run of the job."""
        with speaking(f"looking to whom {self.where} belongs"):
            claim = self._claimed(session, place.job)
        if claim is not None:
            claim.require(place.lineage, place.attempt, self.where)

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Roll back what ended attempts of this lineage have prepared; nobody else's."""

        def swept() -> tuple[str, ...]:
            with closing(connect(self.conninfo)) as session:
                return tuple(
                    name
                    for name, parsed in prepared(session, lineage)
                    if parsed.attempt < attempt and name not in keep and roll_back_prepared(session, name)
                )

        return patiently(swept, self.patience_seconds)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those that are neither prepared nor in the table of commits."""

        def found() -> tuple[str, ...]:
            with closing(connect(self.conninfo)) as session, speaking(f"looking into {self.where}"):
                session.execute(COMMITS)
                there = session.execute(
                    "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() "
                    "UNION SELECT gid FROM barrierspec_commits WHERE gid = ANY(%s)",
                    (list(names),),
                )
                return tuple(sorted(set(names).difference(gid for (gid,) in there.fetchall())))

        return patiently(found, self.patience_seconds)

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Delete the rows of commits beyond a checkpoint, and those commits, in one transaction.

        A row is known by its `xmin`, the transaction that wrote it, which it shares with the row of its
        commit. Raises `SinkConflictError`, and deletes nothing, if rows were changed or deleted meanwhile.
        `by`: the claim of the driver that deletes; `SupersededError` if the table was claimed since.
        """
        which = (lineage, self.table, -1 if checkpoint is None else checkpoint)
        return patiently(partial(self._retract, which, by), self.patience_seconds)

    def _retract(self, which: tuple[str, str, int], by: Claim | None) -> tuple[str, ...]:
        from psycopg import sql

        beyond = sql.SQL("FROM barrierspec_commits WHERE lineage = %s AND target = %s AND checkpoint > %s")
        commits = sql.SQL("SELECT gid, rows {} ORDER BY gid").format(beyond)
        rows = sql.SQL("DELETE FROM {} WHERE xmin IN (SELECT xmin {})").format(self._target, beyond)
        with closing(connect(self.conninfo)) as session, speaking(f"retracting from {self.where}"):
            session.execute(COMMITS)
            found = session.execute(commits, which).fetchall()
            if not found:
                return ()
            with session.transaction():
                self._lock_claim(session, by)
                deleted = session.execute(rows, which).rowcount
                session.execute(sql.SQL("DELETE {}").format(beyond), which)
                written = sum(count for _, count in found)
                if deleted != written:
                    raise SinkConflictError(
                        f"{self.where}: the job falls back to checkpoint {which[2]}, and of the {written} "
                        f"rows committed beyond it {deleted} are as they were written; take them out, with "
                        "their rows in barrierspec_commits, or bring the newer checkpoint back"
                    )
        return tuple(gid for gid, _ in found)

    def _lock_claim(self, session: "Connection[Any]", by: Claim | None) -> None:
        """Nobody else claims the table before this transaction has ended."""
        if by is None:
            return
        session.execute(_ENDED_IF_PAUSED)
        key = (f"{by.job} {self.table}",)
        session.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", key)
        claim = self._claimed(session, by.job)
        if claim is not None:
            claim.require(by.lineage, by.attempt, self.where)

    @property
    def _target(self) -> "Composable":
        from psycopg import sql

        return sql.Identifier(*self.table.split("."))


def _type_of(column: pa.Field) -> str:
    for fits, name in _TYPES:
        if fits(column.type):
            return name
    raise ConnectorError(
        f"column {column.name!r} is {column.type}, for which the PostgreSQL sink has no type; convert it "
        "before the sink, or write it as text"
    )
