"""Where the processes of one attempt meet: a listening socket that lets in only its own.

The driver has one for its workers, every subtask with inputs has one for its upstream subtasks. Each
caller is greeted in a thread of its own, so that a silent stranger keeps nobody waiting.
"""

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

from impl.spark.errors import SparkRuntimeError
from impl.spark.frames import Connection
from impl.spark.handshake import accept_as, open_as

Welcome = Callable[[Connection, dict[str, Any]], None]
Refused = Callable[[SparkRuntimeError], None]


class Door:
    """Accepts connections of `attempt` on a free port of `host` until it is closed."""

    def __init__(
        self, host: str, secret: bytes, attempt: int, welcome: Welcome, refused: Refused, buffer_bytes: int
    ) -> None:
        self._secret = secret
        self._attempt = attempt
        self._welcome = welcome
        self._refused = refused
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # the accepted sockets inherit the bound, which must be set before the connection is made
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self._listener.bind((host, 0))
        self._listener.listen(64)
        self.host, self.port = self._listener.getsockname()
        threading.Thread(target=self._serve, name="door", daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return  # closed: nobody else is expected
            threading.Thread(target=self._greet, args=(caller,), name="greeting", daemon=True).start()

    def _greet(self, caller: socket.socket) -> None:
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection, claim = accept_as(caller, self._secret, self._attempt)
        except SparkRuntimeError as refusal:
            self._refused(refusal)
            return
        self._welcome(connection, claim)

    def close(self) -> None:
        """Stop accepting. Connections that were let in stay open."""
        with contextlib.suppress(OSError):  # some systems refuse this on a listening socket
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def knock(
    host: str, port: int, secret: bytes, attempt: int, claim: dict[str, Any], buffer_bytes: int
) -> Connection:
    """Connect to a door of the same attempt.

    Raises `HandshakeRefusedError` if it is another attempt's or another job's, `OSError` if nobody is there.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect((host, port))
    except BaseException:
        sock.close()
        raise
    return open_as(sock, secret, attempt, claim)
