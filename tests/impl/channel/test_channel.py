"""One channel of the implementation: which items overtake, which are stored, and how a restore begins."""

import pytest

from impl.core import Channel, ConfigError, ProtocolError, UnsupportedError
from impl.core.channel.channel import CHANNEL_PROFILES, channel_from_config
from impl.core.channel.events import (
    BarrierRead,
    DeclineStart,
    LoseOutput,
    RecordRead,
    StoreInput,
    StoreOutput,
)
from impl.core.gate.unaligned_events import Alignment


def reading(channel):
    """Everything that the gate reads from the channel until it is empty."""
    read = []
    while answers := channel.take():
        read += answers
    return read


def test_a_checkpoint_in_the_middle_of_a_full_channel_loses_nothing():  # UNAL-32, UNAL-34, UNAL-36
    channel = Channel()
    for value in range(4):
        channel.emit(value)
    channel.transfer()
    channel.transfer()

    stored = [*channel.send_barrier(1, Alignment.UNALIGNED), *channel.transfer()]
    stored += channel.take()
    stored += channel.start_persisting(1)

    assert stored == [
        StoreOutput(1, [2, 3]),
        BarrierRead(1, Alignment.UNALIGNED),
        StoreInput(1, [0, 1]),
    ]
    fresh = Channel()
    fresh.restore([0, 1], [2, 3])
    assert fresh.transfer() == ()
    assert reading(fresh) == [RecordRead(0), RecordRead(1)]
    fresh.emit(4)
    for _ in range(3):
        fresh.transfer()
    assert reading(fresh) == [RecordRead(2), RecordRead(3), RecordRead(4)]


def test_urgent_barriers_keep_their_own_order():  # UNAL-35
    channel = Channel()
    channel.emit("a")
    channel.send_barrier(1, Alignment.UNALIGNED)
    channel.send_barrier(2, Alignment.UNALIGNED)
    for _ in range(3):
        channel.transfer()

    assert reading(channel) == [
        BarrierRead(1, Alignment.UNALIGNED),
        BarrierRead(2, Alignment.UNALIGNED),
        RecordRead("a"),
    ]


def test_a_second_barrier_with_a_time_out_loses_the_output_of_the_first():  # UNAL-33
    channel = Channel()
    channel.send_barrier(1, Alignment.TIMEOUT)

    assert channel.send_barrier(2, Alignment.TIMEOUT) == (LoseOutput(1),)
    assert channel.time_out(1) == ()
    assert channel.abort(2) == (LoseOutput(2),)


@pytest.mark.parametrize("profile", ["flink-1.12", "flink-1.13"])
def test_nothing_times_out_at_the_sender_of_older_releases(profile):  # UNAL-33
    channel = Channel(CHANNEL_PROFILES[profile])
    channel.emit("a")
    channel.send_barrier(1, Alignment.TIMEOUT)

    assert channel.time_out(1) == ()
    assert channel.observe()["output"] == [["record", "a"], ["barrier", 1, "timeout"]]


def test_behind_an_aligned_barrier_only_urgent_ones_travel():  # UNAL-35
    channel = Channel()
    channel.send_barrier(1, Alignment.ALIGNED)
    channel.transfer()
    channel.emit("a")
    channel.transfer()
    assert channel.observe()["output"] == [["record", "a"]]

    channel.send_barrier(2, Alignment.UNALIGNED)
    channel.transfer()
    assert channel.observe()["input"] == [["barrier", 2, "unaligned"], ["barrier", 1, "aligned"]]
    channel.resume()
    channel.transfer()
    assert channel.observe()["output"] == []


def test_no_snapshot_begins_before_restored_records_are_read():  # UNAL-36
    channel = Channel()
    channel.restore(["a", "b"], [])
    channel.take()

    assert channel.start_persisting(7) == (DeclineStart(7, "TASK_NOT_READY"),)
    channel.take()
    assert channel.start_persisting(7) == ()
    assert channel.observe()["persisting"] == 7


def test_invalid_events_of_a_channel_are_refused_and_change_nothing():
    channel = Channel()
    channel.emit("a")
    before = channel.observe()

    with pytest.raises(ProtocolError, match="got checkpoint 3"):
        channel.prioritise(3)
    with pytest.raises(ProtocolError, match="input must be a list"):
        channel.apply({"kind": "restore", "input": "a", "output": []})
    with pytest.raises(ProtocolError, match="from 0 on"):
        channel.send_barrier(-1, Alignment.ALIGNED)
    with pytest.raises(UnsupportedError, match=r"flink-1\.11"):
        channel_from_config({"profile": "flink-1.11"})
    with pytest.raises(ConfigError, match="channels"):
        channel_from_config({"channels": 2})
    assert channel.observe() == before
