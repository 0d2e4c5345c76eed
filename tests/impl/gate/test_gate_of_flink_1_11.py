"""The unaligned and alternating gates of Flink 1.11: effects of the checkpoint type, and missing effects."""

import pytest

from impl.core import COMPONENTS, ProtocolError


def gate(**config):
    return COMPONENTS["gate"](
        {"channels": 2, "mode": "alternating", "level": "handler", "profile": "flink-1.11", **config}
    )


def barrier(one, channel, checkpoint, **options):
    return one.apply({"kind": "barrier", "channel": channel, "checkpoint": checkpoint, **options})


def kinds(effects):
    return [effect["kind"] for effect in effects]


@pytest.mark.rule("UNAL-28")
@pytest.mark.parametrize("alignment", ["aligned", "unaligned", "forced-aligned", "timeout"])
def test_a_checkpoint_overtakes_with_any_options(alignment):
    assert kinds(barrier(gate(), 0, 1, alignment=alignment)) == ["start_persisting", "trigger"]


@pytest.mark.rule("UNAL-28")
def test_a_savepoint_aligns_and_a_newer_checkpoint_ends_it():
    one = gate()

    assert kinds(barrier(one, 0, 1, savepoint=True)) == ["block"]
    answers = barrier(one, 1, 2, alignment="unaligned")

    assert kinds(answers) == ["resume", "abort", "start_persisting", "trigger"]


@pytest.mark.rule("UNAL-04")
def test_a_savepoint_is_aborted_by_the_next_one_before_its_channels_go_on():
    one = gate()
    barrier(one, 0, 1, savepoint=True)

    assert kinds(barrier(one, 0, 2, savepoint=True)) == ["abort", "resume", "block"]
    assert kinds(one.apply({"kind": "end_of_partition", "channel": 1})) == ["abort", "resume"]


@pytest.mark.rule("UNAL-29")
@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"kind": "barrier", "channel": 0, "checkpoint": 2, "alignment": "unaligned"}, []),
        ({"kind": "barrier", "channel": 0, "checkpoint": 2, "savepoint": True}, ["abort"]),
        ({"kind": "cancel", "channel": 0, "checkpoint": 1}, ["abort"]),
        ({"kind": "end_of_partition", "channel": 0}, ["abort"]),
    ],
)
def test_a_checkpoint_with_all_barriers_is_pending_until_an_event_ends_it(event, expected):
    one = gate()
    barrier(one, 0, 1, alignment="unaligned")
    assert barrier(one, 1, 1, alignment="unaligned") == []
    assert one.observe()["pending"]
    assert one.observe()["persisting"] == []

    answers = one.apply(event)

    assert [kind for kind in kinds(answers) if kind in ("abort", "stop_persisting")] == expected


@pytest.mark.rule("UNAL-27")
def test_a_repeated_barrier_of_a_checkpoint_does_not_count():
    one = gate(mode="unaligned")
    barrier(one, 0, 1, alignment="unaligned")

    assert barrier(one, 0, 1, alignment="unaligned") == []
    assert one.observe()["arrived"] == [0]


@pytest.mark.rule("UNAL-27")
def test_a_checkpoint_of_two_types_fails_the_task():
    one = gate()
    barrier(one, 0, 1, savepoint=True)

    assert kinds(barrier(one, 1, 1, alignment="unaligned")) == ["fail"]


def test_a_lone_channel_is_not_blocked_for_a_savepoint():
    assert kinds(barrier(gate(channels=1), 0, 1, savepoint=True)) == ["resume", "trigger"]


def test_there_are_no_announcements():
    with pytest.raises(ProtocolError, match="no announcements"):
        gate().apply({"kind": "announce", "channel": 0, "checkpoint": 1})


def test_an_announcement_does_not_wait_behind_a_barrier():
    """At level `polled`, items of a blocked channel wait. The gate refuses an event that is not legal."""
    polled = gate(level="polled")
    barrier(polled, 0, 1, savepoint=True)
    with pytest.raises(ProtocolError, match="no announcements"):
        polled.apply({"kind": "announce", "channel": 0, "checkpoint": 1})
