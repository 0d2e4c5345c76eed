"""Peers without the secret that are slow, silent, many or malformed do not disturb the attempt."""

import errno
import queue
import socket
import threading

import pytest

from impl.spark.channels.control_channel import Workers
from impl.spark.channels.frames import MAX_PAYLOAD, Connection, Deadline, Kind
from impl.spark.channels.handshake import Credentials, accept_as, new_secret, open_as
from impl.spark.channels.listener import HandshakeLimits, Listener, connect_to
from impl.spark.channels.messages import Failed, Heartbeat, pack_message, unpack_report
from impl.spark.errors import ConnectionLostError, FrameError, HandshakeRefusedError, HandshakeTimeoutError
from tests.waiting import until

OURS = Credentials(new_secret(), 7)
BUFFER = 65_536
IDENTITY = {"task": "count-1"}


class Clock:
    """A clock in seconds that only the test advances."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class SlowSocket:
    """A socket whose peer sends one byte of an endless handshake after `seconds` each."""

    def __init__(self, clock, seconds):
        self._clock, self._seconds = clock, seconds
        header = (4_000).to_bytes(4, "big") + bytes([Kind.HANDSHAKE]) + (7).to_bytes(8, "big")
        self._bytes = iter(header + b"x" * 4_000)
        self._limit, self.closed = None, False

    def settimeout(self, seconds):
        self._limit = seconds

    def recv(self, count):
        passed = min(self._seconds, self._limit or self._seconds)
        self._clock.now += passed
        if passed < self._seconds:
            raise TimeoutError
        return bytes([next(self._bytes)])

    def sendall(self, content):
        """Accepts everything at once."""

    def makefile(self, mode, buffering):
        return self

    def shutdown(self, how):
        self.closed = True

    def close(self):
        self.closed = True


@pytest.fixture
def listener_of():
    """A listener of attempt 7 with these limits, and the lists of accepted and refused connections."""
    made = []

    def make(**limits):
        accepted, refused = queue.Queue(), queue.Queue()
        limits = HandshakeLimits(**limits) if limits else None
        listener = Listener("127.0.0.1", OURS, lambda *who: accepted.put(who), refused.put, BUFFER, limits)
        made.append(listener)
        return listener, accepted, refused

    yield make
    for listener in made:
        listener.close()


def connect(listener):
    peer = socket.create_connection((listener.host, listener.port))
    peer.settimeout(10)
    return peer


@pytest.mark.parametrize("seconds", [0.5, 3.0, 60.0])
def test_a_peer_that_sends_single_bytes_is_given_one_deadline_for_the_whole_handshake(seconds):
    clock = Clock()
    peer = SlowSocket(clock, seconds)
    with pytest.raises(HandshakeTimeoutError, match="within 10 s"):
        accept_as(peer, OURS, Deadline(10, clock))
    assert clock.now == pytest.approx(10)
    assert peer.closed


def test_an_accepting_side_that_sends_single_bytes_has_the_same_deadline():
    clock = Clock()
    with pytest.raises(HandshakeTimeoutError, match="within 10 s"):
        open_as(SlowSocket(clock, 0.5), OURS, IDENTITY, Deadline(10, clock))
    assert clock.now == pytest.approx(10)


def test_a_half_open_peer_is_closed_at_the_deadline(listener_of):
    listener, accepted, refused = listener_of(seconds=0.0)
    peer = connect(listener)
    assert isinstance(refused.get(timeout=60), HandshakeTimeoutError)
    assert peer.recv(1) == b""
    assert (listener.unauthenticated, accepted.empty()) == (0, True)


def test_silent_peers_are_bounded_and_a_peer_with_the_secret_is_still_accepted(listener_of):
    listener, accepted, refused = listener_of(connections=8)
    silent = [connect(listener) for _ in range(100)]
    connect_to((listener.host, listener.port), OURS, IDENTITY, BUFFER)
    assert accepted.get(timeout=60)[1]["task"] == "count-1"
    for _ in range(93):  # all but seven were closed, the oldest first
        assert isinstance(refused.get(timeout=60), ConnectionLostError)
    assert [peer.recv(1) for peer in silent[:93]] == [b""] * 93
    assert listener.unauthenticated == 7


def test_an_accepted_peer_no_longer_counts(listener_of):
    listener, accepted, _ = listener_of(connections=1)
    ours = [connect_to((listener.host, listener.port), OURS, IDENTITY, BUFFER) for _ in range(5)]
    for one in ours:
        one.send_message(b"it runs")
    assert [accepted.get(timeout=60)[0].receive_message() for _ in ours] == [b"it runs"] * 5


@pytest.mark.parametrize(
    "number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED, errno.EPERM]
)
def test_the_accept_loop_goes_on_after_an_error(listener_of, monkeypatch, number):
    accept, errors = socket.socket.accept, iter([OSError(number, "as the system says")] * 3)

    def accept_later(listener):
        for error in errors:
            raise error
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    listener, accepted, _ = listener_of()
    connect_to((listener.host, listener.port), OURS, IDENTITY, BUFFER)
    assert accepted.get(timeout=60)[1]["task"] == "count-1"


def test_without_descriptors_the_oldest_silent_peer_is_closed(listener_of, monkeypatch):
    listener, accepted, refused = listener_of()
    silent = connect(listener)
    until(lambda: listener.unauthenticated)
    accept, errors = socket.socket.accept, iter([OSError(errno.EMFILE, "too many open files")])

    def accept_later(listener):
        for error in errors:
            raise error
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    # the loop waits in the real accept
    first = connect_to((listener.host, listener.port), OURS, IDENTITY, BUFFER)
    second = connect_to((listener.host, listener.port), OURS, IDENTITY, BUFFER)
    assert isinstance(refused.get(timeout=60), ConnectionLostError)
    assert silent.recv(1) == b""
    for _ in (first, second):
        accepted.get(timeout=60)
    first.close()
    second.close()


def handshake(payload):
    header = len(payload).to_bytes(4, "big") + bytes([Kind.HANDSHAKE]) + (7).to_bytes(8, "big")
    return header + payload


@pytest.mark.parametrize(
    "content",
    [
        (2**32 - 1).to_bytes(4, "big") + bytes([Kind.HANDSHAKE]) + (7).to_bytes(8, "big"),
        MAX_PAYLOAD.to_bytes(4, "big") + bytes([Kind.RECORDS]) + (7).to_bytes(8, "big"),
        (0).to_bytes(4, "big") + bytes([250]) + (7).to_bytes(8, "big"),
        handshake(b"\xff\xfe"),
        handshake(b"[1]"),
        handshake(b'{"nonce": ' + b"[" * 300 + b"]" * 300 + b"}"),
        handshake(b"[" * 4_000),
    ],
    ids=["longest length", "length of records", "unknown kind", "no JSON", "no object", "deep", "deeper"],
)
def test_what_is_no_handshake_is_refused_as_that(listener_of, content):
    listener, accepted, refused = listener_of()
    peer = connect(listener)
    peer.sendall(content)
    assert isinstance(refused.get(timeout=60), FrameError)
    assert accepted.empty()


def test_a_proof_that_is_no_ascii_is_a_wrong_one(listener_of):
    listener, accepted, refused = listener_of()
    peer = Connection(connect(listener), 7)
    peer.send(Kind.HANDSHAKE, b'{"task": "count-1", "attempt": 7, "nonce": "00"}')
    peer.receive()
    peer.send(Kind.HANDSHAKE, '{"proof": "gültig"}'.encode())
    assert isinstance(refused.get(timeout=60), HandshakeRefusedError)
    assert b"does not hold the secret" in peer.receive()[1]
    assert accepted.empty()


def test_a_connection_that_breaks_during_its_handshake_is_opened_again():
    breaks = socket.create_server(("127.0.0.1", 0))
    host, port = breaks.getsockname()
    opened = queue.Queue()
    ours = threading.Thread(
        target=lambda: opened.put(connect_to((host, port), OURS, IDENTITY, BUFFER)), daemon=True
    )
    ours.start()
    breaks.accept()[0].close()
    accepted = accept_as(breaks.accept()[0], OURS)
    assert (accepted[1]["task"], opened.get(timeout=60).attempt) == ("count-1", 7)
    breaks.close()


def test_the_driver_keeps_no_connection_and_few_reasons_of_those_that_it_refused():
    workers = Workers("127.0.0.1", OURS, ["count-1"])
    for _ in range(100):
        with pytest.raises(HandshakeRefusedError):
            connect_to((workers.host, workers.port), Credentials(new_secret(), 7), IDENTITY, BUFFER)
    control = connect_to((workers.host, workers.port), OURS, IDENTITY, BUFFER)
    control.send_message(pack_message(Heartbeat(0, 0)))
    assert workers.receive(10) == ("count-1", Heartbeat(0, 0))
    assert len(workers.refused) <= 32
    workers.close()


def test_a_reason_that_is_no_utf_8_reaches_the_driver():
    """A file name that is not UTF-8 has lone surrogates, and so has an error with this name."""
    failed = Failed("FileNotFoundError: 'a\udcff'", secondary=False, final=False)
    assert unpack_report(pack_message(failed)).reason == r"FileNotFoundError: 'a\udcff'"
