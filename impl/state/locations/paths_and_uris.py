"""Makes the location of a path or a URI, and computes the paths and URIs of a job's files."""

import os
import re
import secrets
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from impl.state.durable import read_file, remove_file, write_file
from impl.state.errors import StateError
from impl.state.locations.local_files import LocalFiles
from impl.state.locations.location import Location, Where
from impl.state.locations.memory_client import MemoryClient
from impl.state.locations.object_client import ObjectClient, ObstoreClient
from impl.state.locations.object_store import ObjectFiles

CHECKPOINTS: Final = "checkpoints"
"""The folder of checkpoints in the output folder of a job."""
SAVEPOINTS: Final = "savepoints"
_RECORD: Final = "checkpoints-are-in"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_IN_MEMORY: Final = "jobmanager"
"""The URI scheme of checkpoints in the memory of a driver."""
_BY_BUCKET: Final = frozenset({"s3", "s3a", "gs", "memory", _IN_MEMORY})
"""The schemes whose URIs begin with a bucket."""
_CLIENTS: Final[dict[tuple[int, str], ObjectClient]] = {}
"""The clients, by process id and URI. A forked process cannot use the connections of its parent's client."""


def is_uri(where: Where) -> bool:
    """Whether `where` is a URI, not a path."""
    return isinstance(where, str) and _SCHEME.match(where) is not None


def path_or_uri(where: Where) -> Where:
    """The normal form of a location: a Path for a folder or a URI `file://`, or a URI without a final `/`.

    Raises StateError for a URI without a bucket, or with a query or a fragment.
    """
    if isinstance(where, Path) or not is_uri(where):
        return Path(where)
    parts = urlsplit(where)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    if not parts.netloc or parts.query or parts.fragment:
        raise StateError(f"{where}: expected a URI with a bucket, such as s3://bucket/flights; name a bucket")
    return where.rstrip("/")


def absolute(where: Where) -> Where:
    """The absolute path of a folder, or the URI.

    Executors need it, because their working folder is another one. Raises the errors of `path_or_uri`.
    """
    where = path_or_uri(where)
    return where.absolute() if isinstance(where, Path) else where


def beside(where: Where, name: str) -> Where:
    """The path or URI of the folder `name` in `where`. Raises the errors of `path_or_uri`."""
    where = path_or_uri(where)
    return where / name if isinstance(where, Path) else f"{where}/{name}"


def location_of(where: Where | Location) -> Location:
    """The location at a path or URI. Raises StateError for a URI of no known store, or without obstore."""
    if isinstance(where, Location):
        return where
    where = path_or_uri(where)
    if isinstance(where, Path):
        return LocalFiles(where)
    parts = urlsplit(where)
    by_bucket = parts.scheme in _BY_BUCKET
    root = f"{parts.scheme}://{parts.netloc}" if by_bucket else where
    known = os.getpid(), root
    if known not in _CLIENTS:
        _CLIENTS[known] = MemoryClient() if parts.scheme == _IN_MEMORY else ObstoreClient(root)
    return ObjectFiles(root, _CLIENTS[known], parts.path.strip("/") if by_bucket else "")


def new_memory() -> str:
    """A new URI in the memory of this process, for the checkpoints of one job."""
    return f"{_IN_MEMORY}://{secrets.token_hex(8)}"


def is_in_memory(where: Where) -> bool:
    """Whether `where` is in the memory of a driver."""
    return isinstance(where, str) and where.startswith(f"{_IN_MEMORY}://")


def forget(where: Where) -> None:
    """Free the objects at a URI in the memory of this process. Does nothing for any other path or URI."""
    if is_in_memory(where):
        _CLIENTS.pop((os.getpid(), str(where)), None)


def savepoints_beside(output: Path, checkpoints: Where) -> Where | None:
    """The folder or URI of the savepoints of a job, if a request names no other one.

    None if the checkpoints are in memory. Then each request must name a folder or URI.
    """
    if is_in_memory(checkpoints):
        return None
    return beside(output if checkpoints == output / CHECKPOINTS else checkpoints, SAVEPOINTS)


def record_checkpoint_folder(output: Path, where: Where) -> None:
    """Record the path or URI of a job's checkpoints in its output folder, unless they are in that folder."""
    file = output / _RECORD
    if where == output / CHECKPOINTS:
        remove_file(file)
    else:
        write_file(file, f"{where}\n".encode())


def recorded_checkpoint_folder(output: Path) -> Where | None:
    """The recorded path or URI of a job's checkpoints; None if they are in its output folder."""
    file = output / _RECORD
    return path_or_uri(read_file(file).decode().strip()) if file.is_file() else None
