"""A table of PostgreSQL as the output of a cluster: starts the server, and reads the committed rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, LiteralString

from conformance.engines.engine import EngineSetUpError
from conformance.engines.processes import EngineError
from conformance.torture.servers.loopback import free_port
from conformance.torture.servers.postgres_server import PostgresServer, ServerFailedError, ServerNotFoundError

DRIVER: Final = Path("/usr/share/java/postgresql.jar")
"""The file in which Debian's package `libpostgresql-jdbc-java` installs PostgreSQL's driver for Java."""
_PREPARED: Final = 500
"""Maximum number of prepared transactions. Those of failed checkpoints stay prepared for ever."""


class CommittedTable:
    """A PostgreSQL server with one table, whose one column holds the committed rows.

    Raises EngineSetUpError if the server cannot be started, or Java has no driver for it.
    """

    def __init__(self, driver: Path = DRIVER) -> None:
        if not driver.is_file():
            raise EngineSetUpError(
                f"expected the driver {driver}, got no such file; apt-get install libpostgresql-jdbc-java"
            )
        try:
            import psycopg

            port = free_port()
            self._server = PostgresServer(_PREPARED, port)
        except (ImportError, ServerNotFoundError, ServerFailedError) as cannot:
            raise EngineSetUpError(f"expected a PostgreSQL server, got: {cannot}") from cannot
        self.url: Final = f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=postgres"
        """The address to which the job connects."""
        try:
            self._session = psycopg.connect(self._server.conninfo, autocommit=True)
            self._session.execute("CREATE TABLE committed (line text NOT NULL)")
        except BaseException as cannot:
            self._server.stop()
            if not isinstance(cannot, psycopg.Error):
                raise
            raise EngineSetUpError(f"expected the PostgreSQL server to answer, got: {cannot}") from cannot

    def lines(self) -> Sequence[str]:
        """The rows that a reader sees now. Raises EngineError if the server does not answer."""
        return [line for (line,) in self._rows("SELECT line FROM committed")]

    def left(self) -> int:
        """The number of prepared transactions. Raises EngineError if the server does not answer."""
        return len(self._rows("SELECT gid FROM pg_prepared_xacts"))

    def stop(self) -> None:
        """End the server and remove its data."""
        self._session.close()
        self._server.stop()

    def _rows(self, query: LiteralString) -> list[tuple[Any, ...]]:
        import psycopg

        try:
            return self._session.execute(query).fetchall()
        except psycopg.Error as lost:
            raise EngineError(f"expected rows of the PostgreSQL server, got: {lost}") from lost
