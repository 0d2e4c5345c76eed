"""A listening socket that accepts only connections of one attempt.

The driver has one for its workers, every subtask has one for its upstream subtasks. Each connection makes
its handshake in a thread of its own, so that a silent peer delays no other. An unauthenticated connection
cannot harm the attempt: a handshake has one deadline, the number of unfinished handshakes is bounded, and no
error of one of them ends the accept loop.
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
"""Errors of `accept` that concern one connection. After any other error, such as EMFILE, an immediate retry
fails again, because the process has no free descriptor or memory."""


@dataclass(frozen=True, slots=True)
class HandshakeLimits:
    """Bounds on connections that have not completed their handshake.

    `connections`: the largest number at once. A further connection closes the oldest of them, so idle
    connections cannot keep out one that makes its handshake. `seconds`: the time limit of a handshake.
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

    `accepted` is called with each connection and its hello, `refused` with the error of each that is refused.
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
        # the accepted sockets inherit the bound, which must be set before the connection is made
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self._listener.bind((host, 0))
        self._listener.listen(_BACKLOG)
        self.host, self.port = self._listener.getsockname()
        threading.Thread(target=self._serve, name="listener", daemon=True).start()

    @property
    def unauthenticated(self) -> int:
        """Connections that have not completed their handshake."""
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
        """Close the oldest handshakes until fewer than the limit are under way, then start another one."""
        with self._changed:
            while len(self._unauthenticated) >= self._limits.connections:
                self._drop_oldest()
                self._changed.wait()  # the thread of the closed connection removes it
            self._unauthenticated[caller] = False
        try:
            threading.Thread(target=self._shake_hands, args=(caller,), name="handshake", daemon=True).start()
        except RuntimeError:  # no thread can be started now
            self._remove(caller)
            caller.close()

    def _shake_hands(self, caller: socket.socket) -> None:
        deadline = Deadline(self._limits.seconds, self._limits.clock)
        try:
            caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection, hello = accept_as(caller, self._credentials, deadline, lambda: self._proved(caller))
        except Exception as failed:  # noqa: BLE001 - whatever was sent ends this connection only
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
        """Remove a connection from the unauthenticated ones; returns whether `_drop_oldest` has closed it."""
        with self._changed:
            dropped = self._unauthenticated.pop(caller, False)
            self._changed.notify_all()
        return dropped

    def _close_some(self) -> None:
        """No descriptor or memory is free: close some unauthenticated connections, and wait a moment."""
        with self._changed:
            for _ in range(1 + len(self._unauthenticated) // 4):
                self._drop_oldest()
            self._changed.wait(_PAUSE_SECONDS)  # until one of them has ended

    def _drop_oldest(self) -> None:
        """Close the connection whose handshake has lasted longest; its thread removes it later."""
        with self._changed:
            for caller, dropped in self._unauthenticated.items():
                if not dropped:
                    self._unauthenticated[caller] = True
                    self._shut(caller)
                    return

    @staticmethod
    def _shut(caller: socket.socket) -> None:
        with contextlib.suppress(OSError):  # broken already
            caller.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop accepting, and end every handshake. Accepted connections stay open."""
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
            # not refused: further connections may have closed this one (see HandshakeLimits)
            threading.Event().wait(min(_PAUSE_SECONDS, deadline.left()))
