"""Batches above the limit of a frame are sent in several frames. One record above it fails the job."""

import socket
import threading

import pyarrow as pa
import pytest
from test_overtaking import UNALIGNED, inbox, wire  # noqa: F401 - fixtures

from impl.batches import rows_of
from impl.graph.plan import Route
from impl.spark.channels.frames import MAX_PAYLOAD, Connection, Kind, unpack_rows
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.payloads import payloads_of, within_limit
from impl.spark.errors import FrameError, RecordTooLargeError
from impl.spark.snapshots.in_flight import WholeSnapshot, in_flight, rows_in
from impl.state import pack, sections_of

MIB = 1024 * 1024
LIMIT = 10_000
SCHEMA = pa.schema({"number": pa.int64(), "content": pa.binary()})


def rows_list(count, size):
    return [(number, bytes([number % 256]) * size) for number in range(count)]


def batch(count, size):
    return pa.RecordBatch.from_arrays(
        [*map(pa.array, zip(*rows_list(count, size), strict=True))], schema=SCHEMA
    )


def dictionaries(count, size):
    values = pa.array([bytes([number]) * size for number in range(count)])
    column = pa.DictionaryArray.from_arrays(pa.array(range(count), pa.int32()), values)
    return pa.RecordBatch.from_arrays([pa.array(range(count)), column], names=["number", "content"])


def views(count, size):
    column = pa.array([one for _, one in rows_list(count, size)], pa.binary_view())
    return pa.RecordBatch.from_arrays([pa.array(range(count)), column], names=["number", "content"])


def nested(count, size):
    column = pa.array([[one] for _, one in rows_list(count, size)])
    return pa.RecordBatch.from_arrays([pa.array(range(count)), column], names=["number", "content"])


def read(payloads):
    return [row for payload in payloads for row in rows_of(unpack_rows(payload))]


@pytest.mark.parametrize("rows", [rows_list, batch, dictionaries, views, nested])
def test_rows_that_are_too_large_together_go_in_order_in_several_frames(rows):
    sent = rows(100, 900)
    payloads = [*payloads_of(sent, LIMIT)]
    assert len(payloads) > 1
    assert max(map(len, payloads)) <= LIMIT
    assert read(payloads) == list(rows_of(sent))


@pytest.mark.parametrize("rows", [rows_list, batch, dictionaries, views, nested])
def test_rows_that_fit_go_in_one_frame(rows):
    assert len([*payloads_of(rows(5, 900), LIMIT)]) == 1


@pytest.mark.parametrize("rows", [rows_list, batch, dictionaries, views, nested])
def test_one_record_above_the_limit_is_an_error_that_tells_size_limit_and_remedy(rows):
    with pytest.raises(
        RecordTooLargeError, match=r"at most 10,000 bytes, got one of 1.,.* bytes; divide it into"
    ):
        [*payloads_of(rows(3, 11_000), LIMIT)]


@pytest.mark.parametrize("rows", [rows_list, batch])
def test_what_is_larger_than_a_frame_arrives_whole_and_before_the_barrier(rows):
    sent = rows(5, 20 * MIB)
    here, there = [Connection(end, 7) for end in socket.socketpair()]
    outputs = Outputs({"count-0": here}, [Route(("count-0",))], batch_rows=1_000)

    def send():
        outputs.emit(sent)
        outputs.broadcast(Kind.BARRIER, 5)

    sender = threading.Thread(target=send)
    sender.start()
    frames = [there.receive()]
    while frames[-1][0] is Kind.RECORDS:
        frames.append(there.receive())
    sender.join()
    assert frames.pop()[0] is Kind.BARRIER
    assert max(len(payload) for _, payload in frames) <= MAX_PAYLOAD
    arrived = read(payload for _, payload in frames) == list(rows_of(sent))
    assert arrived  # the rows themselves are too large to be printed
    assert outputs.sent() == {"count-0": 5}


def test_a_connection_announces_no_payload_that_its_receiver_would_refuse():
    here, _there = [Connection(end, 7) for end in socket.socketpair()]
    with pytest.raises(FrameError, match="at most 67108864 bytes"):
        here.send(Kind.RECORDS, bytes(MAX_PAYLOAD + 1))


def test_a_control_message_above_the_limit_goes_in_several_frames_that_no_other_message_parts():
    here, there = [Connection(end, 7) for end in socket.socketpair()]
    large = b"x" * (70 * MIB)
    senders = [threading.Thread(target=here.send_message, args=(large,))]
    senders += [threading.Thread(target=here.send_message, args=(b"finish",)) for _ in range(3)]
    for sender in senders:
        sender.start()
    came = [there.receive_message() for _ in senders]
    for sender in senders:
        sender.join()
    assert sorted(came, key=len) == [b"finish"] * 3 + [large]


@pytest.mark.parametrize("rows", [rows_list, batch])
def test_in_flight_data_of_a_large_batch_is_stored_and_restored(wire, rows):  # noqa: F811
    one = wire(0)
    outputs = Outputs({"count-0": one.channel}, [Route(("count-0",))], batch_rows=1_000)
    sent = rows(5, 20 * MIB)
    outputs.emit(sent)
    outputs.flush()
    overtaken = one.channel.barrier(7, UNALIGNED, 40)
    whole = WholeSnapshot(dict, None, {}, {"count-0": overtaken})
    stored = sections_of(pack(whole.sections()), "count-0.state")
    _, here = in_flight(stored)
    assert rows_in(here) == {"count-0": 5}
    again = wire(10, here["count-0"])
    frames = again.received(len(here["count-0"]))
    arrived = read(payload for _, payload in frames) == list(rows_of(sent))
    assert arrived  # the rows themselves are too large to be printed


def test_a_stored_frame_above_the_limit_is_cut_when_it_is_restored():
    whole = next(payloads_of(rows_list(100, 900)))
    assert len(whole) > LIMIT
    payloads = [*within_limit([b"\x80small", whole], LIMIT)]
    assert payloads[0] == b"\x80small"
    assert max(map(len, payloads)) <= LIMIT
    assert read(payloads[1:]) == rows_list(100, 900)
