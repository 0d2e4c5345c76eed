"""The handshake that opens every connection of a job: who are you, which attempt, do you know the secret.

Both sides prove that they hold the job's secret by an HMAC over the other's fresh nonce and over all that
the opening side said about itself; the secret never travels. Before both proofs are checked only small
JSON frames are read, so that no byte of a stranger is ever unpickled.
"""

import contextlib
import hmac
import secrets
import socket
from typing import Any

import orjson

from impl.spark.errors import ConnectionLostError, FrameError, HandshakeRefusedError, StaleAttemptError
from impl.spark.frames import MAX_HANDSHAKE, Connection, Kind

SECONDS = 10.0


def new_secret() -> bytes:
    """A fresh secret for one job."""
    return secrets.token_bytes(32)


def open_as(sock: socket.socket, secret: bytes, attempt: int, claim: dict[str, Any]) -> Connection:
    """Open a connection: `claim` says who we are and for whom this is.

    Raises `HandshakeRefusedError` if the other side refuses us or cannot prove itself.
    """
    connection = Connection(sock, attempt)
    connection.time_out(SECONDS)
    try:
        nonce = secrets.token_hex(16)
        hello = {**claim, "attempt": attempt, "nonce": nonce}
        _send(connection, hello)
        answer = _receive(connection)
        if "refused" in answer:
            raise HandshakeRefusedError(str(answer["refused"]))
        if not hmac.compare_digest(str(answer.get("proof")), _proof(secret, "accepting", nonce, hello)):
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
    connection.time_out(None)
    return connection


def accept_as(sock: socket.socket, secret: bytes, attempt: int) -> tuple[Connection, dict[str, Any]]:
    """Accept a connection of our attempt; answers it and the claim of the opening side.

    Raises `HandshakeRefusedError` for a side without the secret or of another attempt (ONCE-06), after
    telling it why.
    """
    connection = Connection(sock, attempt)
    connection.time_out(SECONDS)
    try:
        try:
            hello = _receive(connection)
        except StaleAttemptError as stale:
            raise _refuse(connection, f"{stale}; the attempt has ended, do nothing more") from stale
        nonce = secrets.token_hex(16)
        proof = _proof(secret, "accepting", str(hello.get("nonce")), hello)
        _send(connection, {"nonce": nonce, "proof": proof})
        answer = _receive(connection)
        if not hmac.compare_digest(str(answer.get("proof")), _proof(secret, "opening", nonce, hello)):
            raise _refuse(connection, "the opening side does not hold the secret of this job")
        if hello.get("attempt") != attempt:
            raise _refuse(connection, f"expected attempt {attempt}, {hello.get('attempt')} was claimed")
        _send(connection, {"welcome": True})
    except BaseException:
        connection.close()
        raise
    connection.time_out(None)
    return connection, hello


def _refuse(connection: Connection, why: str) -> HandshakeRefusedError:
    with contextlib.suppress(ConnectionLostError):  # it has hung up: the refusal stands all the same
        _send(connection, {"refused": why})
    return HandshakeRefusedError(why)


def _proof(secret: bytes, role: str, nonce: str, hello: dict[str, Any]) -> str:
    said = orjson.dumps([role, nonce, hello], option=orjson.OPT_SORT_KEYS)
    return hmac.new(secret, said, "sha256").hexdigest()


def _send(connection: Connection, message: dict[str, Any]) -> None:
    connection.send(Kind.HANDSHAKE, orjson.dumps(message))


def _receive(connection: Connection) -> dict[str, Any]:
    kind, payload = connection.receive(MAX_HANDSHAKE)
    if kind is not Kind.HANDSHAKE:
        raise FrameError(f"expected a handshake, a frame of kind {kind.name} came")
    try:
        message = orjson.loads(payload)
    except orjson.JSONDecodeError as broken:
        raise FrameError("expected a handshake in JSON, other bytes came") from broken
    if not isinstance(message, dict):
        raise FrameError("expected a handshake object in JSON, another value came")
    return message
