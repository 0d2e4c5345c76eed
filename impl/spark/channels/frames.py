"""Frames: the units that two processes of one attempt exchange over TCP.

A frame is a header of 13 bytes (length of the payload, kind, attempt id) and the payload. Every frame has the
attempt id. So a process refuses the first frame of a process that belongs to an ended attempt (ONCE-06). One
thread reads a connection, and several threads may write it.
"""

import contextlib
import pickle
import socket
import struct
import threading
import time
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import pyarrow as pa

from impl.batches import Rows
from impl.spark.errors import ConnectionLostError, FrameError, HandshakeTimeoutError, StaleAttemptError

_HEADER = struct.Struct(">IBQ")
_ID = struct.Struct(">Q")
MAX_PAYLOAD = 64 * 1024 * 1024
"""The maximum payload of a frame, in bytes."""
MAX_HANDSHAKE = 4_096
"""The maximum payload of a frame of a handshake, in bytes."""


class Kind(IntEnum):
    """The kind of a frame, which states its content."""

    HANDSHAKE = 1
    CONTROL = 2
    RECORDS = 3
    BARRIER = 4
    CANCEL = 5
    END_OF_DATA = 6
    END_OF_PARTITION = 7
    CREDIT = 8
    ANNOUNCEMENT = 9
    CONTROL_PART = 10
    """A part of a control message, which continues in the next frame."""


class Deadline:
    """The time `seconds` after now. `clock`: a function that returns the time in seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """The seconds until the deadline. Raises `HandshakeTimeoutError` after the deadline."""
        left = self._end - self._clock()
        if left <= 0:
            raise HandshakeTimeoutError(
                f"expected a complete handshake within {self.seconds:g} s, it is not complete; check whether "
                "the other process hangs, or belongs to another job"
            )
        return left


class Connection:
    """One TCP connection between two processes of `attempt`."""

    def __init__(self, sock: socket.socket, attempt: int) -> None:
        self.attempt = attempt
        self._socket = sock
        self._reader = sock.makefile("rb", buffering=65_536)
        self._sending = threading.Lock()
        self._deadline: Deadline | None = None

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Send one frame; blocks while the other side does not read.

        Raises `ConnectionLostError` if the connection is lost, `FrameError` for more than `MAX_PAYLOAD`.
        """
        if len(payload) > MAX_PAYLOAD:
            raise FrameError(
                f"expected a payload of at most {MAX_PAYLOAD} bytes, got {len(payload)} of {kind.name}; "
                "divide it into several frames"
            )
        with self._sending:
            self._send(kind, payload)

    def _send(self, kind: Kind, payload: bytes) -> None:
        head = _HEADER.pack(len(payload), kind, self.attempt)
        try:
            if self._deadline is not None:  # `sendall` applies its time-out to all bytes together
                self._socket.settimeout(self._deadline.left())
            self._socket.sendall(head + payload if len(payload) < 4_096 else head)
            if len(payload) >= 4_096:
                self._socket.sendall(payload)
        except OSError as lost:
            raise ConnectionLostError(f"could not send {kind.name}: {lost}") from lost

    def receive(self, limit: int = MAX_PAYLOAD) -> tuple[Kind, bytes]:
        """Wait for one frame.

        Raises `ConnectionLostError` at the end of the stream, `FrameError` for bytes that are no frame,
        `StaleAttemptError` for a frame of another attempt.
        """
        length, kind, attempt = _HEADER.unpack(self._exactly(_HEADER.size))
        if length > limit:
            raise FrameError(f"expected a frame of at most {limit} bytes, got a header for {length} bytes")
        if attempt != self.attempt:
            raise StaleAttemptError(
                f"expected a frame of attempt {self.attempt}, got one of attempt {attempt}"
            )
        try:
            known = Kind(kind)
        except ValueError as unknown:
            raise FrameError(f"no frame has kind {kind}") from unknown
        return known, self._exactly(length) if length else b""

    def _exactly(self, count: int) -> bytes:
        try:
            got = self._reader.read(count) if self._deadline is None else self._in_time(count, self._deadline)
        except (OSError, ValueError) as lost:
            raise ConnectionLostError(f"could not receive: {lost}") from lost
        if len(got) < count:
            raise ConnectionLostError("the other side closed the connection")
        return got

    def _in_time(self, count: int, deadline: Deadline) -> bytes:
        """Read `count` bytes from the socket, fewer at its end. `deadline` applies to all reads together."""
        got = bytearray()
        while len(got) < count:
            self._socket.settimeout(deadline.left())
            try:
                part = self._socket.recv(count - len(got))
            except TimeoutError:
                continue  # `left` raises the error
            if not part:
                break
            got += part
        return bytes(got)

    def send_message(self, packed: bytes) -> None:
        """Send a control message, in several frames if it is larger than `MAX_PAYLOAD`.

        Raises `ConnectionLostError` if the connection is lost.
        """
        with self._sending:
            while len(packed) > MAX_PAYLOAD:
                self._send(Kind.CONTROL_PART, packed[:MAX_PAYLOAD])
                packed = packed[MAX_PAYLOAD:]
            self._send(Kind.CONTROL, packed)

    def receive_message(self) -> bytes:
        """Wait for a control message. Raises `FrameError` for a frame of another kind."""
        kind, payload = self.receive()
        parts = []
        while kind is Kind.CONTROL_PART:
            parts.append(payload)
            kind, payload = self.receive()
        if kind is not Kind.CONTROL:
            raise FrameError(f"expected a control message, got a frame of kind {kind.name}")
        return b"".join([*parts, payload])

    def local_host(self) -> str:
        """The address of this host in the connection."""
        host: str = self._socket.getsockname()[0]
        return host

    def time_out(self, seconds: float | None) -> None:
        """Set the time-out of sends and receives, in seconds. None: no time-out."""
        self._socket.settimeout(seconds)

    def complete_by(self, deadline: Deadline | None) -> None:
        """Set one deadline for all later sends and receives together. None removes the deadline.

        A handshake uses this. While there is a deadline, the connection reads no byte after the handshake.
        """
        self._deadline = deadline
        if deadline is None:
            self._socket.settimeout(None)

    def give_up_after(self, ms: int) -> None:
        """Break the connection if the other host does not confirm sent bytes within `ms`."""
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, ms)

    def cut(self) -> None:
        """Break the connection, like a network failure. Both sides get an error."""
        with contextlib.suppress(OSError):  # the connection is already broken
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close both directions. A thread that waits in `send` or `receive` gets `ConnectionLostError`."""
        self.cut()
        with contextlib.suppress(OSError, ValueError):  # the reader is already closed
            self._reader.close()  # an open reader would keep the descriptor
        self._socket.close()


_ARROW = 0xFF
"""The first byte of every Arrow stream. No pickle begins with it."""


def pack_rows(rows: Rows) -> bytes:
    """The payload of a RECORDS frame: a batch as Arrow, a list as a pickle. Peers are authenticated."""
    if not isinstance(rows, pa.RecordBatch):
        return pickle.dumps(rows, protocol=5)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack_rows(payload: bytes) -> Rows:
    """The rows of a RECORDS frame."""
    if payload[0] == _ARROW:
        return pa.ipc.open_stream(payload).read_next_batch()
    rows: Rows = pickle.loads(payload)
    return rows


def pack_id(checkpoint: int) -> bytes:
    """A checkpoint id as the payload of a BARRIER or CANCEL frame."""
    return _ID.pack(checkpoint)


_BARRIER = struct.Struct(">QQ16s")


class OvertakingBarrier(NamedTuple):
    """A barrier in a job whose barriers may overtake, or the announcement of such a barrier."""

    checkpoint: int
    alignment: str
    """The alignment of the checkpoint: the value of an `impl.core.channel.events.Alignment`."""
    timestamp: int
    """The time of the checkpoint's trigger, in ms since the attempt began."""
    options: bytes = b""
    """The packed options of a savepoint; empty for a checkpoint. A savepoint's barrier does not overtake."""


def pack_barrier(barrier: OvertakingBarrier) -> bytes:
    """The barrier as the payload of a frame."""
    head = _BARRIER.pack(barrier.checkpoint, barrier.timestamp, barrier.alignment.encode())
    return head + barrier.options


def unpack_barrier(payload: bytes) -> OvertakingBarrier:
    """The barrier in the payload of a frame."""
    checkpoint, timestamp, alignment = _BARRIER.unpack_from(payload)
    word = alignment.rstrip(b"\0").decode()
    return OvertakingBarrier(checkpoint, word, timestamp, payload[_BARRIER.size :])


def unpack_id(payload: bytes) -> int:
    """The checkpoint id of a BARRIER or CANCEL frame."""
    checkpoint: int = _ID.unpack_from(payload)[0]
    return checkpoint


def options_in(payload: bytes) -> bytes:
    """The packed options of a savepoint, after the id of its BARRIER frame; empty for a checkpoint."""
    return payload[_ID.size :]
