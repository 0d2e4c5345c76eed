"""One channel of the implementation: what overtakes, what is stored, what a restore begins with."""

import pytest

from impl.core import ConfigError, Link, ProtocolError, UnsupportedError
from impl.core.channel.channel import LINK_GENERATIONS, link_from_config
from impl.core.channel.events import (
    BarrierRead,
    DeclineStart,
    LoseOutput,
    RecordRead,
    StoreInput,
    StoreOutput,
)
from impl.core.gate.unaligned_events import Alignment


def reading(link):
    """All that the gate reads until nothing is left."""
    read = []
    while said := link.take():
        read += said
    return read


def test_a_checkpoint_in_the_middle_of_a_full_channel_loses_nothing():  # UNAL-32, UNAL-34, UNAL-36
    link = Link()
    for value in range(4):
        link.emit(value)
    link.transfer()
    link.transfer()

    stored = [*link.send_barrier(1, Alignment.UNALIGNED), *link.transfer()]
    stored += link.take()
    stored += link.start_persisting(1)

    assert stored == [
        StoreOutput(1, [2, 3]),
        BarrierRead(1, Alignment.UNALIGNED),
        StoreInput(1, [0, 1]),
    ]
    fresh = Link()
    fresh.restore([0, 1], [2, 3])
    assert fresh.transfer() == ()
    assert reading(fresh) == [RecordRead(0), RecordRead(1)]
    fresh.emit(4)
    for _ in range(3):
        fresh.transfer()
    assert reading(fresh) == [RecordRead(2), RecordRead(3), RecordRead(4)]


def test_urgent_barriers_keep_their_own_order():  # UNAL-35
    link = Link()
    link.emit("a")
    link.send_barrier(1, Alignment.UNALIGNED)
    link.send_barrier(2, Alignment.UNALIGNED)
    for _ in range(3):
        link.transfer()

    assert reading(link) == [
        BarrierRead(1, Alignment.UNALIGNED),
        BarrierRead(2, Alignment.UNALIGNED),
        RecordRead("a"),
    ]


def test_a_second_promise_loses_the_first():  # UNAL-33
    link = Link()
    link.send_barrier(1, Alignment.TIMEOUT)

    assert link.send_barrier(2, Alignment.TIMEOUT) == (LoseOutput(1),)
    assert link.time_out(1) == ()
    assert link.give_up(2) == (LoseOutput(2),)


@pytest.mark.parametrize("profile", ["flink-1.12", "flink-1.13"])
def test_nothing_times_out_at_the_sender_of_older_releases(profile):  # UNAL-33
    link = Link(LINK_GENERATIONS[profile])
    link.emit("a")
    link.send_barrier(1, Alignment.TIMEOUT)

    assert link.time_out(1) == ()
    assert link.observe()["output"] == [["record", "a"], ["barrier", 1, "timeout"]]


def test_behind_an_aligned_barrier_only_urgent_ones_travel():  # UNAL-35
    link = Link()
    link.send_barrier(1, Alignment.ALIGNED)
    link.transfer()
    link.emit("a")
    link.transfer()
    assert link.observe()["output"] == [["record", "a"]]

    link.send_barrier(2, Alignment.UNALIGNED)
    link.transfer()
    assert link.observe()["input"] == [["barrier", 2, "unaligned"], ["barrier", 1, "aligned"]]
    link.let_go()
    link.transfer()
    assert link.observe()["output"] == []


def test_no_snapshot_begins_before_restored_records_are_read():  # UNAL-36
    link = Link()
    link.restore(["a", "b"], [])
    link.take()

    assert link.start_persisting(7) == (DeclineStart(7, "TASK_NOT_READY"),)
    link.take()
    assert link.start_persisting(7) == ()
    assert link.observe()["persisting"] == 7


def test_what_makes_no_sense_is_refused_and_changes_nothing():
    link = Link()
    link.emit("a")
    before = link.observe()

    with pytest.raises(ProtocolError, match="no barrier of checkpoint 3"):
        link.prioritise(3)
    with pytest.raises(ProtocolError, match="input has to be a list"):
        link.apply({"kind": "restore", "input": "a", "output": []})
    with pytest.raises(ProtocolError, match="from 0 on"):
        link.send_barrier(-1, Alignment.ALIGNED)
    with pytest.raises(UnsupportedError, match=r"flink-1\.11"):
        link_from_config({"profile": "flink-1.11"})
    with pytest.raises(ConfigError, match="channels"):
        link_from_config({"channels": 2})
    assert link.observe() == before
