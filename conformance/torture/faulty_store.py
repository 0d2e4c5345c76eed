"""A proxy in front of an object store, which delays, refuses and cuts requests, and loses answers.

`SLOW` delays a request. `FAILED` and `THROTTLED` answer 500 and 503, `RESET` breaks the connection, and `CUT`
breaks it in the middle of an upload; the store does not receive these requests. With `LOST` and
`FAILED_AFTER` the store carries the request out; then the proxy breaks the connection or answers 500. `CUT`
of a download sends half of the object.
"""

import os
import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, Self
from urllib.parse import urlsplit

from conformance.torture.servers.object_server import ObjectServer


class StoreFault(StrEnum):
    """The ways in which a request fails."""

    SLOW = "slow"
    FAILED = "failed"
    THROTTLED = "throttled"
    RESET = "reset"
    LOST = "lost"
    FAILED_AFTER = "failed-after"
    CUT = "cut"


Choose = Callable[[str, str], StoreFault | None]
"""Maps the method and the path of a request to its fault. Called by one thread at a time."""
_STATUS: Final = {StoreFault.FAILED: 500, StoreFault.THROTTLED: 503}
_RESETS: Final = struct.pack("ii", 1, 0)
_PASSED_ON: Final = frozenset({"connection", "content-length", "transfer-encoding", "keep-alive"})
"""Headers that the proxy does not forward. They belong to one connection, and the proxy writes new ones."""


def drawn(seed: str, share: float) -> Choose:
    """Return a function that gives each request a fault with probability `share`, drawn from a seed."""
    draw = random.Random(seed)
    return lambda _method, _path: draw.choice(list(StoreFault)) if draw.random() < share else None


class FaultyStore:
    """A proxy on loopback to the store at `endpoint`. As a context manager it ends with the block.

    `choose`: the fault of each request. `slow_seconds`: the delay of a slow request.
    """

    def __init__(self, endpoint: str, choose: Choose, slow_seconds: float = 0.5) -> None:
        self.happened: Counter[StoreFault] = Counter()
        """The number of faults so far, by kind."""
        self._target = urlsplit(endpoint).netloc
        self.choose = choose
        self._slow_seconds = slow_seconds
        self._changing = threading.Lock()
        self._stopped = threading.Event()
        proxy = self

        class Handler(_Handler):
            store = proxy

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variable by which a process finds the proxy."""
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_address[1]}"}

    def fault(self, method: str, path: str) -> StoreFault | None:
        """Choose and count the fault of a request; None: it has none. Delays a slow request."""
        with self._changing:
            fault = self.choose(method, path)
            if fault is not None:
                self.happened[fault] += 1
        if fault is StoreFault.SLOW:
            self._stopped.wait(self._slow_seconds)
        return fault

    def forward(
        self, handler: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Send a request to the store. Returns its answer: status, headers and body."""
        connection = HTTPConnection(self._target, timeout=60)
        try:
            headers = {
                name: value for name, value in handler.headers.items() if name.lower() not in _PASSED_ON
            }
            connection.request(handler.command, handler.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def stop(self) -> None:
        """Stop the proxy."""
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


class KeptStore:
    """An object store behind a proxy. It sets environment variables by which this process uses the proxy.

    Processes that this process starts use the proxy too. As a context manager the store ends with the block.
    A request gets a fault with probability SHARE.
    """

    SHARE: Final = 0.04

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.server = ObjectServer()
        self.proxy = FaultyStore(self.server.endpoint, lambda _method, _path: None)
        given = self.server.environment | self.proxy.environment
        self._before = {name: os.environ.get(name) for name in given}
        os.environ.update(given)

    def begin(self, name: str) -> str:
        """Start the faults of a round. Returns the URI for its files."""
        self.proxy.happened.clear()
        self.proxy.choose = drawn(f"{self._seed} {name}", self.SHARE)
        return self.server.uri(name)

    def judging(self) -> Counter[str]:
        """End the faults of the round. Returns their number by kind."""
        self.proxy.choose = lambda _method, _path: None
        return Counter({fault.value: count for fault, count in self.proxy.happened.items()})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        self.proxy.stop()
        self.server.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that has closed its connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """With Nagle's algorithm the body of each answer waits 40 ms for the acknowledgement of its headers."""
    store: FaultyStore

    def _answer(self) -> None:
        fault = self.store.fault(self.command, self.path)
        length = int(self.headers.get("Content-Length") or 0)
        uploads = self.command in ("PUT", "POST")
        body = self.rfile.read(length // 2 if uploads and fault is StoreFault.CUT else length)
        if fault is StoreFault.RESET or (uploads and fault is StoreFault.CUT):
            self._reset()
        elif fault in (StoreFault.FAILED, StoreFault.THROTTLED):
            self._send(_STATUS[fault], [], b"<Error><Code>SlowDown</Code></Error>")
        else:
            status, headers, content = self.store.forward(self, body)
            if fault is StoreFault.LOST:
                self._reset()
            elif fault is StoreFault.FAILED_AFTER:
                self._send(500, [], b"<Error><Code>InternalError</Code></Error>")
            else:
                self._send(status, headers, content, cut=fault is StoreFault.CUT)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - the base class calls these names

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes, *, cut: bool = False) -> None:
        length = str(len(body))
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in _PASSED_ON:
                self.send_header(name, value)
            elif name.lower() == "content-length":
                length = value  # the answer to a HEAD has the length of an object, and no body
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self._reset()

    def _reset(self) -> None:
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
        self.close_connection = True
        self.connection.close()

    def log_message(self, *_: object) -> None:
        """Log nothing."""
