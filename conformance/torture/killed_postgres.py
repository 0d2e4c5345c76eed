"""The PostgreSQL server of a campaign. Faults kill it, and a thread then starts it again."""

import threading
from typing import TYPE_CHECKING, Any, Self

import psutil

from conformance.observe.guarantees.guarantee import Row
from conformance.torture.servers.postgres_server import PostgresServer, ServerFailedError
from impl.connectors.postgres import connect, patiently
from impl.connectors.postgres_sink import PostgresOutput
from impl.jobs.numbers import UPDATES

if TYPE_CHECKING:
    from psycopg import Connection

_LOOK_SECONDS, _PATIENCE_SECONDS = 0.05, 60.0


class KeptServer:
    """A server that is started again whenever it has died, until the `with` block ends.

    `server`: a server that the caller stops; None: this class starts and stops one.
    """

    def __init__(self, server: PostgresServer | None = None) -> None:
        self._own = server is None
        self._server = server or PostgresServer()
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="server keeper", daemon=True)
        self.deaths = 0
        self._found_prepared: set[str] = set()

    def output(self, table: str) -> PostgresOutput:
        """The output of a round."""
        return PostgresOutput(self._server.conninfo, table, UPDATES)

    def rows(self, table: str) -> list[Row]:
        """All committed rows of a table."""
        with self._session() as session:
            found = session.execute(f"SELECT key, number, count, total FROM {table}")
            return [Row(*row) for row in found.fetchall()]

    def left(self) -> list[str]:
        """The transactions that are prepared although no job runs, and that the last call has not found."""
        with self._session() as session:
            prepared = {gid for (gid,) in session.execute("SELECT gid FROM pg_prepared_xacts").fetchall()}
        found, self._found_prepared = prepared - self._found_prepared, prepared
        return [f"{gid}: still prepared" for gid in sorted(found)]

    def _session(self) -> "Connection[Any]":
        """Connect to the server, and wait if it has just died and does not run yet."""
        return patiently(lambda: connect(self._server.conninfo), _PATIENCE_SECONDS)

    def _keep(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            if not _lives(self._server.process):
                try:
                    self._server.start()
                except ServerFailedError:
                    continue  # a process of the dead server has not ended yet
                self.deaths += 1

    def __enter__(self) -> Self:
        self._keeper.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._keeper.join()
        if self._own:
            self._server.stop()


def _lives(process: int | None) -> bool:
    if process is None:
        return False
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
