"""A listening socket that accepts only connections of one attempt.

The driver has a listener for its workers, and every subtask has one for its upstream subtasks. The handshake
of each connection has its own thread, so a silent peer delays no other peer. An unauthenticated connection
cannot harm the attempt: a handshake has one deadline, the number of unfinished handshakes is bounded, and an
error in a handshake does not end the accept loop.
"""

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from impl.spark.channels.frames import Connection, Deadline
from impl.spark.channels.handshake import SECONDS, Credentials, accept_as, open_as
from impl.spark.errors import (
    ConnectionLostError,
    HandshakeRefusedError,
    HandshakeTimeoutError,
    SparkRuntimeError,
)

Accepted = Callable[[Connection, dict[str, Any]], None]
Refused = Callable[[SparkRuntimeError], None]
_BACKLOG = 1_024
_PAUSE_SECONDS = 0.05
_OF_ONE_CONNECTION = frozenset(
    {
        errno.ECONNABORTED,
        errno.EINTR,
        errno.EAGAIN,
        errno.EPERM,
        errno.EPROTO,
        errno.ENOPROTOOPT,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ETIMEDOUT,
    }
)
"""Errors of `accept` that affect only one connection. After any other error, such as EMFILE, an immediate
retry fails again, because the process has no free descriptor or memory."""


@dataclass(frozen=True, slots=True)
class HandshakeLimits:
    """The limits of connections that have not completed their handshake.

    `connections`: the maximum number at the same time. A further connection closes the oldest of them, so
    idle connections cannot prevent the handshake of another one. `seconds`: the time limit of a handshake.
    """

    connections: int = 64
    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def beside(cls, peers: int) -> "HandshakeLimits":
        """The limits of a listener to which `peers` processes of the attempt may connect at once."""
        return cls(connections=cls().connections + peers)


class Listener:
    """Accepts connections on a free port of `host` until it is closed.

    `accepted`: called with each accepted connection and its hello (`handshake`). `refused`: called with the
    error of each refused connection.
    """

    def __init__(
        self,
        host: str,
        credentials: Credentials,
        accepted: Accepted,
        refused: Refused,
        buffer_bytes: int,
        limits: HandshakeLimits | None = None,
    ) -> None:
        self._credentials = credentials
        self._accepted = accepted
        self._refused = refused
        self._limits = limits or HandshakeLimits()
        self._unauthenticated: dict[socket.socket, bool] = {}
        self._changed = threading.Condition(threading.RLock())
        self._closed = threading.Event()
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # accepted sockets inherit this size, which must be set before a connection exists
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self._listener.bind((host, 0))
        self._listener.listen(_BACKLOG)
        self.host, self.port = self._listener.getsockname()
        threading.Thread(target=self._serve, name="listener", daemon=True).start()

    @property
    def unauthenticated(self) -> int:
        """The number of connections that have not completed their handshake."""
        with self._changed:
            return len(self._unauthenticated)

    def _serve(self) -> None:
        """The accept loop, until the listener is closed."""
        while not self._closed.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError as failed:
                if failed.errno not in _OF_ONE_CONNECTION and not self._closed.is_set():
                    self._close_some()
                continue
            self._begin(caller)

    def _begin(self, caller: socket.socket) -> None:
        """Close the oldest handshakes until their number is below the limit, then start a new handshake."""
        with self._changed:
            while len(self._unauthenticated) >= self._limits.connections:
                self._close_oldest()
                self._changed.wait()  # the thread of the closed connection removes it
            self._unauthenticated[caller] = False
        try:
            threading.Thread(target=self._shake_hands, args=(caller,), name="handshake", daemon=True).start()
        except RuntimeError:  # the operating system gives no further thread
            self._remove(caller)
            caller.close()

    def _shake_hands(self, caller: socket.socket) -> None:
        deadline = Deadline(self._limits.seconds, self._limits.clock)
        try:
            caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection, hello = accept_as(caller, self._credentials, deadline, lambda: self._proved(caller))
        except Exception as failed:  # noqa: BLE001 - the other side's bytes must end only this connection
            caller.close()
            self._remove(caller)
            if not isinstance(failed, SparkRuntimeError):
                failed = HandshakeRefusedError(f"expected a handshake, got bytes that raise {failed!r}")
            self._refused(failed)
            return
        self._accepted(connection, hello)

    def _proved(self, caller: socket.socket) -> None:
        """Mark a connection as authenticated. Raises ConnectionLostError if the listener has closed it."""
        if self._remove(caller):
            raise ConnectionLostError("closed before its handshake was complete: too many others were open")

    def _remove(self, caller: socket.socket) -> bool:
        """Remove an unauthenticated connection; returns whether `_close_oldest` has closed it."""
        with self._changed:
            closed = self._unauthenticated.pop(caller, False)
            self._changed.notify_all()
        return closed

    def _close_some(self) -> None:
        """Close some unauthenticated connections and wait, because no descriptor or memory is free."""
        with self._changed:
            for _ in range(1 + len(self._unauthenticated) // 4):
                self._close_oldest()
            self._changed.wait(_PAUSE_SECONDS)  # until the handshake of one of them has ended

    def _close_oldest(self) -> None:
        """Close the connection with the oldest unfinished handshake. Its thread removes it later."""
        with self._changed:
            for caller, closed in self._unauthenticated.items():
                if not closed:
                    self._unauthenticated[caller] = True
                    self._shut(caller)
                    return

    @staticmethod
    def _shut(caller: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the connection is already broken
            caller.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Accept no further connection, and end every handshake. Accepted connections stay open."""
        self._closed.set()
        with contextlib.suppress(OSError):  # some systems refuse this on a listening socket
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            for caller in self._unauthenticated:
                self._shut(caller)
            self._changed.notify_all()


def connect_to(
    address: tuple[str, int], credentials: Credentials, identity: dict[str, Any], buffer_bytes: int
) -> Connection:
    """Connect to the listener at `address`; connect again if the connection breaks during the handshake.

    Raises `HandshakeRefusedError` if the listener belongs to another attempt or job, `OSError` if nothing
    listens there, `HandshakeTimeoutError` after `SECONDS`.
    """
    deadline = Deadline(SECONDS)
    while True:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(deadline.left())
            sock.connect(address)
        except BaseException:
            sock.close()
            raise
        try:
            return open_as(sock, credentials, identity, deadline)
        except HandshakeTimeoutError:
            raise
        except ConnectionLostError:
            # the listener has refused nothing, but may have closed this connection (see HandshakeLimits)
            threading.Event().wait(min(_PAUSE_SECONDS, deadline.left()))
