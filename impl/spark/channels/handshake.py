"""The handshake that opens every connection of a job: identity, attempt, and proof of the secret.

The side that opens the connection sends a *hello* with its identity, its attempt and a nonce. Each side
proves that it knows the job's secret: it sends an HMAC over the other side's nonce and the hello, and never
the secret. Until both proofs are checked, a side reads only small JSON frames, so it never unpickles bytes of
an unauthenticated process. The whole handshake has one deadline.
"""

import contextlib
import hmac
import secrets
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from impl.spark.channels.frames import MAX_HANDSHAKE, Connection, Deadline, Kind
from impl.spark.errors import ConnectionLostError, FrameError, HandshakeRefusedError, StaleAttemptError

SECONDS = 10.0
"""The time limit of a whole handshake, in seconds."""


def new_secret() -> bytes:
    """A new random secret for one job."""
    return secrets.token_bytes(32)


class Credentials(NamedTuple):
    """The identity that two processes of one attempt prove to each other."""

    secret: bytes
    attempt: int

    def __repr__(self) -> str:
        return f"Credentials(attempt={self.attempt})"


def open_as(
    sock: socket.socket, credentials: Credentials, identity: dict[str, Any], deadline: Deadline | None = None
) -> Connection:
    """Open a connection. `identity`: the sender and the receiver of the connection.

    Raises `HandshakeRefusedError` if the other side refuses the connection or does not prove the secret,
    `HandshakeTimeoutError` at the deadline (None: `SECONDS` from now).
    """
    secret, attempt = credentials
    connection = Connection(sock, attempt)
    connection.complete_by(deadline or Deadline(SECONDS))
    try:
        nonce = secrets.token_hex(16)
        hello = {**identity, "attempt": attempt, "nonce": nonce}
        _send(connection, hello)
        answer = _receive(connection)
        if "refused" in answer:
            raise HandshakeRefusedError(str(answer["refused"]))
        if not _proves(answer, _proof(secret, "accepting", nonce, hello)):
            raise HandshakeRefusedError("the accepting side does not hold the secret of this job")
        _send(connection, {"proof": _proof(secret, "opening", str(answer.get("nonce")), hello)})
        verdict = _receive(connection)
        if "refused" in verdict:
            raise HandshakeRefusedError(str(verdict["refused"]))
    except StaleAttemptError as stale:
        connection.close()
        raise HandshakeRefusedError(f"refused by a process of another attempt: {stale}") from stale
    except BaseException:
        connection.close()
        raise
    connection.complete_by(None)
    return connection


def _nothing() -> None:
    """The default of `proved` in `accept_as`, which does nothing."""


def accept_as(
    sock: socket.socket,
    credentials: Credentials,
    deadline: Deadline | None = None,
    proved: Callable[[], None] = _nothing,
) -> tuple[Connection, dict[str, Any]]:
    """Accept a connection of this attempt; returns it and the hello of the opening side.

    `proved`: called when the other side has proved the secret, before it gets the answer.

    Raises `HandshakeRefusedError` for a side without the secret or of another attempt (ONCE-06), and sends
    the reason to this side. Raises `HandshakeTimeoutError` at the deadline (None: `SECONDS` from now).
    """
    secret, attempt = credentials
    connection = Connection(sock, attempt)
    connection.complete_by(deadline or Deadline(SECONDS))
    try:
        try:
            hello = _receive(connection)
        except StaleAttemptError as stale:
            raise _refuse(connection, f"{stale}; the attempt has ended, do nothing more") from stale
        nonce = secrets.token_hex(16)
        proof = _proof(secret, "accepting", str(hello.get("nonce")), hello)
        _send(connection, {"nonce": nonce, "proof": proof})
        answer = _receive(connection)
        if not _proves(answer, _proof(secret, "opening", nonce, hello)):
            raise _refuse(connection, "the opening side does not hold the secret of this job")
        if hello.get("attempt") != attempt:
            raise _refuse(connection, f"expected attempt {attempt}, got {hello.get('attempt')}")
        proved()
        _send(connection, {"welcome": True})
    except BaseException:
        connection.close()
        raise
    connection.complete_by(None)
    return connection, hello


def _refuse(connection: Connection, why: str) -> HandshakeRefusedError:
    with contextlib.suppress(ConnectionLostError):  # if the other side has closed, still return the refusal
        _send(connection, {"refused": why})
    return HandshakeRefusedError(why)


def _proof(secret: bytes, role: str, nonce: str, hello: dict[str, Any]) -> str:
    proved = orjson.dumps([role, nonce, hello], option=orjson.OPT_SORT_KEYS)
    return hmac.new(secret, proved, "sha256").hexdigest()


def _proves(answer: dict[str, Any], expected: str) -> bool:
    """Whether the answer has the expected proof. `compare_digest` accepts bytes, but not every text."""
    return hmac.compare_digest(str(answer.get("proof")).encode(errors="replace"), expected.encode())


def _send(connection: Connection, message: dict[str, Any]) -> None:
    connection.send(Kind.HANDSHAKE, orjson.dumps(message))


def _receive(connection: Connection) -> dict[str, Any]:
    kind, payload = connection.receive(MAX_HANDSHAKE)
    if kind is not Kind.HANDSHAKE:
        raise FrameError(f"expected a handshake, got a frame of kind {kind.name}")
    try:
        message = orjson.loads(payload)
    except orjson.JSONDecodeError as broken:
        raise FrameError("expected a handshake in JSON, got other bytes") from broken
    if not isinstance(message, dict):
        raise FrameError("expected a handshake object in JSON, got another value")
    if not all(isinstance(value, str | int) for value in message.values()):
        raise FrameError("expected texts and numbers in a handshake, got other values")
    return message
