"""A transactional sink into a table of an SQLite database: the embedded default, without any server.

A transaction is a staging file beside the database. Pre-commit closes, syncs and names it; commit is one
SQLite transaction that inserts its rows and, into `barrierspec_commits`, its name: a name that stands
there already is committed, so doing it again changes nothing, in whatever process. Subtasks commit one
after the other, as SQLite has one writer. Every row tells by `barrierspec_commit` which commit it is of.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from impl.connectors.claims import Claim
from impl.connectors.errors import ConnectorError, DatabaseLockedError, OutputCorruptError
from impl.connectors.manifests import DataFile, read_verified
from impl.connectors.staging import StagedFiles
from impl.connectors.two_phase import SinkPlace
from impl.connectors.values import SQLITE, require_values
from impl.state.durable import make_directory, remove_file

_BUSY_SECONDS: Final = 60.0
_COMMITS: Final = """
    CREATE TABLE IF NOT EXISTS barrierspec_commits (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, job TEXT NOT NULL, lineage TEXT NOT NULL,
        target TEXT NOT NULL, subtask TEXT NOT NULL, attempt INTEGER NOT NULL, checkpoint INTEGER NOT NULL,
        rows INTEGER NOT NULL)"""
_CLAIMS: Final = """
    CREATE TABLE IF NOT EXISTS barrierspec_claims (
        job TEXT NOT NULL, target TEXT NOT NULL, claim TEXT NOT NULL, PRIMARY KEY (job, target))"""
_TYPES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_integer, "INTEGER"),
    (pa.types.is_boolean, "INTEGER"),
    (pa.types.is_floating, "REAL"),
    (pa.types.is_string, "TEXT"),
    (pa.types.is_binary, "BLOB"),
)


@dataclass(frozen=True, slots=True)
class StagedRows:
    """The receipt of a pre-commit: a staging file, None without rows, and for whom it is."""

    place: SinkPlace
    checkpoint: int
    transaction: int
    file: DataFile | None

    @property
    def rows(self) -> int:
        """Rows in it."""
        return 0 if self.file is None else self.file.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The staging file."""
        return () if self.file is None else (self.file.file,)


class SqliteRows:
    """The participant of one subtask."""

    def __init__(self, output: "SqliteOutput", place: SinkPlace) -> None:
        self._output = output
        self._place = place
        self._staged = StagedFiles(output.staging, f"{place.attempt}-{place.lineage}-{place.subtask}")

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Rows for the open transaction."""
        require_values(rows, SQLITE, self._output.where)
        self._staged.write(transaction, rows)

    def pre_commit(self, transaction: int, checkpoint: int) -> StagedRows:
        """Close, sync and name the staging file."""
        return StagedRows(self._place, checkpoint, transaction, self._staged.pre_commit(transaction))

    def commit(self, receipt: StagedRows) -> None:
        """Insert the rows and the commit's name, in one transaction; nothing if the name is there."""
        if receipt.file is not None:
            self._output.insert(receipt, receipt.file, self._place)
            remove_file(self._output.staging / receipt.file.file)

    def committed(self, checkpoint: int) -> None:
        """The table tells it by itself: nothing has to be told."""

    def remnant(self, transaction: int) -> str:
        """The staging file that is still open."""
        return self._staged.remnant(transaction)

    def abort(self, remnant: str) -> None:
        """Remove it."""
        self._staged.abort(remnant)

    def close(self) -> None:
        """Give up what is open."""
        self._staged.close()


@dataclass(frozen=True, slots=True)
class SqliteOutput:
    """A table in an SQLite database as the sink of a job, made if it is missing.

    `schema`: of the rows; columns of ints, bools, floats, strings and bytes. The database has to lie on a
    file system of the host on which all sink subtasks run.
    """

    database: Path
    table: str
    schema: pa.Schema

    @property
    def where(self) -> str:
        """Database and table."""
        return f"{self.database}, table {self.table}"

    @property
    def staging(self) -> Path:
        """The folder of pre-committed rows."""
        return self.database.with_name(f"{self.database.name}.staging")

    def open(self, place: SinkPlace) -> SqliteRows:
        """The participant of one subtask."""
        return SqliteRows(self, place)

    def prepare(self) -> None:
        """Make the two tables; raises ConnectorError for a type of column that SQLite has not."""
        columns = [f"{_quoted(field.name)} {self._type_of(field)}" for field in self.schema]
        owner = "barrierspec_commit INTEGER NOT NULL REFERENCES barrierspec_commits (id)"
        make_directory(self.staging / "data")
        with self._transaction() as session:
            session.execute(_COMMITS)
            session.execute(f"CREATE TABLE IF NOT EXISTS {self._target} ({', '.join(columns)}, {owner})")
            self._require_columns(session)

    def _require_columns(self, session: sqlite3.Connection) -> None:
        """Raise ConnectorError unless the table, which may be older, has the columns and their types.

        SQLite converts what it inserts to the type of the column.
        """
        found = {name: kind for _, name, kind, *_ in session.execute(f"PRAGMA table_info({self._target})")}
        expected = {field.name: self._type_of(field) for field in self.schema}
        expected["barrierspec_commit"] = "INTEGER"
        if {name.lower(): kind.upper() for name, kind in found.items()} != {
            name.lower(): kind for name, kind in expected.items()
        }:
            raise ConnectorError(
                f"{self.where}: exists with the columns {found}, and the rows need {expected}; give the sink "
                "another table, or declare the schema of this one"
            )

    def holds_output(self, job: str) -> bool:
        """Whether a job of that name has committed rows into the table."""
        if not self.database.exists():
            return False
        mine = "SELECT 1 FROM barrierspec_commits WHERE job = ? AND target = ?"
        with self._transaction() as session:
            session.execute(_COMMITS)
            return session.execute(mine, (job, self.table)).fetchone() is not None

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Claim the table for an attempt of a job; answers the runs whose output is to be taken back."""
        used = "SELECT 1 FROM barrierspec_commits WHERE job = ? AND target = ? AND lineage = ?"
        with self._transaction() as session:
            session.execute(_COMMITS)
            last = self._claimed(session, claim.job)
            which = (claim.job, self.table, "" if last is None else last.lineage)
            found = session.execute(used, which).fetchone()
            claimed = claim.after(last, self.where, used=found is not None)
            session.execute(
                "INSERT INTO barrierspec_claims (job, target, claim) VALUES (?, ?, ?) "
                "ON CONFLICT (job, target) DO UPDATE SET claim = excluded.claim",
                (claim.job, self.table, claimed.encode()),
            )
        return claimed.replaced

    def _claimed(self, session: sqlite3.Connection, job: str) -> Claim | None:
        """To whom the table belongs, read in the transaction that depends on it."""
        session.execute(_CLAIMS)
        which = "SELECT claim FROM barrierspec_claims WHERE job = ? AND target = ?"
        row = session.execute(which, (job, self.table)).fetchone()
        return None if row is None else Claim.decode(row[0], self.where)

    def insert(self, receipt: StagedRows, file: DataFile, committer: SinkPlace | None = None) -> None:
        """Commit a receipt; one that is committed already is left alone.

        `committer`: who commits it, if not who has staged it. Raises `SupersededError`, in the same
        transaction, if the table belongs to a newer attempt or to another run of this job.
        """
        place = receipt.place
        named = (file.file, place.job, place.lineage, self.table)
        by = committer or place
        with self._transaction() as session:
            claim = self._claimed(session, by.job)
            if claim is not None:
                claim.require(by.lineage, by.attempt, self.where)
            made = session.execute(
                "INSERT INTO barrierspec_commits (name, job, lineage, target, subtask, attempt, checkpoint, "
                "rows) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
                (*named, place.subtask, place.attempt, receipt.checkpoint, receipt.rows),
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
        """Remove the staging files of ended attempts; those of other jobs stay."""
        swept = []
        for path in sorted((self.staging / "data").glob("*")):
            written_by, _, rest = path.name.removeprefix(".").partition("-")
            name = str(path.relative_to(self.staging))
            ended = written_by.isdecimal() and int(written_by) < attempt and rest.startswith(f"{lineage}-")
            if ended and name not in keep and remove_file(path):
                swept.append(name)
        return tuple(swept)

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """Those that are neither staged nor in the table of commits."""
        with self._transaction() as session:
            session.execute(_COMMITS)
            committed = {name for (name,) in session.execute("SELECT name FROM barrierspec_commits")}
        return tuple(one for one in names if one not in committed and not (self.staging / one).is_file())

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Delete the rows of commits beyond a checkpoint, and those commits.

        `by`: the claim of the driver that deletes; `SupersededError` if the table was claimed since.
        """
        beyond = "lineage = ? AND target = ? AND checkpoint > ?"
        which = (lineage, self.table, -1 if checkpoint is None else checkpoint)
        with self._transaction() as session:
            self._require_claimed(session, by)
            session.execute(
                f"DELETE FROM {self._target} WHERE barrierspec_commit IN "
                f"(SELECT id FROM barrierspec_commits WHERE {beyond})",
                which,
            )
            gone = session.execute(f"DELETE FROM barrierspec_commits WHERE {beyond} RETURNING name", which)
            return tuple(sorted(name for (name,) in gone.fetchall()))

    def _require_claimed(self, session: sqlite3.Connection, by: Claim | None) -> None:
        claim = None if by is None else self._claimed(session, by.job)
        if by is not None and claim is not None:
            claim.require(by.lineage, by.attempt, self.where)

    @property
    def _target(self) -> str:
        return _quoted(self.table)

    def _type_of(self, field: pa.Field) -> str:
        for fits, name in _TYPES:
            if fits(field.type):
                return name
        raise ConnectorError(
            f"column {field.name!r} is {field.type}, and SQLite takes ints, bools, floats, strings and "
            "bytes; convert it before the sink, a time to text or to a number"
        )

    def _rows_of(self, receipt: StagedRows, file: DataFile) -> Iterator[tuple[Any, ...]]:
        if not (self.staging / file.file).is_file():
            raise OutputCorruptError(
                f"{self.staging / file.file}: expected the pre-committed rows of transaction "
                f"{receipt.transaction}, came none; the file was removed from outside, bring it back"
            )
        table = pq.read_table(pa.BufferReader(read_verified(self.staging, file)))
        for batch in table.to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction of the only writer; all of it or, if anything is raised, nothing."""
        try:
            self.database.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.database, timeout=_BUSY_SECONDS, isolation_level=None)
            with closing(connection) as session:
                session.execute("PRAGMA synchronous = EXTRA")  # a commit survives the loss of power
                session.execute("BEGIN IMMEDIATE")
                try:
                    yield session
                except BaseException:
                    with suppress(sqlite3.Error):  # a full disk has rolled it back already
                        session.execute("ROLLBACK")
                    raise
                session.execute("COMMIT")
        except sqlite3.Error as cause:
            if getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise DatabaseLockedError(
                    f"{self.where}: expected the write lock within {_BUSY_SECONDS:.0f} s, but another "
                    "process holds it; it may be a paused sink of an earlier driver: let it go on, or "
                    "end it, and resume the job"
                ) from cause
            raise ConnectorError(
                f"{self.where}: expected a commit, came {type(cause).__name__}: {cause}; see to the "
                "database and let the job restart"
            ) from cause


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
