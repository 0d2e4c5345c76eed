"""Channels with credits and the inbox that reads them: overtaking, stored records, and waiting."""

import queue
import socket

import pytest

from impl.core.gate.unaligned_events import Alignment
from impl.graph.plan import Route
from impl.spark.channels.credits import ChannelListener, CreditedChannel, pack_credits
from impl.spark.channels.frames import (
    Connection,
    Kind,
    OvertakingBarrier,
    pack_barrier,
    pack_rows,
    unpack_barrier,
)
from impl.spark.channels.overtaking_channels import OvertakingInbox, OvertakingOutputs
from impl.spark.errors import ConnectionLostError, FrameError
from impl.spark.savepoints.savepoint_options import SavepointOptions
from impl.spark.snapshots.in_flight import IncompleteSnapshots, in_flight
from impl.state import encode, pack, sections_of

UNALIGNED, TIMEOUT = Alignment.UNALIGNED, Alignment.TIMEOUT


class Wire:
    """A channel with credits, and the connection at its other end."""

    def __init__(self, granted, restored=()):
        here, there = socket.socketpair()
        self.below = Connection(there, 1)
        self.below.time_out(10)
        self.lost = queue.Queue()
        self.left = queue.Queue()
        self.channel = CreditedChannel(
            Connection(here, 1),
            granted,
            restored,
            ChannelListener(lambda: None, self.lost.put, self.left.put),
        )

    def received(self, count):
        return [self.below.receive() for _ in range(count)]


@pytest.fixture
def wire():
    made = []

    def make(*arguments):
        made.append(Wire(*arguments))
        return made[-1]

    yield make
    for one in made:
        one.channel.close()
        one.below.close()


def test_records_wait_for_credits_and_a_barrier_does_not(wire):  # UNAL-32
    one = wire(1)
    for value in (b"a", b"b", b"c"):
        one.channel.send(Kind.RECORDS, value)
    assert one.received(1) == [(Kind.RECORDS, b"a")]
    assert not one.channel.is_available

    assert one.channel.barrier(7, UNALIGNED, 40) == [b"b", b"c"]
    kind, payload = one.below.receive()
    assert (kind, *unpack_barrier(payload)) == (Kind.BARRIER, 7, "unaligned", 40, b"")

    one.below.send(Kind.CREDIT, pack_credits(2))
    assert one.received(2) == [(Kind.RECORDS, b"b"), (Kind.RECORDS, b"c")]
    one.channel.drain()
    assert one.channel.is_available


def test_a_barrier_whose_time_is_out_goes_past_what_stands_before_it(wire):  # UNAL-33
    one = wire(1)
    for value in (b"a", b"b"):
        one.channel.send(Kind.RECORDS, value)
    one.received(1)
    assert one.channel.barrier(2, TIMEOUT, 0) is None
    one.channel.send(Kind.RECORDS, b"behind")

    assert one.channel.time_out(2) == [b"b"]
    assert unpack_barrier(one.below.receive()[1])[:2] == (2, "unaligned")
    assert one.channel.time_out(2) is None
    assert one.left.empty()


def test_a_barrier_that_leaves_in_its_turn_is_reported(wire):  # UNAL-33
    one = wire(1)
    assert one.channel.barrier(2, TIMEOUT, 0) is None
    assert unpack_barrier(one.below.receive()[1])[:2] == (2, "timeout")
    assert one.left.get(timeout=60) == 2
    assert one.channel.time_out(2) is None


@pytest.mark.rule("UNAL-21")
def test_the_barrier_of_a_savepoint_passes_nothing_and_carries_its_order_to_the_gate(wire, inbox):
    one = wire(1)
    options = SavepointOptions("there", stops=True).pack()
    for value in (b"a", b"b"):
        one.channel.send(Kind.RECORDS, value)
    assert one.channel.barrier(3, Alignment.ALIGNED, 40, options) == []
    assert one.channel.time_out(3) is None
    one.channel.send(Kind.RECORDS, b"behind")
    one.below.send(Kind.CREDIT, pack_credits(2))
    came = one.received(4)
    assert [kind for kind, _ in came] == [Kind.RECORDS, Kind.RECORDS, Kind.BARRIER, Kind.RECORDS]

    for frame in came:
        inbox.put(0, frame)
    assert inbox.take((), 0, urgent_only=True) is None  # no message goes out before its turn
    taken = [inbox.take((), 0)[1] for _ in range(3)]
    read = unpack_barrier(taken[2][1])
    assert (taken[2][0], read.checkpoint, read.alignment) == (Kind.BARRIER, 3, "aligned")
    assert SavepointOptions.unpack(read.options) == SavepointOptions("there", stops=True, drains=False)


def test_a_restored_frame_goes_first(wire):  # UNAL-36
    one = wire(5, [b"old"])
    one.channel.send(Kind.RECORDS, b"new")
    one.channel.send(Kind.END_OF_PARTITION)
    assert [payload for _, payload in one.received(2)] == [b"old", b"new"]
    assert one.below.receive() == (Kind.END_OF_PARTITION, b"")


def test_an_end_is_overtaken_and_not_stored(wire):
    one = wire(1)
    one.channel.send(Kind.RECORDS, b"a")
    one.received(1)
    one.channel.send(Kind.RECORDS, b"b")
    one.channel.send(Kind.END_OF_DATA)
    assert one.channel.barrier(1, UNALIGNED, 0) == [b"b"]


def test_a_lost_receiver_is_reported_once_and_nothing_is_sent(wire):
    one = wire(1)
    one.below.close()
    assert isinstance(one.lost.get(timeout=60), ConnectionLostError)
    with pytest.raises(ConnectionLostError, match="closed"):
        one.channel.send(Kind.RECORDS, b"a")
    one.channel.drain()


def until_it_is_noticed(channel):
    while True:
        channel.send(Kind.CANCEL, b"")


def test_a_receiver_that_leaves_after_the_end_is_not_reported(wire):
    one = wire(1)
    one.channel.send(Kind.END_OF_PARTITION)
    one.received(1)
    one.channel.drain()
    one.below.close()
    with pytest.raises(ConnectionLostError, match="closed"):
        until_it_is_noticed(one.channel)
    assert one.lost.empty()


def test_a_receiver_that_sends_anything_but_credits_is_no_receiver(wire):
    one = wire(1)
    one.below.send(Kind.CREDIT, b"all of them")
    assert isinstance(one.lost.get(timeout=60), FrameError)


def test_frames_waiting_when_the_receiver_leaves_do_not_count_as_sent(wire):
    one = wire(1)
    for value in (b"a", b"b"):
        one.channel.send(Kind.RECORDS, value)
    one.received(1)
    one.below.close()
    with pytest.raises(ConnectionLostError, match="the waiting items"):
        one.channel.drain()
    assert isinstance(one.lost.get(timeout=60), ConnectionLostError)


def test_barriers_also_overtake_rows_in_output_buffers(wire):  # UNAL-32
    one = wire(1)
    one.channel.send(Kind.RECORDS, b"sent before")
    one.received(1)
    outputs = OvertakingOutputs({"sink-0": one.channel}, [Route(("sink-0",))], 100)
    outputs.emit([("row",)])
    assert outputs.barrier(3, UNALIGNED, 0) == {"sink-0": [pack_rows([("row",)])]}
    assert outputs.sent() == {"sink-0": 1}


@pytest.fixture
def inbox():
    granted = []
    inbox = OvertakingInbox(2, 4, lambda channel, count: granted.append((channel, count)))
    inbox.granted = granted
    return inbox


def records(value):
    return Kind.RECORDS, value


def barrier(checkpoint, alignment="unaligned"):
    return Kind.BARRIER, pack_barrier(OvertakingBarrier(checkpoint, alignment, 40))


def test_a_barrier_is_read_first_and_records_before_it_are_stored(inbox):  # UNAL-34, UNAL-35
    inbox.put(0, records(b"a"))
    inbox.put(0, barrier(1))
    inbox.put(1, records(b"x"))
    assert inbox.take((), 0, urgent_only=True) == (0, barrier(1))
    assert inbox.start(1) is None
    inbox.put(0, records(b"behind"))
    inbox.put(1, records(b"y"))
    inbox.put(1, barrier(1))
    inbox.put(1, records(b"behind"))

    assert inbox.stop(1) == [[b"a"], [b"x", b"y"]]
    assert inbox.stop(1) == [[], []]


def test_a_barrier_with_a_time_out_is_announced_and_comes_when_it_is_wanted(inbox):  # UNAL-35
    inbox.put(0, records(b"a"))
    inbox.put(0, barrier(1, "timeout"))
    kind, payload = inbox.take((), 0, urgent_only=True)[1]
    assert (kind, unpack_barrier(payload)) == (Kind.ANNOUNCEMENT, (1, "timeout", 40, b""))
    assert inbox.take((), 0, urgent_only=True) is None

    inbox.prioritise(0, 1)
    assert inbox.take((), 0, urgent_only=True) == (0, barrier(1))


def test_when_only_urgent_frames_are_asked_for_records_stay(inbox):
    inbox.put(0, records(b"a"))
    assert inbox.take((), 0, urgent_only=True) is None
    assert inbox.take((), 0) == (0, records(b"a"))


def test_credits_come_back_as_frames_are_taken_but_not_for_restored_ones(inbox):
    inbox.restore({0: [b"old"]})
    for value in (b"a", b"b", b"c"):
        inbox.put(0, records(value))
    taken = [inbox.take((), 0)[1][1] for _ in range(4)]
    assert taken == [b"old", b"a", b"b", b"c"]
    assert inbox.granted == [(0, 2)]


def test_no_snapshot_begins_while_restored_frames_are_unread(inbox):  # UNAL-36
    inbox.restore({1: [b"old"]})
    assert inbox.start(1) == "TASK_NOT_READY"
    inbox.take((), 0)
    assert inbox.start(2) is None


def operator(**states):
    return lambda: {name: encode(state) for name, state in states.items()}


def test_a_snapshot_is_divided_into_its_sections():
    incomplete = IncompleteSnapshots(["in-0", "in-1"])
    incomplete.sent(1, {"sink-0": None})
    incomplete.taken(1, operator(count=3), None)
    incomplete.received(1, [[b"a", b"b"], []])
    assert incomplete.whole(1) is None
    incomplete.left(1, "sink-0", [b"out"])
    snapshot = sections_of(pack(incomplete.whole(1).sections()), "count-0")

    assert snapshot.read("count") == 3
    assert in_flight(snapshot) == ({"in-0": (b"a", b"b")}, {"sink-0": (b"out",)})
    assert incomplete.whole(1) is None


def test_without_in_flight_data_a_snapshot_has_only_the_operators_sections():
    incomplete = IncompleteSnapshots(["in-0"])
    incomplete.taken(1, operator(offset=5), 5)
    incomplete.sent(1, {})
    incomplete.received(1, [[]])
    whole = incomplete.whole(1)
    assert (whole.sections(), whole.offset) == (operator(offset=5)(), 5)
    assert in_flight(sections_of(pack(whole.sections()), "in-0")) == ({}, {})
