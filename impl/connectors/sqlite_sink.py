"""A transactional sink into a table of an SQLite database, without a server.

A transaction is a staging file beside the database. A pre-commit closes, syncs and renames the file. A commit
is one SQLite transaction, which inserts the rows of the file, and the file's name into `barrierspec_commits`.
A file whose name is in this table is committed, so a repeated commit of any process has no effect. SQLite has
one writer, so the subtasks commit one after the other. The column `barrierspec_commit` of each row refers to
its commit.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors import claim_table
from impl.connectors.claim_table import ClaimTable
from impl.connectors.errors import ConnectorError, DatabaseLockedError, OutputCorruptError
from impl.connectors.manifests import DataFile, read_verified
from impl.connectors.output_claims import Claim
from impl.connectors.staging import StagedFiles
from impl.connectors.two_phase import SinkContext
from impl.connectors.values import SQLITE, column_type, require_values
from impl.state.durable import make_directory, remove_file

_BUSY_SECONDS: Final = 60.0
_COMMITS: Final = """
    CREATE TABLE IF NOT EXISTS barrierspec_commits (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, job TEXT NOT NULL, lineage TEXT NOT NULL,
        target TEXT NOT NULL, subtask TEXT NOT NULL, attempt INTEGER NOT NULL, checkpoint INTEGER NOT NULL,
        rows INTEGER NOT NULL)"""
_TYPES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_integer, "INTEGER"),
    (pa.types.is_boolean, "INTEGER"),
    (pa.types.is_floating, "REAL"),
    (pa.types.is_string, "TEXT"),
    (pa.types.is_binary, "BLOB"),
)
_TAKES: Final = (
    "SQLite takes ints, bools, floats, strings and bytes; convert it before the sink, a time to text or to a "
    "number"
)


@dataclass(frozen=True, slots=True)
class StagedRows:
    """The receipt of a pre-commit. `file`: the staging file, None without rows. `sink`: the sink subtask."""

    sink: SinkContext
    checkpoint: int
    transaction: int
    file: DataFile | None

    @property
    def rows(self) -> int:
        """The number of rows in the file."""
        return 0 if self.file is None else self.file.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the staging file."""
        return () if self.file is None else (self.file.file,)


class SqliteRows(StagedFiles):
    """The participant of one sink subtask."""

    def __init__(self, output: "SqliteOutput", context: SinkContext) -> None:
        super().__init__(output.staging, f"{context.attempt}-{context.lineage}-{context.subtask}")
        self._output = output
        self._context = context

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Write rows. Raises ValueRefusedError for a value that SQLite cannot store."""
        require_values(rows, SQLITE, self._output.where)
        super().write(transaction, rows)

    def pre_commit(self, transaction: int, checkpoint: int) -> StagedRows:
        """Close, sync and rename the staging file; returns the receipt."""
        return StagedRows(self._context, checkpoint, transaction, self.stage(transaction))

    def commit(self, receipt: StagedRows) -> None:
        """Insert the rows and the file's name in one transaction, unless the file is committed."""
        if receipt.file is not None:
            self._output.insert(receipt, receipt.file, self._context)
            remove_file(self._output.staging / receipt.file.file)

    def committed(self, checkpoint: int) -> None:
        """Do nothing, because the table shows the committed rows."""


@dataclass(frozen=True, slots=True)
class SqliteOutput:
    """A table in an SQLite database as the sink of a job. The driver creates the table if it is missing.

    `schema`: the schema of the rows, whose columns may be ints, bools, floats, strings and bytes. All sink
    subtasks must run on one host, and the database must be on a file system of that host.
    """

    database: Path
    table: str
    schema: pa.Schema

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", Path(self.database).absolute())

    @property
    def where(self) -> str:
        """The names of the database and the table, for messages."""
        return f"{self.database}, table {self.table}"

    @property
    def staging(self) -> Path:
        """The folder of the staging files."""
        return self.database.with_name(f"{self.database.name}.staging")

    def open(self, context: SinkContext) -> SqliteRows:
        """A new participant for one sink subtask."""
        return SqliteRows(self, context)

    def prepare(self) -> None:
        """Create the tables.

        Raises ConnectorError for a column type that SQLite does not have, or a table with other columns.
        """
        columns = [f"{_quoted(field.name)} {column_type(field, _TYPES, _TAKES)}" for field in self.schema]
        commit = "barrierspec_commit INTEGER NOT NULL REFERENCES barrierspec_commits (id)"
        make_directory(self.staging / "data")
        with self._transaction() as session:
            session.execute(f"CREATE TABLE IF NOT EXISTS {self._target} ({', '.join(columns)}, {commit})")
            self._require_columns(session)

    def _require_columns(self, session: sqlite3.Connection) -> None:
        """Raise ConnectorError unless the table has the columns with their types.

        SQLite would convert the values to the type of the column.
        """
        found = {name: kind for _, name, kind, *_ in session.execute(f"PRAGMA table_info({self._target})")}
        expected = {field.name: column_type(field, _TYPES, _TAKES) for field in self.schema}
        expected["barrierspec_commit"] = "INTEGER"
        if {name.lower(): kind.upper() for name, kind in found.items()} != {
            name.lower(): kind for name, kind in expected.items()
        }:
            raise ConnectorError(
                f"{self.where}: exists with the columns {found}, and the rows need {expected}; give the sink "
                "another table, or declare the schema of this one"
            )

    def holds_output(self, job: str) -> bool:
        """Whether a job with this name has committed rows into the table."""
        if not self.database.exists():
            return False
        with self._transaction() as session:
            return self._claims.has_commits(session, job)

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the table for an attempt; returns the lineages whose whole output the driver retracts.

        Raises SupersededError if a newer attempt of the run has claimed the table, OutputClaimedError if
        another run has committed into it.
        """
        with self._transaction() as session:
            return self._claims.take(session, claim)

    def insert(self, receipt: StagedRows, file: DataFile, committer: SinkContext | None = None) -> None:
        """Commit the rows of a receipt, unless they are committed.

        `committer`: the subtask that commits; None: the subtask that has staged the rows. Raises
        SupersededError if a newer attempt or another run of the job has claimed the table.
        """
        staged_by = receipt.sink
        by = committer or staged_by
        with self._transaction() as session:
            self._claims.require(session, by.job, by.lineage, by.attempt)
            made = session.execute(
                "INSERT INTO barrierspec_commits (name, job, lineage, target, subtask, attempt, checkpoint, "
                "rows) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
                (
                    *(file.file, staged_by.job, staged_by.lineage, self.table),
                    *(staged_by.subtask, staged_by.attempt, receipt.checkpoint, receipt.rows),
                ),
            )
            if not made.rowcount:
                return
            commit = made.lastrowid
            marks = ", ".join("?" * (len(self.schema) + 1))
            names = ", ".join([*(_quoted(field.name) for field in self.schema), "barrierspec_commit"])
            session.executemany(
                f"INSERT INTO {self._target} ({names}) VALUES ({marks})",
                ((*row, commit) for row in self._rows_of(receipt, file)),
            )

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Remove the staging files of ended attempts of a lineage; returns their names."""
        swept = []
        for path in sorted((self.staging / "data").glob("*")):
            written_by, _, rest = path.name.removeprefix(".").partition("-")
            name = str(path.relative_to(self.staging))
            ended = written_by.isdecimal() and int(written_by) < attempt and rest.startswith(f"{lineage}-")
            if ended and name not in keep and remove_file(path):
                swept.append(name)
        return tuple(swept)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """The names that are neither staged nor committed."""
        with self._transaction() as session:
            committed = {name for (name,) in session.execute("SELECT name FROM barrierspec_commits")}
        return tuple(one for one in names if one not in committed and not (self.staging / one).is_file())

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Delete the commits above a checkpoint and their rows; returns the names of the commits.

        `by`: the claim of the driver that retracts. Raises SupersededError if a newer claim exists.
        """
        beyond = "lineage = ? AND target = ? AND checkpoint > ?"
        which = (lineage, self.table, -1 if checkpoint is None else checkpoint)
        with self._transaction() as session:
            if by is not None:
                self._claims.require(session, by.job, by.lineage, by.attempt)
            session.execute(
                f"DELETE FROM {self._target} WHERE barrierspec_commit IN "
                f"(SELECT id FROM barrierspec_commits WHERE {beyond})",
                which,
            )
            gone = session.execute(f"DELETE FROM barrierspec_commits WHERE {beyond} RETURNING name", which)
            return tuple(sorted(name for (name,) in gone.fetchall()))

    @property
    def _claims(self) -> ClaimTable:
        return ClaimTable(self.table, "?", self.where)

    @property
    def _target(self) -> str:
        return _quoted(self.table)

    def _rows_of(self, receipt: StagedRows, file: DataFile) -> Iterator[tuple[Any, ...]]:
        if not (self.staging / file.file).is_file():
            raise OutputCorruptError(
                f"{self.staging / file.file}: expected the pre-committed rows of transaction "
                f"{receipt.transaction}, got no file; another program removed it, restore it"
            )
        table = pq.read_table(pa.BufferReader(read_verified(self.staging, file)))
        for batch in table.to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A context with a write transaction, which rolls back if the block raises an error.

        Creates the tables of commits and claims if they are missing. Raises DatabaseLockedError if another
        process holds the write lock for 60 s, ConnectorError for any other error of the database.
        """
        try:
            self.database.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.database, timeout=_BUSY_SECONDS, isolation_level=None)
            with closing(connection) as session:
                session.execute("PRAGMA synchronous = EXTRA")  # a commit survives a loss of power
                session.execute("BEGIN IMMEDIATE")
                try:
                    session.execute(_COMMITS)
                    session.execute(claim_table.CREATE)
                    yield session
                except BaseException:
                    with suppress(
                        sqlite3.Error
                    ):  # SQLite has already rolled back, for example on a full disk
                        session.execute("ROLLBACK")
                    raise
                session.execute("COMMIT")
        except sqlite3.Error as cause:
            if getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise DatabaseLockedError(
                    f"{self.where}: expected the write lock within {_BUSY_SECONDS:.0f} s, but another "
                    "process holds it, perhaps a paused sink of an earlier driver; let that process continue "
                    "or end it, and resume the job"
                ) from cause
            raise ConnectorError(
                f"{self.where}: expected a commit, got {type(cause).__name__}: {cause}; repair the database "
                "and let the job restart"
            ) from cause


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
