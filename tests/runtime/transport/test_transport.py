"""The connections between processes of one attempt: frames, handshake, listeners, and inbox."""

import queue
import socket
import threading

import pytest

from impl.graph.plan import Route, Subtask
from impl.spark.channels.data_channels import DataChannels
from impl.spark.channels.frames import MAX_PAYLOAD, Connection, Kind, pack_rows, unpack_rows
from impl.spark.channels.handshake import Credentials, new_secret
from impl.spark.channels.inbox import Inbox, InboxClosedError
from impl.spark.channels.listener import Listener, connect_to
from impl.spark.channels.messages import CheckpointCompleted
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.partitioners import channel_of
from impl.spark.errors import (
    ConnectionLostError,
    FrameError,
    HandshakeRefusedError,
    SparkRuntimeError,
    StaleAttemptError,
)

OURS = Credentials(new_secret(), 7)
BUFFER = 65_536


@pytest.fixture
def listening():
    """A listener of attempt 7, and the lists of accepted and refused connections."""
    accepted, refused = queue.Queue(), queue.Queue()
    listener = Listener("127.0.0.1", OURS, lambda *who: accepted.put(who), refused.put, BUFFER)
    yield listener, accepted, refused
    listener.close()


def pair(attempt_here=7, attempt_there=7):
    ends = [Connection(*end) for end in zip(socket.socketpair(), (attempt_here, attempt_there), strict=True)]
    for end in ends:
        end.time_out(10)
    return ends


def test_a_peer_with_the_secret_and_the_attempt_is_accepted(listening):
    at, accepted, _ = listening
    caller = connect_to((at.host, at.port), OURS, {"task": "count-1"}, BUFFER)
    connection, hello = accepted.get(timeout=60)
    caller.send_message(b"it runs")
    assert hello["task"] == "count-1"
    assert connection.receive_message() == b"it runs"


def test_a_wrong_secret_is_refused_on_both_sides(listening):
    at, accepted, refused = listening
    with pytest.raises(HandshakeRefusedError, match="does not hold the secret"):
        connect_to((at.host, at.port), Credentials(new_secret(), 7), {"task": "count-1"}, BUFFER)
    assert isinstance(refused.get(timeout=60), SparkRuntimeError)
    assert accepted.empty()


def test_a_peer_that_skips_its_check_of_the_listener_is_refused(listening):
    at, accepted, refused = listening
    connection = Connection(socket.create_connection((at.host, at.port)), 7)
    connection.send(Kind.HANDSHAKE, b'{"task": "count-1", "attempt": 7, "nonce": "00"}')
    connection.receive()
    connection.send(Kind.HANDSHAKE, b'{"proof": "guessed"}')
    assert b"does not hold the secret" in connection.receive()[1]
    assert isinstance(refused.get(timeout=60), HandshakeRefusedError)
    assert accepted.empty()


@pytest.mark.rule("ONCE-06")
def test_a_worker_of_an_ended_attempt_is_refused(listening):
    at, accepted, refused = listening
    with pytest.raises(HandshakeRefusedError, match="another attempt"):
        connect_to((at.host, at.port), OURS._replace(attempt=6), {"task": "count-1"}, BUFFER)
    assert "attempt" in str(refused.get(timeout=60))
    assert accepted.empty()


def test_no_pickle_of_an_unknown_peer_is_read(listening):
    at, accepted, refused = listening
    stranger = Connection(socket.create_connection((at.host, at.port)), 7)
    stranger.send(Kind.RECORDS, pack_rows([(1,)]))
    assert isinstance(refused.get(timeout=60), FrameError)
    assert accepted.empty()


@pytest.mark.rule("ONCE-06")
def test_a_frame_of_another_attempt_is_refused_in_the_middle_of_a_stream():
    here, there = pair(attempt_here=6)
    here.send(Kind.BARRIER, b"12345678")
    with pytest.raises(StaleAttemptError, match="expected a frame of attempt 7, got one of attempt 6"):
        there.receive()


def test_rows_come_as_they_were_sent_also_in_large_frames():
    here, there = pair()
    rows = [(number, "x" * 50, None, 1.5) for number in range(2_000)]
    sender = threading.Thread(target=here.send, args=(Kind.RECORDS, pack_rows(rows)))
    sender.start()
    kind, payload = there.receive()
    sender.join()
    assert (kind, unpack_rows(payload)) == (Kind.RECORDS, rows)


def test_a_frame_that_announces_too_much_is_refused_before_it_is_read():
    here, there = socket.socketpair()
    here.sendall((MAX_PAYLOAD + 1).to_bytes(4, "big") + bytes([Kind.RECORDS]) + (7).to_bytes(8, "big"))
    with pytest.raises(FrameError, match="at most"):
        Connection(there, 7).receive()


def test_the_end_of_a_connection_is_an_error_of_its_own():
    here, there = pair()
    here.close()
    with pytest.raises(ConnectionLostError):
        there.receive()


@pytest.mark.rule("ALIGN-17")
def test_what_waits_on_a_blocked_channel_is_taken_after_it_is_released():
    inbox = Inbox(2, 4)
    inbox.put(0, (Kind.RECORDS, b"first"))
    inbox.put(1, (Kind.RECORDS, b"other"))
    assert inbox.take({0}, 0) == (1, (Kind.RECORDS, b"other"))
    assert inbox.take({0}, 0) is None
    assert inbox.take((), 0) == (0, (Kind.RECORDS, b"first"))


def test_messages_are_read_before_frames():
    inbox = Inbox(1, 4)
    inbox.put(0, (Kind.RECORDS, b""))
    inbox.post(CheckpointCompleted(3))
    assert inbox.take((), 0) == CheckpointCompleted(3)


def test_a_full_channel_stops_its_reader_and_no_other():
    inbox = Inbox(2, 1)
    inbox.put(0, (Kind.RECORDS, b"1"))
    reader = threading.Thread(target=inbox.await_capacity, args=(0,))
    reader.start()
    inbox.await_capacity(1)
    inbox.put(1, (Kind.RECORDS, b"other"))
    assert reader.is_alive()
    taken = [inbox.take((), 10) for _ in range(2)]
    reader.join(10)
    assert not reader.is_alive()
    assert sorted(payload for _, (_, payload) in taken) == [b"1", b"other"]


def test_no_frame_is_taken_off_the_wire_before_its_channel_has_room():
    order = queue.Queue()

    class TwoFrames:
        """An inbox with room for two frames, and the connection that feeds it."""

        def __init__(self):
            self.free = iter((True, True))

        def await_capacity(self, channel):
            order.put("awaited")
            if not next(self.free, False):
                raise InboxClosedError

        def receive(self):
            order.put("read")
            return Kind.RECORDS, b""

        def put(self, channel, frame):
            order.put("kept")

    both = TwoFrames()
    channels = DataChannels(None, Subtask("sums-0", 1, 0), ("words-0",), both)
    channels.restored()
    channels.accept(both, {"from": "words-0", "to": "sums-0"})
    assert [order.get(timeout=60) for _ in range(7)] == [*("awaited", "read", "kept") * 2, "awaited"]


def test_a_wake_is_kept_for_the_next_wait():
    inbox = Inbox(1, 1)
    inbox.wake()
    assert inbox.take((), 0) is None
    waits = threading.Thread(target=inbox.take, args=((), None), daemon=True)
    waits.start()
    waits.join(10)
    assert not waits.is_alive()


def test_closing_wakes_waiting_senders_and_receivers():
    inbox = Inbox(1, 1)
    inbox.put(0, (Kind.RECORDS, b""))
    ended = queue.Queue()

    def put():
        try:
            inbox.await_capacity(0)
        except InboxClosedError as closed:
            ended.put(closed)

    reader = threading.Thread(target=put)
    reader.start()
    inbox.close()
    assert isinstance(ended.get(timeout=60), InboxClosedError)
    with pytest.raises(InboxClosedError):
        inbox.take((), None)


@pytest.mark.rule("TASK-01")
def test_a_barrier_leaves_after_all_rows_emitted_before_it():
    here, there = pair()
    outputs = Outputs({"count-0": here}, [Route(("count-0",))], batch_rows=100)
    outputs.emit([(1,), (2,)])
    outputs.broadcast(Kind.BARRIER, 5)
    outputs.emit([(3,)])
    outputs.flush()
    frames = [there.receive() for _ in range(3)]
    assert [kind for kind, _ in frames] == [Kind.RECORDS, Kind.BARRIER, Kind.RECORDS]
    assert unpack_rows(frames[0][1]) == [(1,), (2,)]
    assert outputs.sent() == {"count-0": 3}


def test_a_key_has_one_channel_in_every_process():
    assert [channel_of(("UA", f"2013-01-0{day}"), 4) for day in range(1, 7)] == [3, 3, 2, 0, 0, 0]
