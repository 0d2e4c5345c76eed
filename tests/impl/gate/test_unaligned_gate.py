"""The unaligned and the alternating gate of the implementation: refusals, time-outs, and level `polled`."""

import pytest

from impl.core import COMPONENTS, ConfigError, ProtocolError


def gate(**config):
    return COMPONENTS["gate"]({"channels": 2, "mode": "alternating", "level": "handler", **config})


def apply(component, kind, **fields):
    return component.apply({"kind": kind, **fields})


def kinds(effects):
    return [effect["kind"] for effect in effects]


def test_a_trigger_has_the_field_unaligned_only_if_it_overtakes():
    one = gate(channels=1)

    assert apply(one, "barrier", channel=0, checkpoint=1)[1] == {"kind": "trigger", "checkpoint": 1}
    answers = apply(one, "barrier", channel=0, checkpoint=2, alignment="unaligned")
    assert {"kind": "trigger", "checkpoint": 2, "unaligned": True} in answers


def test_a_refused_event_fails_the_task_and_ends_the_instance():
    one = gate(mode="unaligned")

    answers = apply(one, "barrier", channel=0, checkpoint=1, alignment="forced-aligned")

    assert kinds(answers) == ["block", "fail"]  # UNAL-21
    for event in (
        {"kind": "advance", "ms": 1},
        {"kind": "cancel", "channel": 1, "checkpoint": 1},
        {"kind": "inject", "checkpoint": 2},
    ):
        with pytest.raises(ProtocolError, match="make a new gate"):
            one.apply(event)


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "barrier", "channel": 2, "checkpoint": 1},
        {"kind": "barrier", "channel": 0, "checkpoint": -1},
        {"kind": "barrier", "channel": 0, "checkpoint": 1, "alignment": "sideways"},
        {"kind": "barrier", "channel": 0, "checkpoint": 1, "timestamp": -1},
        {"kind": "announce", "channel": 0, "checkpoint": 1, "alignment": "unaligned", "savepoint": True},
        {"kind": "advance", "ms": -1},
        {"kind": "record", "channel": 0, "value": 1},
    ],
    ids=repr,
)
def test_an_event_outside_the_protocol_changes_nothing(event):
    one = gate(alignment_timeout_ms=10)
    apply(one, "announce", channel=1, checkpoint=3, alignment="timeout")
    before = one.observe()

    with pytest.raises(ProtocolError):
        one.apply(event)

    assert one.observe() == before
    assert kinds(apply(one, "advance", ms=10)) == ["prioritise"]  # UNAL-16: the timer still runs


def test_no_task_is_triggered_by_the_coordinator_before_1_14():
    with pytest.raises(ProtocolError, match="generation"):
        apply(gate(profile="flink-1.13"), "inject", checkpoint=1)


def test_the_time_out_is_an_int_from_0_on():
    with pytest.raises(ConfigError, match="alignment_timeout_ms"):
        gate(alignment_timeout_ms=-1)
    with pytest.raises(ConfigError, match="alignment_timeout_ms"):
        COMPONENTS["gate"]({"channels": 2, "alignment_timeout_ms": 1})


def test_a_timer_fires_only_within_advance_and_only_once():
    one = gate(alignment_timeout_ms=10)
    apply(one, "advance", ms=50)
    assert apply(one, "announce", channel=0, checkpoint=1, alignment="timeout", timestamp=0) == []

    assert kinds(apply(one, "advance", ms=0)) == ["prioritise"]  # UNAL-15: it was due at once
    assert apply(one, "advance", ms=100) == []


def test_1_13_counts_from_the_first_announcement_and_lets_savepoints_overtake():
    one = gate(alignment_timeout_ms=10, profile="flink-1.13")
    apply(one, "advance", ms=50)
    apply(one, "barrier", channel=0, checkpoint=1, alignment="timeout", savepoint=True, timestamp=0)

    assert apply(one, "advance", ms=9) == []
    assert kinds(apply(one, "advance", ms=1)) == ["start_persisting", "trigger"]


def test_items_of_blocked_channels_are_processed_in_the_order_of_arrival():
    one = gate(level="polled")
    apply(one, "barrier", channel=0, checkpoint=1)
    for event in (
        {"kind": "record", "channel": 0, "value": "a"},
        {"kind": "barrier", "channel": 0, "checkpoint": 2, "alignment": "unaligned"},
        {"kind": "record", "channel": 0, "value": "b"},
        {"kind": "end_of_partition", "channel": 0},
    ):
        assert one.apply(event) == []  # UNAL-24: also the barrier that overtakes

    with pytest.raises(ProtocolError, match="no event may follow"):
        apply(one, "announce", channel=0, checkpoint=3)
    answers = apply(one, "barrier", channel=1, checkpoint=1)

    assert kinds(answers) == [
        "block", "trigger", "resume", "resume", "process", "start_persisting", "trigger", "process",
    ]  # fmt: skip
    assert [effect["value"] for effect in answers if effect["kind"] == "process"] == ["a", "b"]
    assert apply(one, "record", channel=1, value="c") == [{"kind": "persist", "channel": 1, "value": "c"}]
    assert one.observe()["persisting"] == [1]
    assert one.observe()["closed"] == [0]


def test_a_failed_gate_processes_no_further_item():
    one = gate(level="polled", mode="unaligned")
    apply(one, "barrier", channel=0, checkpoint=1)
    apply(one, "barrier", channel=0, checkpoint=2, alignment="forced-aligned")
    apply(one, "record", channel=0, value="a")

    answers = apply(one, "barrier", channel=1, checkpoint=1)

    assert kinds(answers) == ["block", "stop_persisting", "resume", "resume", "block", "fail"]
