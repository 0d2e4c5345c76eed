"""The server of the web page and the REST interface of a running job, in the driver's process.

The server changes nothing in the job. No client can make the job wait, because the server makes each answer
from a copy, and one answer at a time. Each connection has its own thread and time-out. There are at most
`CONNECTIONS` connections; a further connection closes the oldest one. An error ends only its own connection.
"""

import contextlib
import io
import ipaddress
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from impl.config import ConfigError
from impl.monitoring.rest_answers import NotFoundError, RestAnswers

CONNECTIONS: Final = 32
SECONDS: Final = 10.0
"""The time limit for each read of a request, and for the sending of a whole answer."""
LARGEST_HEAD: Final = 65_536
"""The maximum size of a request with its headers, in bytes. A larger request closes the connection."""
URL_FILE: Final = "rest.url"
"""The file in the output folder that has the address of the page while the job runs."""
LOCALHOST: Final = "localhost"
_ACCEPT_SECONDS: Final = 0.1
_PAUSE_SECONDS: Final = 0.05
_CLOSE_SECONDS: Final = 1.0
"""The maximum time to wait for the end of a thread whose connection was closed in favour of a new one."""
_LOG: Final = logging.getLogger(__name__)
_PAGE: Final = Path(__file__).parent / "page"
_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/job.css": ("job.css", "text/css; charset=utf-8"),
    "/job.js": ("job.js", "text/javascript; charset=utf-8"),
    "/graph.js": ("graph.js", "text/javascript; charset=utf-8"),
}
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class RestServer(ThreadingHTTPServer):
    """Serves `answers` at an address until `close`. Port 0 means any free port.

    Raises ConfigError if the address cannot be used.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = CONNECTIONS

    def __init__(
        self, answers: RestAnswers, port: int, bind_address: str = LOCALHOST, seconds: float = SECONDS
    ) -> None:
        self.answers = answers
        self.seconds = seconds
        self.files = {path: ((_PAGE / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}
        self.address_family = socket.AF_INET6 if ":" in bind_address else socket.AF_INET
        self._open: dict[socket.socket, None] = {}
        self._changing = threading.Lock()
        self._free_connections = threading.BoundedSemaphore(CONNECTIONS)
        self.answering = threading.Lock()
        """The lock of the thread that makes an answer, so that at most one thread competes with the job."""
        try:
            super().__init__((bind_address, port), _Handler)
        except (OSError, TypeError, ValueError) as failed:  # a host name may have invalid characters
            raise ConfigError(
                f"rest_port {port} at {bind_address!r} cannot be used: {failed}; choose another port (0 is a "
                "free one), or leave rest_port out"
            ) from failed
        host, self.port = self.server_address[:2]
        self.is_loopback = ipaddress.ip_address(str(host)).is_loopback
        shown = f"[{bind_address}]" if ":" in bind_address else bind_address
        self.url = f"http://{shown}:{self.port}/"
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_ACCEPT_SECONDS,), name="rest", daemon=True
        )
        self._thread.start()

    def server_bind(self) -> None:
        """Bind the socket. The method of the base class would also send a request to a name server."""
        TCPServer.server_bind(self)

    def close(self) -> None:
        """Stop the server and close open connections."""
        self.shutdown()
        self.server_close()
        with self._changing:
            connections = list(self._open)
        for connection in connections:
            _cut(connection)

    # ------------------------------------------------------------ connections

    def get_request(self) -> tuple[Any, Any]:
        """Accept the next connection. After an error, such as a lack of descriptors, wait, then raise it."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_PAUSE_SECONDS)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as its base
        """Serve a connection in a new thread. If there are too many connections, close the oldest one."""
        if not self._free_connections.acquire(blocking=False):
            self._close_oldest()
            if not self._free_connections.acquire(timeout=_CLOSE_SECONDS):
                self.shutdown_request(request)
                return
        with self._changing:
            self._open[request] = None
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the operating system gives no further thread
            self._free_connections.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Serve a connection, and release its place at the end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_connections.release()

    def is_open(self, request: socket.socket) -> bool:
        """Whether the server has not closed this connection in favour of a newer one."""
        with self._changing:
            return request in self._open

    def _close_oldest(self) -> None:
        with self._changing:
            oldest = next(iter(self._open), None)
            if oldest is not None:
                del self._open[oldest]
        if oldest is not None:
            _cut(oldest)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401
        """Close a connection."""
        with self._changing:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Ignore an error of one connection, because it does not affect other connections."""


class _Handler(BaseHTTPRequestHandler):
    server: RestServer

    def setup(self) -> None:
        self.request.settimeout(self.server.seconds)  # for each read, and for a whole `sendall`
        super().setup()
        self.rfile = _Head(self.rfile)  # type: ignore[assignment]

    def do_GET(self) -> None:
        self._respond(with_body=True)

    def do_HEAD(self) -> None:
        self._respond(with_body=False)

    def _respond(self, *, with_body: bool) -> None:
        try:
            status, content, kind = self._answer()
        except ValueError:  # `urlsplit` rejects the URL
            errors = {"errors": ["The request has no valid URL."]}
            status, content, kind = _json(HTTPStatus.BAD_REQUEST, errors)
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def _answer(self) -> tuple[HTTPStatus, bytes, str]:
        if not self._names_this_host():
            return _json(HTTPStatus.MISDIRECTED_REQUEST, {"errors": ["Use localhost or an IP address."]})
        path = urlsplit(self.path).path
        if path in self.server.files:
            return HTTPStatus.OK, *self.server.files[path]
        path = path.removeprefix("/v1").rstrip("/")
        try:
            with self.server.answering:
                if not self.server.is_open(self.request):
                    raise ConnectionAbortedError
                return _json(HTTPStatus.OK, self.server.answers.answer(path))
        except ConnectionAbortedError:
            raise
        except NotFoundError as missing:
            return _json(HTTPStatus.NOT_FOUND, {"errors": [str(missing)]})
        except Exception as failed:  # noqa: BLE001 - a defect here must not end the thread without an answer
            return _json(HTTPStatus.INTERNAL_SERVER_ERROR, {"errors": [f"{type(failed).__name__}: {failed}"]})

    def _names_this_host(self) -> bool:
        """Whether the request names this host. Other web sites name other hosts (DNS rebinding)."""
        if not self.server.is_loopback:
            return True
        host = urlsplit(f"//{self.headers.get('Host', LOCALHOST)}").hostname or ""
        if host == LOCALHOST or host.endswith(f".{LOCALHOST}"):
            return True
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True

    def version_string(self) -> str:
        return "barrierspec"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base
        pass


class _Head:
    """The lines of a request. Raises ConnectionAbortedError after more than `LARGEST_HEAD` bytes."""

    def __init__(self, lines: io.BufferedIOBase) -> None:
        self._lines = lines
        self._left = LARGEST_HEAD

    def readline(self, size: int = -1) -> bytes:
        line = self._lines.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise ConnectionAbortedError
        return line

    def close(self) -> None:
        self._lines.close()


def _json(status: HTTPStatus, answer: object) -> tuple[HTTPStatus, bytes, str]:
    try:
        content = orjson.dumps(answer, default=str)
    except orjson.JSONEncodeError:  # text with a lone surrogate, such as a file name that is not UTF-8
        content = json.dumps(answer, default=str).encode()
    return status, content, "application/json; charset=utf-8"


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the connection is already closed
        connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def served(
    answers: RestAnswers, port: int | None, bind_address: str, output: Path, *, required: bool = True
) -> Iterator[None]:
    """A context that serves `answers` and writes the address into `output / URL_FILE`.

    If `port` is None, serves nothing. Raises ConfigError if the address cannot be used; if not `required`,
    logs a warning instead.
    """
    file = output / URL_FILE
    file.unlink(missing_ok=True)  # the file of a driver that was killed
    if port is None:
        yield
        return
    try:
        server = RestServer(answers, port, bind_address)
    except ConfigError as failed:
        if required:
            raise
        _LOG.warning("the job runs without its web page: %s", failed)
        yield
        return
    try:
        file.write_text(f"{server.url}\n", encoding="utf-8")
        yield
    finally:
        with contextlib.suppress(OSError):
            if file.read_text(encoding="utf-8").strip() == server.url:  # a newer driver may have replaced it
                file.unlink()
        server.close()
