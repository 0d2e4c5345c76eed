"""A PostgreSQL server: connections, the global ids of prepared transactions, and the table of commits.

    barrierspec:3f9c2a7e51b04d68:sink-0:2:1000001     lineage, subtask, attempt, transaction

A prepared transaction has such a global id, which is used once. The transaction itself inserts a row with
this id into the table `barrierspec_commits`. If `COMMIT PREPARED` finds no transaction, this row shows that
the transaction was committed before. If there is no such row, the transaction was rolled back and its rows
are lost, which is an error.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from impl.connectors import retries
from impl.connectors.errors import (
    ConnectorError,
    PreparedTransactionsDisabledError,
    ServerLostError,
    TransactionLostError,
)
from impl.connectors.retries import Answer

if TYPE_CHECKING:
    from psycopg import Connection

_PREFIX: Final = "barrierspec"
_GID: Final = re.compile(rf"{_PREFIX}:([0-9a-f]+):([A-Za-z0-9_-]+):(\d+):(\d+)")
COMMITS: Final = """
    CREATE TABLE IF NOT EXISTS barrierspec_commits (
        gid text PRIMARY KEY, job text NOT NULL, lineage text NOT NULL, target text NOT NULL,
        subtask text NOT NULL, checkpoint bigint NOT NULL, rows bigint NOT NULL,
        prepared_at timestamptz NOT NULL DEFAULT now())"""


class GlobalId(NamedTuple):
    """The fields of the global id of a prepared transaction."""

    lineage: str
    subtask: str
    attempt: int
    transaction: int

    def __str__(self) -> str:
        return f"{_PREFIX}:{self.lineage}:{self.subtask}:{self.attempt}:{self.transaction}"

    @classmethod
    def parse(cls, name: str) -> "GlobalId | None":
        """The fields of the global id `name`; None for a global id of another program."""
        match = _GID.fullmatch(name)
        if match is None:
            return None
        lineage, subtask, attempt, transaction = match.groups()
        return cls(lineage, subtask, int(attempt), int(transaction))


@contextmanager
def server_errors(doing: str) -> Iterator[None]:
    """A context that raises ServerLostError if the server is lost, ConnectorError for its other errors.

    `doing`: the action within the context, for the message.
    """
    import psycopg

    try:
        yield
    except psycopg.OperationalError as cause:
        raise ServerLostError(
            f"{doing}: expected an answer of the PostgreSQL server, got {_first_line(cause)}; "
            "check that the server runs and can be reached, and let the job restart"
        ) from cause
    except psycopg.Error as cause:
        if cause.sqlstate == "55000" and "prepared transactions are disabled" in str(cause):
            raise disabled() from cause
        raise ConnectorError(
            f"{doing}: the PostgreSQL server refused ({cause.sqlstate}): {_first_line(cause)}; check the "
            "table and the rights of the job's user"
        ) from cause


def connect(conninfo: str) -> "Connection[Any]":
    """A new connection in autocommit mode.

    Raises ConnectorError for a malformed `conninfo` or a missing psycopg, ServerLostError without a server.
    """
    try:
        import psycopg
    except ImportError as missing:
        raise ConnectorError(
            f"a PostgreSQL sink needs psycopg, which cannot be imported ({missing}): "
            "pip install 'psycopg[binary]'"
        ) from missing
    try:
        parts = psycopg.conninfo.conninfo_to_dict(conninfo)
    except psycopg.Error:
        # the message of libpq repeats conninfo, which may contain a password
        raise ConnectorError(
            "conninfo: expected 'host=... dbname=...' or 'postgresql://user@host/name', got something that "
            "libpq cannot read; correct it (it is not shown, since it may contain a password)"
        ) from None
    try:
        with server_errors("connecting"):
            return psycopg.connect(conninfo, autocommit=True, application_name=_PREFIX)
    except ConnectorError as failed:
        password = str(parts.get("password") or "")
        if not password or password not in str(failed):
            raise
        raise type(failed)(str(failed).replace(password, "***")) from None


def patiently(act: Callable[[], Answer], seconds: float) -> Answer:
    """The result of `act`, which is repeated for about `seconds` while it raises ServerLostError."""
    return retries.patiently(act, seconds, ServerLostError)


def pid_file(conninfo: str) -> Path:
    """The file with the process id of a server on this host. Fault campaigns kill that process."""
    with closing(connect(conninfo)) as session, server_errors("reading data_directory"):
        row = session.execute("SHOW data_directory").fetchone()
    assert row is not None
    return Path(str(row[0])) / "postmaster.pid"


def disabled() -> PreparedTransactionsDisabledError:
    """The error for a server without prepared transactions."""
    return PreparedTransactionsDisabledError(
        "expected a PostgreSQL server with prepared transactions, got max_prepared_transactions = 0; set it "
        "to at least 4 for each sink subtask (ALTER SYSTEM SET max_prepared_transactions = 64) and restart "
        "the server"
    )


def require_prepared_transactions(session: "Connection[Any]") -> None:
    """Raise PreparedTransactionsDisabledError if the server has no prepared transactions."""
    with server_errors("reading max_prepared_transactions"):
        answer = session.execute("SHOW max_prepared_transactions").fetchone()
    if answer is None or int(answer[0]) == 0:
        raise disabled()


def commit_prepared(session: "Connection[Any]", gid: str) -> bool:
    """Commit a prepared transaction; returns False if it was committed before.

    Raises TransactionLostError if the transaction is neither prepared nor committed. Raises ServerLostError
    if the server is lost or another session uses the transaction. The caller may then repeat the call.
    """
    import psycopg
    from psycopg import sql

    with server_errors(f"committing {gid}"):
        try:
            session.execute(sql.SQL("COMMIT PREPARED {}").format(sql.Literal(gid)))
        except psycopg.errors.UndefinedObject as gone:
            if session.execute("SELECT 1 FROM barrierspec_commits WHERE gid = %s", (gid,)).fetchone():
                return False
            raise TransactionLostError(
                f"{gid}: expected a prepared or a committed transaction, got neither: another program "
                "rolled it back, and its rows are lost; restore an older checkpoint or a backup of the table"
            ) from gone
        except psycopg.errors.ObjectNotInPrerequisiteState as busy:
            raise _busy(gid, busy) from busy
    return True


def roll_back_prepared(session: "Connection[Any]", gid: str) -> bool:
    """Roll back a prepared transaction; returns False if it does not exist.

    Raises ServerLostError if the server is lost or another session uses the transaction. The caller may then
    repeat the call.
    """
    import psycopg
    from psycopg import sql

    with server_errors(f"rolling back {gid}"):
        try:
            session.execute(sql.SQL("ROLLBACK PREPARED {}").format(sql.Literal(gid)))
        except psycopg.errors.UndefinedObject:
            return False
        except psycopg.errors.ObjectNotInPrerequisiteState as busy:
            raise _busy(gid, busy) from busy
    return True


def prepared(session: "Connection[Any]", lineage: str) -> Iterable[tuple[str, GlobalId]]:
    """The prepared transactions of one lineage in this database, with their global ids as text, in order."""
    with server_errors("listing prepared transactions"):
        found = session.execute(
            "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY gid"
        ).fetchall()
    for (name,) in found:
        parsed = GlobalId.parse(name)
        if parsed is not None and parsed.lineage == lineage:
            yield name, parsed


def _busy(gid: str, cause: Exception) -> ServerLostError:
    return ServerLostError(f"{gid}: another session uses the transaction ({_first_line(cause)}); try again")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
