"""Peers without the secret: they are slow, silent, many or malformed, and this attempt does not notice."""

import errno
import queue
import socket
import threading

import pytest

from impl.spark.channels.control_channel import Workers
from impl.spark.channels.frames import MAX_PAYLOAD, Connection, Deadline, Kind
from impl.spark.channels.handshake import accept_as, new_secret, open_as
from impl.spark.channels.listener import Door, HandshakeLimits, knock
from impl.spark.errors import ConnectionLostError, FrameError, HandshakeRefusedError, HandshakeTimeoutError

SECRET = new_secret()
BUFFER = 65_536
CLAIM = {"task": "count-1"}


class Clock:
    """Seconds that only the test lets pass."""

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
        """It reads everything at once."""

    def makefile(self, mode, buffering):
        return self

    def shutdown(self, how):
        self.closed = True

    def close(self):
        self.closed = True


@pytest.fixture
def door_of():
    """A door of attempt 7 with some limits, what it let in and what it refused."""
    made = []

    def make(**limits):
        welcomed, refused = queue.Queue(), queue.Queue()
        limits = HandshakeLimits(**limits) if limits else None
        door = Door("127.0.0.1", SECRET, 7, lambda *who: welcomed.put(who), refused.put, BUFFER, limits)
        made.append(door)
        return door, welcomed, refused

    yield make
    for door in made:
        door.close()


def connect(door):
    peer = socket.create_connection((door.host, door.port))
    peer.settimeout(10)
    return peer


@pytest.mark.parametrize("seconds", [0.5, 3.0, 60.0])
def test_a_peer_that_sends_single_bytes_is_given_one_deadline_for_the_whole_handshake(seconds):
    clock = Clock()
    peer = SlowSocket(clock, seconds)
    with pytest.raises(HandshakeTimeoutError, match="within 10 s"):
        accept_as(peer, SECRET, 7, Deadline(10, clock))
    assert clock.now == pytest.approx(10)
    assert peer.closed


def test_an_accepting_side_that_sends_single_bytes_has_the_same_deadline():
    clock = Clock()
    with pytest.raises(HandshakeTimeoutError, match="within 10 s"):
        open_as(SlowSocket(clock, 0.5), SECRET, 7, CLAIM, Deadline(10, clock))
    assert clock.now == pytest.approx(10)


def test_a_half_open_peer_is_closed_at_the_deadline(door_of):
    door, welcomed, refused = door_of(seconds=0.0)
    peer = connect(door)
    assert isinstance(refused.get(timeout=10), HandshakeTimeoutError)
    assert peer.recv(1) == b""
    assert (door.unauthenticated, welcomed.empty()) == (0, True)


def test_there_is_a_bound_on_silent_peers_and_who_holds_the_secret_is_accepted_beside_them(door_of):
    door, welcomed, refused = door_of(connections=8)
    silent = [connect(door) for _ in range(100)]
    knock(door.host, door.port, SECRET, 7, CLAIM, BUFFER)
    assert welcomed.get(timeout=10)[1]["task"] == "count-1"
    for _ in range(93):  # all but seven had to leave, the oldest first
        assert isinstance(refused.get(timeout=10), ConnectionLostError)
    assert [peer.recv(1) for peer in silent[:93]] == [b""] * 93
    assert door.unauthenticated == 7


def test_who_is_accepted_counts_no_longer(door_of):
    door, welcomed, _ = door_of(connections=1)
    ours = [knock(door.host, door.port, SECRET, 7, CLAIM, BUFFER) for _ in range(5)]
    for one in ours:
        one.say({"say": "alive"})
    assert [welcomed.get(timeout=10)[0].hear() for _ in ours] == [{"say": "alive"}] * 5


@pytest.mark.parametrize(
    "number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED, errno.EPERM]
)
def test_the_accept_loop_goes_on_after_an_error(door_of, monkeypatch, number):
    accept, errors = socket.socket.accept, iter([OSError(number, "as the system says")] * 3)

    def accept_later(listener):
        for error in errors:
            raise error
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    door, welcomed, _ = door_of()
    knock(door.host, door.port, SECRET, 7, CLAIM, BUFFER)
    assert welcomed.get(timeout=10)[1]["task"] == "count-1"


def test_without_descriptors_the_oldest_silent_peer_is_closed(door_of, monkeypatch):
    door, welcomed, refused = door_of()
    silent = connect(door)
    while door.unauthenticated == 0:
        pass
    accept, errors = socket.socket.accept, iter([OSError(errno.EMFILE, "too many open files")])

    def accept_later(listener):
        for error in errors:
            raise error
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    first = knock(door.host, door.port, SECRET, 7, CLAIM, BUFFER)  # the loop waits in the real accept
    second = knock(door.host, door.port, SECRET, 7, CLAIM, BUFFER)
    assert isinstance(refused.get(timeout=10), ConnectionLostError)
    assert silent.recv(1) == b""
    for _ in (first, second):
        welcomed.get(timeout=10)
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
def test_what_is_no_handshake_is_refused_as_that(door_of, content):
    door, welcomed, refused = door_of()
    peer = connect(door)
    peer.sendall(content)
    assert isinstance(refused.get(timeout=10), FrameError)
    assert welcomed.empty()


def test_a_proof_that_is_no_ascii_is_a_wrong_one(door_of):
    door, welcomed, refused = door_of()
    peer = Connection(connect(door), 7)
    peer.send(Kind.HANDSHAKE, b'{"task": "count-1", "attempt": 7, "nonce": "00"}')
    peer.receive()
    peer.send(Kind.HANDSHAKE, '{"proof": "gültig"}'.encode())
    assert isinstance(refused.get(timeout=10), HandshakeRefusedError)
    assert b"does not hold the secret" in peer.receive()[1]
    assert welcomed.empty()


def test_a_connection_that_breaks_during_its_handshake_is_opened_again():
    breaks = socket.create_server(("127.0.0.1", 0))
    host, port = breaks.getsockname()
    opened = queue.Queue()
    ours = threading.Thread(
        target=lambda: opened.put(knock(host, port, SECRET, 7, CLAIM, BUFFER)), daemon=True
    )
    ours.start()
    breaks.accept()[0].close()
    accepted = accept_as(breaks.accept()[0], SECRET, 7)
    assert (accepted[1]["task"], opened.get(timeout=10).attempt) == ("count-1", 7)
    breaks.close()


def test_the_driver_keeps_no_connection_and_few_reasons_of_those_that_it_refused():
    workers = Workers("127.0.0.1", SECRET, 7, ["count-1"])
    for _ in range(100):
        with pytest.raises(HandshakeRefusedError):
            knock(workers.host, workers.port, new_secret(), 7, CLAIM, BUFFER)
    control = knock(workers.host, workers.port, SECRET, 7, CLAIM, BUFFER)
    control.say({"say": "alive", "records": 0})
    assert workers.hear(10) == ("count-1", {"say": "alive", "records": 0})
    assert len(workers.refused) <= 32
    workers.close()
