"""The requests that an object store must answer (`ObjectClient`), and a client that uses `obstore`.

A client sends each request once, and `object_store` repeats it. Names are keys below the URI of the client.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from impl.state.errors import StateError, StorageError

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Store

REQUEST_SECONDS: Final = 30
"""The time-out of a request."""
CONNECT_SECONDS: Final = 5
_CHUNK: Final = 8 << 20
_STATUS: Final = re.compile(r"status code: ([0-9]{3})")
_AGAIN: Final = frozenset({408, 409, 425, 429})
"""HTTP statuses after which a repeated request may succeed: time-outs, write conflicts, throttling."""
_WRITER: Final = "writer"


class UnansweredError(StorageError):
    """A request failed or has no answer. The store may have carried it out. It may be sent again."""


class ObjectClient(Protocol):
    """A client of one store. Methods raise UnansweredError if a retry may succeed, otherwise StorageError."""

    def create(self, name: str, data: bytes, writer: str) -> None:
        """Write an object with the signature `writer`. Raises FileExistsError if the object exists."""

    def put(self, name: str, data: bytes | Path) -> None:
        """Write an object, of bytes or of a file on this host. It replaces an older object."""

    def writer_of(self, name: str) -> str:
        """The signature of an object; empty without a signature. Raises FileNotFoundError."""

    def get(self, name: str) -> bytes:
        """The content of an object. Raises FileNotFoundError."""

    def get_range(self, name: str, at: int, length: int) -> bytes:
        """`length` (above 0) bytes from offset `at` on; fewer at the end. Raises FileNotFoundError."""

    def parts(self, name: str) -> Iterator[bytes]:
        """The content of an object, in chunks. Raises FileNotFoundError."""

    def size(self, name: str) -> int:
        """The size of an object, in bytes. Raises FileNotFoundError."""

    def entries(self, prefix: str) -> tuple[tuple[str, ...], Mapping[str, int]]:
        """One level below a prefix: the names of its folders, and a map of its objects to their sizes."""

    def delete(self, name: str) -> None:
        """Delete an object, if it exists."""


class ObstoreClient:
    """A client that uses `obstore`. The environment sets its credentials and endpoint (AWS_ENDPOINT_URL)."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._store = _store_of(uri)

    def create(self, name: str, data: bytes, writer: str) -> None:
        import obstore

        with self._errors(name):
            obstore.put(
                self._store, name, data, mode="create", use_multipart=False, attributes={_WRITER: writer}
            )

    def put(self, name: str, data: bytes | Path) -> None:
        import obstore

        with self._errors(name):
            obstore.put(self._store, name, data)

    def writer_of(self, name: str) -> str:
        import obstore

        with self._errors(name):
            return str(obstore.get(self._store, name, options={"head": True}).attributes.get(_WRITER, ""))

    def get(self, name: str) -> bytes:
        import obstore

        with self._errors(name):
            return bytes(obstore.get(self._store, name).bytes())

    def get_range(self, name: str, at: int, length: int) -> bytes:
        import obstore

        try:
            with self._errors(name):
                return bytes(obstore.get_range(self._store, name, start=at, length=length))
        except StorageError:
            if at >= self.size(name):  # the store refuses a range behind the end of the object
                return b""
            raise

    def parts(self, name: str) -> Iterator[bytes]:
        import obstore

        with self._errors(name):
            for part in obstore.get(self._store, name).stream(min_chunk_size=_CHUNK):
                yield bytes(part)

    def size(self, name: str) -> int:
        import obstore

        with self._errors(name):
            return obstore.head(self._store, name)["size"]

    def entries(self, prefix: str) -> tuple[tuple[str, ...], Mapping[str, int]]:
        import obstore

        with self._errors(prefix):
            found = obstore.list_with_delimiter(self._store, prefix or None)
        folders = tuple(one.rpartition("/")[2] for one in found["common_prefixes"])
        return folders, {one["path"].rpartition("/")[2]: one["size"] for one in found["objects"]}

    def delete(self, name: str) -> None:
        import obstore

        try:
            with self._errors(name):
                obstore.delete(self._store, name)
        except FileNotFoundError:
            return

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        from obstore import exceptions

        where = f"{self._uri}/{name}"
        try:
            yield
        except (FileNotFoundError, exceptions.NotFoundError) as missing:
            if "NoSuchBucket" in str(missing):
                raise StorageError(f"{where}: expected a bucket, got none; create it") from missing
            raise FileNotFoundError(where) from missing
        except exceptions.AlreadyExistsError as exists:
            raise FileExistsError(where) from exists
        except (
            PermissionError,
            exceptions.PermissionDeniedError,
            exceptions.UnauthenticatedError,
        ) as refused:
            raise StorageError(
                f"{where}: the store refuses these credentials: {_first_line(refused)}; give the driver and "
                "every worker credentials that may read, write, list and delete there"
            ) from refused
        except (exceptions.BaseError, OSError) as failed:
            if "builder error" in str(failed):
                raise StorageError(
                    f"{where}: expected an endpoint with https; for one with http, set AWS_ALLOW_HTTP=true"
                ) from failed
            status = _STATUS.search(str(failed))
            code = 0 if status is None else int(status.group(1))
            if 400 <= code < 500 and code not in _AGAIN:
                raise StorageError(
                    f"{where}: the store refuses the request: {_first_line(failed)}; see the endpoint, the "
                    "bucket and its region"
                ) from failed
            raise UnansweredError(f"{where}: {_first_line(failed)}") from failed


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]


_MEMORY: Final[dict[str, "Store"]] = {}
"""The stores of URIs `memory://`, which live as long as this process."""


def _store_of(uri: str) -> "Store":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import MemoryStore, from_url
    except ImportError as missing:
        raise StateError(f"{uri}: an object store takes obstore: pip install 'barrierspec[s3]'") from missing
    if uri.startswith("memory://"):
        return _MEMORY.setdefault(uri, MemoryStore())
    try:
        return from_url(
            uri,
            client_options={
                "timeout": timedelta(seconds=REQUEST_SECONDS),
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true"),
            },
            retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=REQUEST_SECONDS)},
        )
    except (BaseError, ValueError) as odd:
        raise StateError(
            f"{uri}: expected the URI of an object store, such as s3://bucket/flights: {_first_line(odd)}"
        ) from odd
